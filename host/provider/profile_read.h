/* profile_read - one section of "provider-config", checked, as a profile. */
#ifndef PROVIDER_PROFILE_READ_H
#define PROVIDER_PROFILE_READ_H

#include "base/arena.h"
#include "provider/provider.h"

/* Puts what the section says into `profile`, which is a copy of a built-in one or has a name and
 * nothing else.  Its strings are copied into `memory`; pairs point into the section.  False with
 * *error (kind config), which names the key. */
bool profile_read(struct profile *profile, const json_t *section, struct arena *memory,
                  struct error *error);

#endif
