/* tool_view - how tools are shown to people, by `mortise tools` and in a chat. */
#ifndef COMMAND_TOOL_VIEW_H
#define COMMAND_TOOL_VIEW_H

#include "command/app.h"

/* The columns that the names of those that are offered take. */
int tool_view_width(struct app *app, const struct registry *registry);
/* The name, in so many columns, and the first line of the description. */
void tool_view_line(struct output *out, const struct tool *tool, int width);
/* A schema over several lines; NULL: nothing. */
void tool_view_schema(struct output *out, const char *label, const char *schema);

/* Where it runs: in a word ("none", "process", "sandbox"), and in a few. */
const char *tool_view_place(const struct plugin *plugin);
void tool_view_plugin_runs(struct text *out, const struct plugin *plugin);
/* The same of a tool, with what it has there; may be several lines, of which the first goes on. */
void tool_view_runs(struct text *out, const struct tool *tool);

#endif
