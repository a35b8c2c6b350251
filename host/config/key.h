/*
 * key - API keys and other secrets from where the configuration says they are (D24).
 *
 * A provider's: "provider-config": {"openai": {"key_env": "NAME"} | {"key_file": "PATH"} |
 * {"key_command": "pass show openai"}} in the user's file, beside what else it says of the provider
 * (provider/profiles.h).  Without one of these the provider's usual variable is used.
 */
#ifndef CONFIG_KEY_H
#define CONFIG_KEY_H

#include "config/settings.h"

/* *key is malloc'ed and registered as a secret, or NULL when the section names none.
 * False with *error (kind config): unreadable, readable by others, a failing command. */
bool key_from_config(const struct settings *settings, const char *provider, char **key,
                     struct error *error);

/* The same for any object: its members are PREFIX and "file", "command" or "env". */
bool key_from_object(const json_t *object, const char *prefix, char **key, struct error *error);

#endif
