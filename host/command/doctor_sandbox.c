/* doctor_sandbox - what this kernel, and what runs around this process, offer to lock code in. */
#include "command/doctor.h"
#include "sandbox/layer.h"

void doctor_sandbox(struct doctor *doctor)
{
    for (int layer = 1; layer < SANDBOX_LAYER_COUNT; layer++) {
        struct text what = TEXT_INIT;
        const char *advice;
        bool present = sandbox_probe((enum sandbox_layer)layer, &what, &advice);
        if (what.failed)
            doctor_no_memory(doctor, "sandbox");
        else
            doctor_tell(doctor, present ? FINDING_OK : FINDING_WARNING, "sandbox", advice, "%s",
                        text_cstr(&what));
        text_release(&what);
    }
}
