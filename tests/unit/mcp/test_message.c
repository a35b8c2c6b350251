/* S7, S8, S9, S21, S22, S32: what a message is, by its bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/message.h"

#define VERSION "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""
#define CAN     "\"io.modelcontextprotocol/clientCapabilities\":{\"a\":1}"

static bool is(struct json_piece piece, const char *text)
{
    return !piece.length ? !*text : slice_is((struct slice){piece.data, piece.length}, text);
}

static struct mcp_message read(const char *json)
{
    struct mcp_message message;
    mcp_message_read(&message, json, strlen(json));
    return message;
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum mcp_kind kind;
        int code;
        const char *id;
    } cases[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", MCP_REQUEST, 0, "1"},
        {" {\"method\":\"a\" , \"id\" : \"x\\u0041\" ,\n\"jsonrpc\":\"2.0\"}\r\n", MCP_REQUEST, 0,
         "\"x\\u0041\""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\"}", MCP_REQUEST, 0, "2"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", MCP_REQUEST, 0, "1.5"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":null}", MCP_REQUEST, 0, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[]}", MCP_BROKEN, -32602, "1"},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":[]}", MCP_NOTIFICATION, 0, ""},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", MCP_NOTIFICATION, 0, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}", MCP_RESPONSE, 0, "1"},
        {"{\"jsonrpc\":\"2.0\",\"error\":1}", MCP_RESPONSE, 0, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_BROKEN, -32600, "1"},
        {"{\"jsonrpc\":\"2.1\",\"id\":1,\"method\":\"a\"}", MCP_BROKEN, -32600, "1"},
        {"{\"id\":1,\"method\":\"a\"}", MCP_BROKEN, -32600, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", MCP_BROKEN, -32600, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":false,\"method\":\"a\"}", MCP_BROKEN, -32600, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":{\"id\":1},\"method\":\"a\"}", MCP_BROKEN, -32600, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", MCP_BROKEN, -32600, "1"},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}]", MCP_BROKEN, -32600, ""},
        {"1", MCP_BROKEN, -32600, ""},
        {"", MCP_BROKEN, -32700, ""},
        {"{", MCP_BROKEN, -32700, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", MCP_BROKEN, -32700, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct mcp_message message = read(cases[i].json);
        if (message.kind != cases[i].kind || message.code != cases[i].code ||
            !is(message.id, cases[i].id) || (message.kind == MCP_BROKEN) != !!message.problem)
            fail_msg("%s: kind %d, code %d", cases[i].json, (int)message.kind, message.code);
    }
    assert_true(is(read(" [1] ").batch, "[1]"));
}

static void test_eras(void **state)
{
    (void)state;
    struct mcp_message message =
        read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
             "\"params\":{\"_meta\":{" VERSION "," CAN ",\"progressToken\":\"t\"}}}");
    assert_true(message.is_modern);
    assert_true(is(message.method, "tools/list"));
    assert_true(is(message.version, "\"2026-07-28\""));
    assert_true(is(message.capabilities, "{\"a\":1}"));
    assert_true(is(message.progress_token, "\"t\""));
    message = read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\","
                   "\"params\":{\"_meta\":{\"progressToken\":0},\"x\":{" VERSION "}}}");
    assert_false(message.is_modern);
    assert_true(is(message.progress_token, "0"));
    assert_true(read("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":"
                     "{\"io.modelcontextprotocol/protocolVersion\":null}}}")
                    .is_modern);
}

static void test_tokens_that_are_none(void **state)
{
    (void)state;
    static const char *const tokens[] = {"1.5", "1e2", "null", "true", "{}", "[1]"};
    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++) {
        struct text json = TEXT_INIT;
        text_printf(&json,
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":"
                    "{\"progressToken\":%s}}}",
                    tokens[i]);
        assert_true(is(read(text_cstr(&json)).progress_token, ""));
        text_release(&json);
    }
}

static void test_revisions(void **state)
{
    (void)state;
    enum mcp_revision revision;
    for (int i = 0; i < MCP_REVISION_COUNT; i++) {
        const char *name = mcp_revision_name((enum mcp_revision)i);
        assert_true(mcp_revision_parse((struct slice){name, strlen(name)}, &revision));
        assert_int_equal(revision, i);
    }
    assert_false(mcp_revision_parse((struct slice){"2025-11-2", 9}, &revision));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_eras),
        cmocka_unit_test(test_tokens_that_are_none),
        cmocka_unit_test(test_revisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
