/*
 * grant - the secrets that the user's configuration gives to single plugins (D24).
 *
 * "plugin-config": {"search": {"secrets": {"api_key": {"env": "NAME"} | {"file": "PATH"} |
 * {"command": "pass show search"}}}} in the user's file.  The plugin gets its section without
 * "secrets", "scopes", "isolation", "limits" and "sandbox": these are not its business.
 *
 * Grants are handed on as JSON text, so that any thread can read them later.
 */
#ifndef CONFIG_GRANT_H
#define CONFIG_GRANT_H

#include "base/text.h"
#include "config/settings.h"

/* Appends what the plugin may know of its section as a JSON object; NULL is {}. */
void grant_write_config(struct text *out, const json_t *section);

/* Appends all grants: {"PLUGIN": {"SECRET": {…}, …}, …}. */
void grant_write_all(struct text *out, const struct settings *settings);

/* Reads one.  *value is malloc'ed and registered as a secret, or NULL when it is not granted.
 * False with *error (kind config): "secret 'api_key' of plugin 'search': …". */
bool grant_read(const char *grants, const char *plugin, const char *name, char **value,
                struct error *error);

#endif
