/* What abidiff compares: functions that take every public struct. */
#include <mortise/services.h>

#define TAKES(type)                                                                                \
    MORTISE_EXPORT void take_##type(const type *value);                                            \
    void take_##type(const type *value)                                                            \
    {                                                                                              \
        (void)value;                                                                               \
    }

TAKES(mortise_stamp)
TAKES(mortise_plugin) /* and through it tools, hooks, their events and their ops */
TAKES(mortise_host)
TAKES(mortise_error)
TAKES(mortise_attachment)
TAKES(mortise_artifacts)
TAKES(mortise_memory)
TAKES(mortise_state_service)
TAKES(mortise_secrets)
TAKES(mortise_http)
