/* paths - where files belong (XDG).  Results are malloc'ed; NULL: no memory; "": there is no
 * such place, because neither the XDG variable nor HOME is an absolute path. */
#ifndef CONFIG_PATHS_H
#define CONFIG_PATHS_H

/* "$XDG_CONFIG_HOME/mortise/TAIL", "$XDG_DATA_HOME/…", "$XDG_STATE_HOME/…" */
char *path_config(const char *tail);
char *path_data(const char *tail);
char *path_state(const char *tail);
/* The folder that this binary's installation, or its build, has all its files below. */
char *path_prefix(void);
/* The folder of the plugins that were installed with this binary. */
char *path_system_plugins(void);

#endif
