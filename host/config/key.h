/*
 * key - a provider's API key from where the configuration says it is (D24).
 *
 * "provider-config": {"openai": {"key_env": "NAME"} | {"key_file": "PATH"} | {"key_command": "pass show openai"}}
 * in the user's file.  Without a section the provider's usual variable is used.
 */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include "config/settings.h"

/* *key is malloc'ed and registered as a secret, or NULL when the section names none.
 * False with *error (kind config): unreadable, readable by others, a failing command. */
bool key_from_config(const struct settings *settings, const char *provider, char **key,
                     struct error *error);

#endif
