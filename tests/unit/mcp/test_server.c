/* The server's core without a transport: pages, changes, and no memory. */
#include "fake_server.h"

#include "../base/failing.h"
#include "mcp/server_private.h"

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{},\"progressToken\":1}"

static mortise_status say(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    call->ops->progress(call, 1, 2, "half");
    const mortise_attachment part = {
        .size = sizeof(part), .mime_type = "image/png", .data = "abc", .length = 3};
    call->ops->attach(call, &part);
    return fake_reply(call, "%s", (const char *)args);
}

#define TOOL(tool_name)                                                                            \
    static const mortise_tool_meta tool_name##_meta = {.size = sizeof(mortise_tool_meta),          \
                                                       .name = #tool_name,                         \
                                                       .input_schema = "{\"type\":\"object\"}"};   \
    static const mortise_tool tool_name = {                                                        \
        .size = sizeof(mortise_tool), .meta = &tool_name##_meta, .run = say}
TOOL(apple);
TOOL(banana);
TOOL(cherry);
TOOL(damson);

/* What stands behind `mark` up to a quote; "" when it is not there. */
static void find(const char *text, const char *mark, char *out, size_t size)
{
    const char *found = strstr(text, mark);
    const char *start = found ? found + strlen(mark) : "";
    snprintf(out, size, "%.*s", (int)strcspn(start, "\""), start);
}

/* S29: each tool once, in order, over all pages; also when one that a page ended with is gone. */
static void test_pages(void **state)
{
    (void)state;
    const mortise_tool *const all[] = {&damson, &banana, &apple, &cherry, NULL};
    const mortise_tool *const fewer[] = {&damson, &apple, &cherry, NULL};
    struct registry *before = fake_registry(all, NULL);
    struct registry *after = fake_registry(fewer, NULL);
    struct fake_server fake;
    char cursor[64], request[512];
    fake_load(before);
    fake_begin(&fake, 2);
    const char *page = fake_say(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    assert_non_null(strstr(page, "\"apple\""));
    assert_true(strstr(page, "\"apple\"") < strstr(page, "\"banana\""));
    assert_null(strstr(page, "\"cherry\""));
    find(page, "\"nextCursor\":\"", cursor, sizeof(cursor));
    assert_true(*cursor);
    fake_load(after);
    snprintf(request, sizeof(request),
             "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/"
             "list\",\"params\":{\"cursor\":\"%s\"," META "}}",
             cursor);
    page = fake_say(&fake, request);
    assert_null(strstr(page, "\"apple\""));
    assert_true(strstr(page, "\"cherry\"") < strstr(page, "\"damson\""));
    assert_null(strstr(page, "nextCursor"));
    assert_non_null(strstr(page, "\"cacheScope\":\"private\""));
    page = fake_say(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"
                           "{\"cursor\":\"\"}}");
    assert_non_null(strstr(page, "\"apple\""));
    fake_end(&fake);
    registry_unref(before);
    registry_unref(after);
}

/* S35: who is told, and of what. */
static void test_changes(void **state)
{
    (void)state;
    const mortise_tool *const one[] = {&apple, NULL};
    const mortise_tool *const two[] = {&apple, &banana, NULL};
    struct registry *registries[] = {fake_registry(one, NULL), fake_registry(one, NULL),
                                     fake_registry(two, NULL)};
    struct fake_server fake;
    fake_load(registries[0]);
    fake_begin(&fake, 0);
    fake_load(registries[2]);
    mcp_server_reloaded(fake.server);
    assert_string_equal(text_cstr(&fake.sent), ""); /* nobody has said that it is ready */
    fake_say(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    fake_load(registries[1]);
    mcp_server_reloaded(fake.server);
    assert_string_equal(text_cstr(&fake.sent), "{\"jsonrpc\":\"2.0\",\"method\":"
                                               "\"notifications/tools/list_changed\"}\n");
    text_reset(&fake.sent);
    fake_load(registries[0]); /* which looks the same */
    mcp_server_reloaded(fake.server);
    assert_string_equal(text_cstr(&fake.sent), "");
    fake_end(&fake);
    for (size_t i = 0; i < 3; i++)
        registry_unref(registries[i]);
}

/* Whatever allocation fails, a request is answered once, and the next one is served. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-03-26\",\"capabilities\":{\"roots\":{}}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META "}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"apple\"," META "}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"apple\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\",\"params\":{" META "}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
    };
    const mortise_tool *const tools[] = {&apple, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    struct fake_server fake;
    fake_load(registry);
    fake_begin(&fake, 0);
    text_reserve(&fake.sent, 1 << 16);
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        bool failed = true;
        for (int count = 0; failed; count++) {
            fake.last = 0;
            fail_after(count);
            fake_say(&fake, requests[i]);
            failed = fail_never();
            assert_int_equal(fake.last, 1);
            assert_true(fake.sent.length > 0);
        }
        assert_non_null(strstr(text_cstr(&fake.sent), "\"id\":1"));
        assert_null(strstr(text_cstr(&fake.sent), "out of memory"));
    }
    fake_end(&fake);
    registry_unref(registry);
}

#define LISTEN                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"                   \
    "\"notifications\":{\"toolsListChanged\":true}," META "}}"
#define CANCEL                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"

/* S36: who subscribes learns that it listens, or that it does not; and later whether it still does. */
static void test_subscription_without_memory(void **state)
{
    (void)state;
    const mortise_tool *const one[] = {&apple, NULL};
    const mortise_tool *const two[] = {&apple, &banana, NULL};
    struct registry *registries[] = {fake_registry(one, NULL), fake_registry(two, NULL)};
    struct fake_server fake;
    fake_load(registries[0]);
    fake_begin(&fake, 0);
    text_reserve(&fake.sent, 1 << 16);
    bool failed = true;
    for (int count = 0; failed; count++) {
        fake.last = 0;
        fail_after(count);
        fake_say(&fake, LISTEN);
        failed = fail_never();
        assert_int_equal(fake.last, strstr(text_cstr(&fake.sent), "acknowledged") == NULL);
        fake_say(&fake, CANCEL);
    }
    failed = true;
    for (int count = 0; failed; count++) {
        assert_non_null(strstr(fake_say(&fake, LISTEN), "acknowledged"));
        text_reset(&fake.sent);
        fake.last = 0;
        fake_load(registries[count % 2 == 0]);
        fail_after(count);
        mcp_server_reloaded(fake.server);
        failed = fail_never();
        assert_int_equal(fake.last, strstr(text_cstr(&fake.sent), "list_changed") == NULL);
        fake_say(&fake, CANCEL);
    }
    assert_int_equal(fake.last, 0);
    fake_end(&fake);
    for (size_t i = 0; i < 2; i++)
        registry_unref(registries[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_subscription_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
