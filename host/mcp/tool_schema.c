/* tool_schema - what the tool that a request calls takes; for a transport that mirrors arguments.
 */
#include <string.h>

#include "mcp/server_private.h"

void mcp_exchange_put_schema(const struct mcp_exchange *exchange, const char *word,
                             struct text *out)
{
    if (exchange->code || exchange->method != METHOD_TOOLS_CALL)
        return;
    struct text name = TEXT_INIT;
    struct registry *registry = plugin_set_registry(exchange->server->setting.plugins);
    const struct tool *tool =
        json_piece_text(json_walk_member(exchange->message.params, "name"), &name)
            ? registry_find(registry, text_cstr(&name))
            : NULL;
    if (tool && strstr(tool->meta.input_schema, word))
        text_puts(out, tool->meta.input_schema);
    registry_unref(registry);
    text_release(&name);
}
