/* doctor_trust - which plugins may be loaded. */
#include <stdlib.h>

#include "command/doctor.h"

static void tell_any(struct doctor *doctor, size_t count)
{
    struct error error;
    char *file = trust_file(&error);
    if (file && !doctor->app->trust.pins)
        doctor_tell(doctor, FINDING_WARNING, "trust",
                    "mend or remove it; with --trust pinned nothing would be loaded", "%s",
                    doctor->app->trust.failure.message);
    else
        doctor_tell(doctor, FINDING_OK, "trust", NULL,
                    "any plugin may be loaded; %zu %s pinned, and --trust pinned loads no other",
                    count, count == 1 ? "is" : "are");
    free(file);
}

void doctor_trust(struct doctor *doctor)
{
    const struct app *app = doctor->app;
    const char *source = setting_source_name(app->settings.values[SETTING_TRUST].source);
    size_t count = 0;
    trust_read(doctor->app);
    while (app->trust.pins && pins_at(app->trust.pins, count))
        count++;
    if (!app->trust.pins && app->trust.failure.kind == ERROR_INTERNAL)
        doctor_no_memory(doctor, "trust");
    else if (!trust_is_asked(app))
        tell_any(doctor, count);
    else if (!app->trust.pins)
        doctor_fail(doctor, "trust", &app->trust.failure,
                    "mend or remove it, and trust your plugins again");
    else if (count == 0)
        doctor_tell(doctor, FINDING_WARNING, "trust", "mortise plugins trust FILE pins one",
                    "only pinned plugins may be loaded (%s), and none is pinned", source);
    else
        doctor_tell(doctor, FINDING_OK, "trust", NULL,
                    "only pinned plugins may be loaded (%s); %zu %s", source, count,
                    count == 1 ? "is" : "are");
}
