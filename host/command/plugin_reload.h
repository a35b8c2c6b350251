/*
 * plugin_reload - loads plugins and their configuration anew, and says in words what changed.
 */
#ifndef COMMAND_PLUGIN_RELOAD_H
#define COMMAND_PLUGIN_RELOAD_H

#include "command/app.h"

/* One change, or one thing that could not be done. */
typedef void plugin_reload_tell(void *data, const char *line, bool is_failure);

/* `repeats`: also what the reload before has told.  *any: a change was told.  False: nothing could
 * be loaded, which was told. */
bool plugin_reload(struct app *app, struct plugin_set *plugins, bool repeats,
                   plugin_reload_tell *tell, void *data, bool *any);

#endif
