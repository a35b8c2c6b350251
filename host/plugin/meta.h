/*
 * meta - the host's own copy of what a plugin says about a tool.
 *
 * Read once, at registration, checked and completed: afterwards a plugin can change its
 * own strings as it likes (T4).  All text becomes valid UTF-8.  Used by plugin.c.
 */
#ifndef PLUGIN_META_H
#define PLUGIN_META_H

#include "plugin/registry.h"

/* The rule for the names of tools, hooks and plugins: [A-Za-z0-9_-]{1,64} (D20).  NULL is
 * no name. */
bool name_valid(const char *name);

/* Flag `index` of a tool, by its name ("read_only"); NULL: there are no more. */
const char *tool_flag(size_t index, uint32_t *bit);

/* A copy of a string in the plugin's memory, valid UTF-8; NULL: no memory. */
const char *plugin_copy(struct plugin *plugin, const char *string);

/* The plugin's next tool (the one behind plugin->tool_count), checked.  Its memory and its name's
 * are the plugin's.  False with *error: which tool, what is wrong, what to do. */
bool meta_read(struct plugin *plugin, const mortise_tool *instance, struct tool *tool,
               struct error *error);

/* Frees what of a tool does not lie in its plugin's memory. */
void meta_release(struct tool *tool);

/* Whether a model and a caller would see the same (T5). */
bool meta_equal(const mortise_tool_meta *a, const mortise_tool_meta *b);

#endif
