/*
 * profiles - the providers that can be named: those that are built in, as the user's configuration
 * changes them, and behind them those that it adds.
 *
 *     "provider-config": {
 *         "openai": {"base_url": "https://proxy.example.org/v1"},
 *         "work":   {"like": "openai", "base_url": "https://llm.example.org/v1",
 *                    "key_env": "WORK_KEY", "headers": {"X-Team": "tools"}}}
 *
 * Made once, from the user's file alone: a project's must not send keys elsewhere.  It is only read
 * afterwards, by any thread.  Profiles point into it and into the sections: clients go first.
 */
#ifndef PROVIDER_PROFILES_H
#define PROVIDER_PROFILES_H

#include "provider/provider.h"

/* `sections` is the object "provider-config", or NULL; a reference is kept.  NULL with *error
 * (kind config): "provider-config: 'work': unknown key 'base_ur'; did you mean 'base_url'?" */
struct profiles *profiles_new(json_t *sections, struct error *error);
void profiles_free(struct profiles *profiles); /* NULL is fine */

/* NULL for `profiles`: those that are built in, as they are. */
const struct profile *profiles_at(const struct profiles *profiles, size_t index);
const struct profile *profiles_find(const struct profiles *profiles, const char *name,
                                    size_t length);

#endif
