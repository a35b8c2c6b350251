/* The parts of results: out of JSON (F67-F69, F72, F74), beside attach() (F73), without memory. */
#include "fake.h"

#include "failing.h"
#include "tool/parts.h"

/* "MIME NAME BYTES-OR-URI; …" */
static void write_parts(struct text *out, const struct tool_result *result)
{
    for (size_t i = 0; i < result->attachment_count; i++) {
        const struct attachment *part = &result->attachments[i];
        text_printf(out, "%s%s %s ", i ? "; " : "", part->mime_type, part->name ? part->name : "-");
        if (part->data.data)
            text_append(out, part->data.data, part->data.length);
        else
            text_puts(out, part->uri);
    }
}

static struct tool_result result_of(const char *json)
{
    struct tool_result result = {.success = true, .is_json = true};
    text_puts(&result.text, json);
    return result;
}

/* ---- what is taken apart ---- */

#define DATA(data)   "{\"mime_type\":\"image/png\",\"data\":" data "}"
#define FILE_AT(uri) "{\"mime_type\":\"application/pdf\",\"uri\":\"" uri "\"}"

static const struct {
    const char *json, *text;
    bool is_json;
    const char *parts;
} taken[] = {
    /* F67: the response, or what remains */
    {"{\"response\":{\"a\":1},\"inline_data\":[" DATA("\"aGk=\"") "],\"b\":2}", "{\"a\":1}", true,
     "image/png - hi"},
    {"{\"a\":1,\"inline_data\":[" DATA("\"aGk=\"") "],\"b\":[2]}", "{\"a\":1,\"b\":[2]}", true,
     "image/png - hi"},
    {"{\"inline_data\":[" DATA("\"aGk=\"") "]}", "{}", true, "image/png - hi"},
    {"{\"response\":\"a \\\"plot\\\"\",\"inline_data\":[" DATA("\"aGk=\"") "]}", "a \"plot\"",
     false, "image/png - hi"},
    {"{\"response\":\"\",\"inline_data\":[" DATA("\"aGk=\"") "]}", "", false, "image/png - hi"},
    {"{\"response\":null,\"inline_data\":[" DATA("\"aGk=\"") "]}", "null", true, "image/png - hi"},
    {"{\"response\":[1, 2],\"file_data\":[" FILE_AT("x:y") "]}", "[1, 2]", true,
     "application/pdf - x:y"},
    /* to the byte, also what a parser would round */
    {" {\"n\" : 12345678901234567890.10 ,\n\"file_data\" : [ " FILE_AT("x:y") " ] } ",
     "{\"n\":12345678901234567890.10}", true, "application/pdf - x:y"},
    /* F70: inline before file, whatever stands first */
    {"{\"file_data\":[" FILE_AT("x:1") "," FILE_AT("x:2") "],\"inline_data\":[" DATA(
         "\"MQ==\"") "," DATA("\"Mg==\"") "]}",
     "{}", true, "image/png - 1; image/png - 2; application/pdf - x:1; application/pdf - x:2"},
    /* F68: one list is empty, or none, and the other is not */
    {"{\"inline_data\":[],\"file_data\":[" FILE_AT("x:y") "]}", "{}", true,
     "application/pdf - x:y"},
    {"{\"inline_data\":\"no\",\"file_data\":[" FILE_AT("x:y") "]}", "{\"inline_data\":\"no\"}",
     true, "application/pdf - x:y"},
    /* F69: bytes as base64 in both alphabets, escaped, without padding, and as a list */
    {"{\"inline_data\":[" DATA("\"aGk\"") "," DATA("\"fn5-\"") "," DATA("\"fn5+\"") "," DATA(
         "\"L\\/==\"") "]}",
     "{}", true, "image/png - hi; image/png - ~~~; image/png - ~~~; image/png - /"},
    {"{\"inline_data\":[" DATA("[104, 105]") "," DATA("[]") "," DATA("\"\"") "]}", "{}", true,
     "image/png - hi; image/png - ; image/png - "},
    /* the names that members go by */
    {"{\"inline_data\":[{\"mimeType\":\"text/plain; charset=utf-8\",\"data\":\"aGk=\","
     "\"display_name\":\"a\\tb.txt\",\"more\":[1]}],"
     "\"file_data\":[{\"mimeType\":\"a/b\",\"fileUri\":\"gs:\\/\\/x\",\"displayName\":\"n\"},"
     "{\"mime_type\":\"a/b\",\"file_uri\":\"q:\",\"name\":null}]}",
     "{}", true, "text/plain; charset=utf-8 a b.txt hi; a/b n gs://x; a/b - q:"},
    /* F72: a URI is nothing that is looked into */
    {"{\"file_data\":[" FILE_AT("no uri at \xC3\xA4ll?%zz") "]}", "{}", true,
     "application/pdf - no uri at \xC3\xA4ll?%zz"},
    /* of two members with one name the last one counts */
    {"{\"inline_data\":[" DATA("\"MQ==\"") "],\"inline_data\":[" DATA("\"Mg==\"") "]}", "{}", true,
     "image/png - 2"},
};

static void test_what_is_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        struct tool_result result = result_of(taken[i].json);
        struct text parts = TEXT_INIT;
        struct error error = ERROR_INIT;
        assert_true(parts_take_json(&result, &error));
        write_parts(&parts, &result);
        assert_string_equal(text_cstr(&result.text), taken[i].text);
        assert_int_equal(result.is_json, taken[i].is_json);
        assert_string_equal(text_cstr(&parts), taken[i].parts);
        text_release(&parts);
        tool_result_release(&result);
    }
}

/* F68 */
static void test_what_is_left_alone(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "{\"inline_data\":[]}",
        "{\"inline_data\":[],\"file_data\":[]}",
        "{ \"inline_data\" : [ ] , \"response\":1}",
        "{\"inline_data\":{}}",
        "{\"inline_data\":\"x\",\"file_data\":null}",
        "{\"inline_data\":1,\"response\":\"r\"}",
        "[{\"inline_data\":[" DATA("\"aGk=\"") "]}]",
        "{\"deeper\":{\"inline_data\":[" DATA("\"aGk=\"") "]}}",
        "\"inline_data\"",
        "{\"a\":\"\\\"inline_data\\\":[1]\"}",
        "{\"inlineData\":[" DATA("\"aGk=\"") "]}",
        " 12 ",
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        struct tool_result result = result_of(plain[i]);
        struct error error = ERROR_INIT;
        assert_true(parts_take_json(&result, &error));
        assert_string_equal(text_cstr(&result.text), plain[i]);
        assert_true(result.is_json);
        assert_int_equal(result.attachment_count, 0);
        tool_result_release(&result);
    }
}

/* ---- what cannot be used (F69) ---- */

static const struct {
    const char *json, *message;
} broken[] = {
    {"{\"inline_data\":[" DATA("\"aGk=\"") ",5]}", "inline_data[1]: it must be an object"},
    {"{\"inline_data\":[{}]}", "inline_data[0]: 'mime_type' is missing"},
    {"{\"inline_data\":[{\"mime_type\":null,\"data\":\"\"}]}",
     "inline_data[0]: 'mime_type' is missing"},
    {"{\"inline_data\":[{\"mime_type\":7,\"data\":\"\"}]}",
     "inline_data[0]: 'mime_type' must be a string"},
    {"{\"inline_data\":[{\"mime_type\":\"png\",\"data\":\"\"}]}",
     "inline_data[0]: the mime type must look like 'image/png'"},
    {"{\"inline_data\":[{\"mime_type\":\"image/p\\nng\",\"data\":\"\"}]}",
     "inline_data[0]: the mime type must look like 'image/png'"},
    {"{\"inline_data\":[{\"mime_type\":\"a/b\"}]}", "inline_data[0]: 'data' is missing"},
    {"{\"inline_data\":[" DATA("null") "]}",
     "inline_data[0]: 'data' must be base64 or a list of bytes"},
    {"{\"inline_data\":[" DATA("{}") "]}",
     "inline_data[0]: 'data' must be base64 or a list of bytes"},
    {"{\"inline_data\":[" DATA("\"aGk*\"") "]}", "inline_data[0]: 'data' is not base64"},
    {"{\"inline_data\":[" DATA("\"data:image/png;base64,aGk=\"") "]}",
     "inline_data[0]: 'data' is not base64"},
    {"{\"inline_data\":[" DATA("\"a\\nGk\"") "]}", "inline_data[0]: 'data' is not base64"},
    {"{\"inline_data\":[" DATA("[1,256]") "]}",
     "inline_data[0]: 'data' has 256 at index 1, which is no byte (0 to 255)"},
    {"{\"inline_data\":[" DATA("[-1]") "]}",
     "inline_data[0]: 'data' has -1 at index 0, which is no byte (0 to 255)"},
    {"{\"inline_data\":[" DATA("[1.5]") "]}",
     "inline_data[0]: 'data' has 1.5 at index 0, which is no byte (0 to 255)"},
    {"{\"inline_data\":[" DATA("[4294967297]") "]}",
     "inline_data[0]: 'data' has 4294967297 at index 0, which is no byte (0 to 255)"},
    {"{\"inline_data\":[" DATA("[\"1\"]") "]}",
     "inline_data[0]: 'data' has \"1\" at index 0, which is no byte (0 to 255)"},
    {"{\"inline_data\":[{\"mime_type\":\"a/b\",\"data\":\"\",\"name\":5}]}",
     "inline_data[0]: 'name' must be a string"},
    {"{\"file_data\":[{\"mime_type\":\"a/b\"}]}", "file_data[0]: 'uri' is missing"},
    {"{\"file_data\":[{\"mime_type\":\"a/b\",\"uri\":\"\"}]}",
     "file_data[0]: it has neither data nor a URI"},
    {"{\"inline_data\":[" DATA("\"aGk=\"") "],\"file_data\":[" FILE_AT("x:y") ",{\"uri\":\"x\"}]}",
     "file_data[1]: 'mime_type' is missing"},
};

static void test_what_cannot_be_used(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct tool_result result = result_of(broken[i].json);
        struct error error = ERROR_INIT;
        assert_false(parts_take_json(&result, &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        assert_string_equal(error.message, broken[i].message);
        tool_result_release(&result);
    }
}

/* ---- limits (F74) ---- */

static struct tool_result result_with_base64(size_t bytes)
{
    struct tool_result result = {.success = true, .is_json = true};
    size_t digits = (bytes + 2) / 3 * 4;
    text_puts(&result.text, "{\"inline_data\":[{\"mime_type\":\"a/b\",\"data\":\"");
    assert_true(text_reserve(&result.text, digits + 64));
    memset(result.text.data + result.text.length, 'A', digits);
    result.text.length += digits;
    for (size_t i = bytes % 3 ? 3 - bytes % 3 : 0; i > 0; i--)
        result.text.data[result.text.length - i] = '=';
    text_puts(&result.text, "\"}]}");
    return result;
}

static void test_ten_mebibytes(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct tool_result most = result_with_base64(PART_BYTES_MAX);
    assert_true(parts_take_json(&most, &error));
    assert_int_equal(most.attachments[0].data.length, PART_BYTES_MAX);
    tool_result_release(&most);
    struct tool_result more = result_with_base64(PART_BYTES_MAX + 1);
    assert_false(parts_take_json(&more, &error));
    assert_string_equal(error.message, "inline_data[0]: 10.5 MB are more than the 10 MiB that a "
                                       "part may have");
    tool_result_release(&more);
}

static bool attach(struct tool_result *result, size_t length, const char *uri, struct error *error)
{
    static char zeros[PART_BYTES_MAX + 1];
    mortise_attachment part = {.size = sizeof(part), .mime_type = "a/b", .uri = uri};
    part.data = length ? zeros : NULL;
    part.length = length;
    return parts_attach(result, &part, error);
}

static void test_limits_of_a_result(void **state)
{
    (void)state;
    struct tool_result result = {0};
    struct error error = ERROR_INIT;
    for (int i = 0; i < 3; i++)
        assert_true(attach(&result, PART_BYTES_MAX, NULL, &error));
    assert_false(attach(&result, ((size_t)2 << 20) + 1, NULL, &error));
    assert_string_equal(error.message, "all parts of a result together may have 32 MiB");
    assert_true(attach(&result, (size_t)2 << 20, NULL, &error));
    for (int i = 4; i < RESULT_PARTS_MAX; i++)
        assert_true(attach(&result, 0, "x:y", &error));
    assert_false(attach(&result, 0, "x:y", &error));
    assert_string_equal(error.message, "a result may have 20 parts");
    tool_result_release(&result);

    char uri[PART_URI_MAX + 2];
    memset(uri, 'u', sizeof(uri));
    uri[PART_URI_MAX + 1] = '\0';
    assert_false(attach(&result, 0, uri, &error));
    assert_string_equal(error.message, "the URI is longer than 8192 bytes; give the data itself");
    uri[PART_URI_MAX] = '\0';
    assert_true(attach(&result, 0, uri, &error));
    tool_result_release(&result);
}

static void test_names_are_short_lines(void **state)
{
    (void)state;
    char name[300];
    struct tool_result result = {0};
    struct error error = ERROR_INIT;
    memset(name, 'n', sizeof(name));
    memcpy(name, "a\nb\x7F", 4);
    memcpy(name + 254, "\xC3\xA4", 3);
    mortise_attachment part = {.size = sizeof(part), .mime_type = "a/b", .name = name, .uri = "x:"};
    assert_true(parts_attach(&result, &part, &error));
    assert_int_equal(strlen(result.attachments[0].name), 254);
    assert_memory_equal(result.attachments[0].name, "a b n", 5);
    tool_result_release(&result);
}

/* ---- through a call ---- */

static const char *reply_json;
static bool attaches, fails;

static mortise_status shoot(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    mortise_attachment file = {.size = sizeof(file), .mime_type = "a/b", .uri = "x:own"};
    if (attaches && call->ops->attach(call, &file) != MORTISE_OK)
        return MORTISE_NO_MEMORY;
    if (fails)
        return fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "no camera");
    return call->ops->reply(call, MORTISE_JSON_RESULT, reply_json, strlen(reply_json));
}
FAKE_TOOL(shoot, 0, .input_schema = "{\"type\":\"object\"}");

static const char *const good =
    "{\"response\":\"a\\/b\",\"inline_data\":[{\"mime_type\":\"a/b\","
    "\"data\":\"L\\/==\",\"name\":\"n\"}],\"file_data\":[" FILE_AT("x:y") "]}";

static void test_calls(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&shoot_tool);
    struct tool_result result;
    struct text parts = TEXT_INIT;
    attaches = true;
    reply_json = good;
    fake_call(registry, "shoot", "{}", &result);
    write_parts(&parts, &result);
    assert_true(result.success);
    assert_false(result.is_json);
    assert_string_equal(text_cstr(&result.text), "a/b");
    assert_string_equal(text_cstr(&parts), "a/b n /; a/b - x:own; application/pdf - x:y");
    tool_result_release(&result);

    reply_json = "{\"inline_data\":[7]}";
    fake_call(registry, "shoot", "{}", &result);
    assert_false(result.success);
    assert_string_equal(result.code, "tool.bad_part");
    assert_string_equal(text_cstr(&result.text),
                        "Internal error: tool 'shoot' replied with a part that cannot be used: "
                        "inline_data[0]: it must be an object");
    assert_int_equal(result.attachment_count, 0);
    tool_result_release(&result);

    fails = true;
    fake_call(registry, "shoot", "{}", &result);
    assert_false(result.success);
    assert_int_equal(result.attachment_count, 1);
    tool_result_release(&result);
    fails = attaches = false;
    text_release(&parts);
    registry_unref(registry);
}

/* Whichever allocation fails: an error result, and nothing leaks. */
static void test_without_memory(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&shoot_tool);
    bool failed = true;
    attaches = true;
    reply_json = good;
    for (int n = 0; failed && n < 2000; n++) {
        struct tool_result result;
        fail_after(n);
        fake_call(registry, "shoot", "{}", &result);
        failed = fail_never();
        assert_int_equal(result.success, !result.category);
        assert_int_equal(result.success, result.attachment_count == 3);
        tool_result_release(&result);
    }
    assert_false(failed);
    attaches = false;
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_taken_apart),
        cmocka_unit_test(test_what_is_left_alone),
        cmocka_unit_test(test_what_cannot_be_used),
        cmocka_unit_test(test_ten_mebibytes),
        cmocka_unit_test(test_limits_of_a_result),
        cmocka_unit_test(test_names_are_short_lines),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
