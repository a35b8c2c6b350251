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

const char *tool_view_place(const struct plugin *plugin)
{
    return plugin->isolation.is_sandbox   ? "sandbox"
           : plugin->isolation.is_process ? "process"
                                          : "none";
}

static const char *words_of_place(const struct plugin *plugin)
{
    return plugin->isolation.is_sandbox   ? "in a process of its own, in a sandbox"
           : plugin->isolation.is_process ? "in a process of its own"
                                          : "in the host's process";
}

void tool_view_plugin_runs(struct text *out, const struct plugin *plugin)
{
    size_t confined = 0;
    for (size_t i = 0; i < plugin->tool_count; i++)
        confined += plugin->tools[i]->is_confined;
    if (confined < plugin->tool_count || plugin->hook_count || !confined)
        text_puts(out, words_of_place(plugin));
    if (confined == 1)
        text_printf(out, "%seach call of one tool in a sandbox of its own", out->length ? "; " : "");
    else if (confined)
        text_printf(out, "%seach call of %zu tools in a sandbox of its own",
                    out->length ? "; " : "", confined);
}

static void put_limit(struct text *out, int64_t value, double unit, const char *what)
{
    if (value)
        text_printf(out, ", %g %s", (double)value / unit, what);
}

static void put_paths(struct text *out, const char *word, const char *const *paths)
{
    for (size_t i = 0; paths && paths[i]; i++)
        text_printf(out, "%s%s", i ? " " : word, paths[i]);
}

void tool_view_runs(struct text *out, const struct tool *tool)
{
    const struct isolation *isolation = &tool->plugin->isolation;
    if (!tool->is_confined) {
        text_puts(out, words_of_place(tool->plugin));
        return;
    }
    text_puts(out, "each call in a sandbox of its own");
    put_limit(out, isolation->call_timeout_ms, 1000, "s");
    put_limit(out, isolation->call_memory_bytes, 1 << 20, "MiB");
    put_paths(out, "\nreads        ", tool->meta.inside_reads);
    put_paths(out, "\nexecutes     ", tool->meta.inside_runs);
    if (isolation->grants)
        text_printf(out, "\ngranted      %s", isolation->grants);
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
