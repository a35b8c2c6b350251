/*
 * profile_pairs - the headers and the query of a profile with their values, as a client needs them.
 *
 * What the configuration says to be in a variable, a file or a command is read here, when a client
 * is made and not before.  Such values, and others that may well be secret, are registered
 * (base/secret.h).
 */
#ifndef PROVIDER_PROFILE_PAIRS_H
#define PROVIDER_PROFILE_PAIRS_H

#include "provider/provider.h"

struct profile_pairs {
    struct text query; /* "api-version=2024-10-21&x=y"; empty: there is none */
    char **headers;    /* "X-Title: mortise", NULL-terminated; NULL: there are none */
};

/* False with *error (kind config), which names provider and pair; release it also then. */
bool profile_pairs_read(const struct profile *profile, struct profile_pairs *pairs,
                        struct error *error);
/* Wipes them. */
void profile_pairs_release(struct profile_pairs *pairs);

#endif
