/* config_file - the user's and the project's JSON files, read into settings. */
#ifndef CONFIG_CONFIG_FILE_H
#define CONFIG_CONFIG_FILE_H

#include "config/settings.h"

/* $XDG_CONFIG_HOME/mortise/config.json, or the file that --config names (which must exist):
 * malloc'ed, "" when there is none; NULL: no memory. */
char *config_file_user_path(const struct settings *settings);
/* That file. */
bool config_file_read_user(struct settings *settings, struct error *error);
/* The project's: malloc'ed, "" when there is none; NULL: no memory. */
char *config_file_project(void);
/* Reads a file as one of the user's or of a project's, for nothing but *error. */
bool config_file_check(const char *path, enum setting_source source, struct error *error);
/* One kind of sections of that file, as it is now: a reference, or NULL when it has none. */
bool config_file_read_sections(const struct settings *settings, const char *kind, json_t **out,
                               struct error *error);
/* .mortise/config.json here or in a folder above, up to the file system's root. */
bool config_file_read_project(struct settings *settings, struct error *error);

#endif
