#include "command/tool_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int tool_view_width(struct app *app, const struct registry *registry)
{
    int width = 0;
    const struct tool *tool;
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++)
        if (app_offers(app, tool) && (int)strlen(tool->name) > width)
            width = (int)strlen(tool->name);
    return width;
}

void tool_view_line(struct output *out, const struct tool *tool, int width)
{
    const char *description = tool->meta.description;
    output_printf(out, "%-*s  ", width, tool->name);
    output_foreign(out, description, strcspn(description, "\n"));
    output_own(out, "\n");
}

void tool_view_schema(struct output *out, const char *label, const char *schema)
{
    json_t *json = schema ? json_parse(schema, strlen(schema), NULL, NULL) : NULL;
    char *pretty = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    if (pretty) {
        output_printf(out, "%s\n", label);
        output_foreign(out, pretty, strlen(pretty));
        output_own(out, "\n");
    }
    free(pretty);
    json_decref(json);
}
