/* S16, S30, S31: results as content, for clients of all ages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_check.h"
#include "mcp/content.h"

static void check(const struct tool *tool, const struct tool_result *result,
                  enum mcp_revision revision, const char *expected)
{
    struct text out = TEXT_INIT;
    text_putc(&out, '{');
    content_write(&out, tool, result, revision);
    text_putc(&out, '}');
    assert_false(out.failed);
    assert_true(json_is_valid(out.data, out.length));
    assert_null(strchr(out.data, '\n'));
    assert_string_equal(out.data, expected);
    assert_true(content_length(result) <= out.length);
    text_release(&out);
}

static struct text text_of(const char *words)
{
    struct text text = TEXT_INIT;
    text_puts(&text, words);
    return text;
}

static void test_text(void **state)
{
    (void)state;
    struct tool_result result = {.success = true, .text = text_of("a \"b\"\n")};
    check(NULL, &result, MCP_2024_11_05,
          "{\"content\":[{\"type\":\"text\",\"text\":\"a \\\"b\\\"\\n\"}]}");
    result.success = false;
    check(NULL, &result, MCP_2026_07_28,
          "{\"content\":[{\"type\":\"text\",\"text\":\"a \\\"b\\\"\\n\"}],\"isError\":true}");
    text_reset(&result.text);
    result.success = true;
    check(NULL, &result, MCP_2025_11_25, "{\"content\":[{\"type\":\"text\",\"text\":\"\"}]}");
    tool_result_release(&result);
}

static void test_structured(void **state)
{
    (void)state;
    const struct tool tool = {.name = "t", .meta = {.output_schema = "{\"type\":\"object\"}"}};
    struct tool_result result = {
        .success = true, .is_json = true, .text = text_of("{\n\"a\":\r\n\"x\\ny\"}")};
    check(&tool, &result, MCP_2025_06_18,
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\n\\\"a\\\":\\r\\n\\\"x\\\\ny\\\"}\"}],"
          "\"structuredContent\":{ \"a\":  \"x\\ny\"}}");
    check(&tool, &result, MCP_2025_03_26,
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\n\\\"a\\\":\\r\\n\\\"x\\\\ny\\\"}\"}]}");
    text_reset(&result.text);
    text_puts(&result.text, "[redacted");
    result.is_json = false;
    check(&tool, &result, MCP_2025_11_25,
          "{\"content\":[{\"type\":\"text\",\"text\":\"[redacted\"},{\"type\":\"text\",\"text\":"
          "\"The result of tool 't' is not what its output schema says: it is not JSON\"}],"
          "\"isError\":true}");
    tool_result_release(&result);
}

/* An attachment with these bytes, or none. */
static void check_part(const char *type, const char *name, const char *uri, const char *bytes,
                       enum mcp_revision revision, const char *expected)
{
    struct attachment part = {.mime_type = (char *)(uintptr_t)type,
                              .name = (char *)(uintptr_t)name,
                              .uri = (char *)(uintptr_t)uri,
                              .data = {(char *)(uintptr_t)bytes, bytes ? strlen(bytes) : 0}};
    const struct tool_result result = {
        .success = true, .attachments = &part, .attachment_count = 1};
    struct text whole = TEXT_INIT;
    text_printf(&whole, "{\"content\":[%s]}", expected);
    check(NULL, &result, revision, text_cstr(&whole));
    text_release(&whole);
}

static void test_parts(void **state)
{
    (void)state;
    const enum mcp_revision now = MCP_2026_07_28;
    check_part("image/png", "a.png", NULL, "abc", now,
               "{\"type\":\"image\",\"data\":\"YWJj\",\"mimeType\":\"image/png\"}");
    check_part("IMAGE/PNG", NULL, NULL, "", now,
               "{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"IMAGE/PNG\"}");
    check_part("audio/wav", NULL, NULL, "ab", MCP_2025_03_26,
               "{\"type\":\"audio\",\"data\":\"YWI=\",\"mimeType\":\"audio/wav\"}");
    check_part("audio/wav", NULL, NULL, "ab", MCP_2024_11_05,
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"attachment:0\",\"mimeType\":"
               "\"audio/wav\",\"blob\":\"YWI=\"}}");
    check_part("image/png", NULL, "test://i", "a", now,
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://i\",\"mimeType\":"
               "\"image/png\",\"blob\":\"YQ==\"}}");
    check_part("text/plain; charset=utf-8", "a b", NULL, "x\ny", now,
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"attachment:0/a%20b\",\"mimeType\":"
               "\"text/plain; charset=utf-8\",\"text\":\"x\\ny\"}}");
    check_part("application/json", NULL, "test://j", "{}", now,
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://j\",\"mimeType\":"
               "\"application/json\",\"text\":\"{}\"}}");
    check_part("text/plain", NULL, NULL, "\xff", now,
               "{\"type\":\"resource\",\"resource\":{\"uri\":\"attachment:0\",\"mimeType\":"
               "\"text/plain\",\"blob\":\"/w==\"}}");
    check_part("text/html", NULL, "https://a.example/", NULL, now,
               "{\"type\":\"resource_link\",\"uri\":\"https://a.example/\",\"name\":"
               "\"https://a.example/\",\"mimeType\":\"text/html\"}");
    check_part("text/html", "page", "https://a.example/", NULL, MCP_2025_03_26,
               "{\"type\":\"text\",\"text\":\"[text/html, 'page', https://a.example/]\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_structured),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
