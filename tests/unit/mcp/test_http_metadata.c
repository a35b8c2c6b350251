/* What a message says of itself in the header, against its body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/http_metadata.h"

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
    "\"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"},"
    "\"sure\":{\"type\":\"boolean\",\"x-mcp-header\":\"Sure\"},"
    "\"deep\":{\"type\":\"object\",\"properties\":{"
    "\"down\":{\"type\":\"string\",\"x-mcp-header\":\"Down\"}}},"
    "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"x-mcp-header\":\"List\"}},"
    "\"bad\":{\"type\":\"string\",\"x-mcp-header\":\"no token\"},"
    "\"plain\":{\"type\":\"string\"}}}";

static int check(const char *fields, const char *message_text)
{
    struct text text = TEXT_INIT, problem = TEXT_INIT;
    struct http_head head;
    struct mcp_message message;
    const char *why;
    text_printf(&text, "POST /mcp HTTP/1.1\r\n%s\r\n", fields);
    assert_int_equal(http_head_read(&head, text.data, text.length, &why), 0);
    mcp_message_read(&message, message_text, strlen(message_text));
    assert_int_equal(message.kind, MCP_REQUEST);
    int code = http_metadata_check(&head, &message, (struct json_piece){schema, sizeof(schema) - 1},
                                   &problem);
    assert_int_equal(code != 0, problem.length > 0);
    text_release(&text);
    text_release(&problem);
    return code;
}

struct example {
    const char *fields;
    int code;
};

static void check_all(const char *message, const struct example *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int code = check(cases[i].fields, message);
        if (code != cases[i].code)
            fail_msg("%d for %s", code, cases[i].fields);
    }
}

#define CHECK_ALL(message, cases) check_all(message, cases, sizeof(cases) / sizeof(*(cases)))

#define VERSION                   "MCP-Protocol-Version: 2026-07-28\r\n"
#define LIST                      VERSION "Mcp-Method: tools/list\r\n"
#define CALL                      VERSION "Mcp-Method: tools/call\r\n"

/* S41 */
static void test_standard(void **state)
{
    (void)state;
    static const struct example list[] = {
        {LIST, 0},
        {"mcp-protocol-version:2026-07-28\r\nMCP-METHOD: \t tools/list \r\n", 0},
        {"Mcp-Method: tools/list\r\n", MCP_HEADER_MISMATCH},
        {VERSION, MCP_HEADER_MISMATCH},
        {"MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n", MCP_HEADER_MISMATCH},
        {LIST "MCP-Protocol-Version: 2026-07-28\r\n", MCP_HEADER_MISMATCH},
        {VERSION "Mcp-Method: Tools/list\r\n", MCP_HEADER_MISMATCH},
        {VERSION "Mcp-Method: prompts/list\r\n", MCP_HEADER_MISMATCH},
    };
    CHECK_ALL("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META "}}",
              list);
}

/* S41 */
static void test_name(void **state)
{
    (void)state;
    static const struct example plain[] = {
        {CALL "Mcp-Name: echo\r\n", 0},
        {CALL "Mcp-Name: =?base64?ZWNobw==?=\r\n", 0},
        {CALL, MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: Echo\r\n", MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: ech\r\n", MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: =?BASE64?ZWNobw==?=\r\n", MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: =?base64?ZWNobw?=\r\n", MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: =?base64?ZWN!bw==?=\r\n", MCP_HEADER_MISMATCH},
        {CALL "Mcp-Name: echo\r\nMcp-Name: echo\r\n", MCP_HEADER_MISMATCH},
    };
    CHECK_ALL("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
              "\"name\":\"echo\"," META "}}",
              plain);
    static const struct example wide[] = {
        {CALL "Mcp-Name: =?base64?w6kK?=\r\n", 0},
        {CALL "Mcp-Name: \xc3\xa9\r\n", MCP_HEADER_MISMATCH}, /* it must be encoded */
    };
    CHECK_ALL("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
              "\"name\":\"\xc3\xa9\\n\"," META "}}",
              wide);
}

#define ECHO CALL "Mcp-Name: echo\r\n"
#define WITH(arguments)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","       \
    "\"arguments\":{" arguments "}," META "}}"

/* S41 */
static void test_parameters(void **state)
{
    (void)state;
    static const struct example strings[] = {
        {ECHO "Mcp-Param-Region: Hello\r\n", 0},
        {ECHO "mcp-param-region:  Hello\r\nMcp-Param-Other: x\r\n", 0},
        {ECHO "Mcp-Param-Region: =?base64?SGVsbG8=?=\r\n", 0},
        {ECHO "Mcp-Param-Region: =?base64?SGVsbG8?=\r\n", MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Region: =?base64?SGVs!!!bG8=?=\r\n", MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Region: hello\r\n", MCP_HEADER_MISMATCH},
        {ECHO, MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Region: Hello\r\nMcp-Param-Count: 1\r\n", MCP_HEADER_MISMATCH},
    };
    CHECK_ALL(WITH("\"region\":\"Hello\",\"count\":null,\"plain\":\"x\",\"list\":[\"a\"],"
                   "\"bad\":\"x\""),
              strings);
    static const struct example literal[] = {
        {ECHO "Mcp-Param-Region: =?base64?SGVsbG8=\r\n", 0},
        {ECHO "Mcp-Param-Region: SGVsbG8=\r\n", MCP_HEADER_MISMATCH},
    };
    CHECK_ALL(WITH("\"region\":\"=?base64?SGVsbG8=\""), literal);
}

/* S41 */
static void test_other_types(void **state)
{
    (void)state;
    static const struct example cases[] = {
        {ECHO "Mcp-Param-Count: 42\r\nMcp-Param-Sure: true\r\nMcp-Param-Down: x\r\n", 0},
        {ECHO "Mcp-Param-Count: 42.0\r\nMcp-Param-Sure: true\r\nMcp-Param-Down: x\r\n", 0},
        {ECHO "Mcp-Param-Count: 0x2a\r\nMcp-Param-Sure: true\r\nMcp-Param-Down: x\r\n",
         MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Count: 43\r\nMcp-Param-Sure: true\r\nMcp-Param-Down: x\r\n",
         MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Count:\r\nMcp-Param-Sure: true\r\nMcp-Param-Down: x\r\n",
         MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Count: 42\r\nMcp-Param-Sure: True\r\nMcp-Param-Down: x\r\n",
         MCP_HEADER_MISMATCH},
        {ECHO "Mcp-Param-Count: 42\r\nMcp-Param-Sure: true\r\n", MCP_HEADER_MISMATCH},
    };
    CHECK_ALL(WITH("\"count\":42,\"sure\":true,\"deep\":{\"down\":\"x\"}"), cases);
}

/* S43 */
static void test_legacy(void **state)
{
    (void)state;
    static const struct example cases[] = {
        {"", 0},
        {"MCP-Protocol-Version: 2025-11-25\r\n", 0},
        {"MCP-Protocol-Version: 2024-11-05\r\nMcp-Session-Id: x\r\n", 0},
        {"MCP-Protocol-Version: 1900-01-01\r\n", MCP_INVALID_REQUEST},
        {"MCP-Protocol-Version: latest\r\n", MCP_INVALID_REQUEST},
        {"MCP-Protocol-Version: 2026-07-28\r\n", MCP_INVALID_PARAMS}, /* and no _meta */
    };
    CHECK_ALL("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard),   cmocka_unit_test(test_name),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_legacy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
