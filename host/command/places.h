/* places - where the services of tools keep what they keep, by the settings. */
#ifndef COMMAND_PLACES_H
#define COMMAND_PLACES_H

#include "config/settings.h"
#include "service/services.h"

/* NULL: no memory. */
struct services *places_services(const struct settings *settings);
/* What a session has there goes with it; *any: it had something. */
bool places_forget_session(const char *session, bool *any, struct error *error);

#endif
