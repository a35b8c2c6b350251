#include "fake_server.h"

static struct registry *loaded;

struct registry *__wrap_plugin_set_registry(struct plugin_set *set);
struct registry *__wrap_plugin_set_registry(struct plugin_set *set)
{
    (void)set;
    return registry_ref(loaded);
}

void fake_load(struct registry *registry)
{
    loaded = registry;
}

static void take(void *self, struct slice message, int code, bool is_last)
{
    struct fake_server *fake = self;
    (void)code;
    text_append(&fake->sent, message.data, message.length);
    text_putc(&fake->sent, '\n');
    fake->last += is_last;
}

void fake_begin(struct fake_server *fake, size_t page_size)
{
    struct error error = ERROR_INIT;
    *fake = (struct fake_server){0};
    const struct mcp_setting setting = {
        .context = &fake->context, .timeout_ms = -1, .page_size = page_size};
    const struct mcp_sink sink = {take, fake};
    fake->server = mcp_server_new(&setting, &error);
    assert_non_null(fake->server);
    fake->connection = mcp_connection_new(fake->server, &sink);
    assert_non_null(fake->connection);
}

void fake_end(struct fake_server *fake)
{
    mcp_server_stop(fake->server);
    mcp_connection_free(fake->connection);
    mcp_server_free(fake->server);
    text_release(&fake->sent);
}

const char *fake_say(struct fake_server *fake, const char *message)
{
    const struct mcp_sink sink = {take, fake};
    text_reset(&fake->sent);
    struct mcp_exchange *exchange =
        mcp_take(fake->server, fake->connection, message, strlen(message), &sink);
    if (exchange)
        mcp_serve(exchange);
    return text_cstr(&fake->sent);
}
