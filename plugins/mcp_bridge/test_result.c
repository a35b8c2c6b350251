/* Answers of servers as results of tools (C12, C13), and what is said to one that asks back. */
#include <mortise/test.h>
#include <mortise/tool.h>

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "result.h"

static bool has_output_schema;

/* Gives what it is called with, as if a server had answered that. */
MORTISE_TOOL_RAW(answer, 0, "An answer.", "{\"type\":\"object\"}");
static mortise_status answer(mortise_call *call, const char *json)
{
    const char *error;
    struct result_source source = {.server = "srv", .has_output_schema = has_output_schema};
    if (mortise_json_object(json, "error", &error) == MORTISE_OK)
        return result_give_error(call, &source, error);
    return result_give(call, &source, json);
}

MORTISE_PLUGIN(.name = "mcp_result", .tools = MORTISE_TOOLS(answer));

static mortise_test *test;

static const mortise_test_result *give(const char *json)
{
    return mortise_test_run(test, &answer_tool, json);
}

static void gives_text(void)
{
    static const char *const pairs[][2] = {
        {"{\"content\":[{\"type\":\"text\",\"text\":\"one\"}]}", "one"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"\"},"
         "{\"type\":\"text\",\"text\":\"two\\nlines \\u00e9 \\ud83c\\udf0d\"}]}",
         "one\ntwo\nlines \xC3\xA9 \xF0\x9F\x8C\x8D"},
        {"{\"resultType\":\"complete\",\"content\":[]}", ""},
        {"{\"content\":null}", ""},
        {"{}", ""},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"demo://1\",\"mimeType\":"
         "\"text/plain\",\"text\":\"inside\"}}]}",
         "inside"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"demo://2\",\"mimeType\":"
         "\"application/gzip\",\"blob\":\"AAEC\"}}]}",
         "[resource demo://2, application/gzip, 3 bytes]"},
        {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"demo://"
         "3\",\"blob\":\"%\"}}]}",
         "[resource demo://3, whose data cannot be read]"},
        {"{\"content\":[{\"type\":\"resource\"}]}", "[a resource without content]"},
        {"{\"content\":[{\"type\":\"video\"},7,{}]}",
         "[content of the unknown type 'video']\n[content of the unknown type '']\n"
         "[content of the unknown type '']"},
        {"{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"!\"}]}",
         "[image image/png, whose data cannot be read]"},
        {"{\"content\":[{\"type\":\"text\"},{\"type\":\"text\",\"text\":5}]}", ""},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"b\":1}}", "a"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        mortise_test_text(give(pairs[i][0]), pairs[i][1]);
}

static void attaches(void)
{
    const mortise_test_result *result = give(
        "{\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
        "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"iVBORw==\"},"
        "{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"UklGRg\"},"
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"demo://a/pic.gif\",\"mimeType\":"
        "\"image/gif\",\"blob\":\"R0lG\"}},"
        "{\"type\":\"resource_link\",\"uri\":\"https://a.example/x\",\"name\":\"X\",\"mimeType\":"
        "\"text/html\"}]}");
    mortise_test_text(result, "look");
    mortise_test_true(result->attachment_count == 4);
    if (result->attachment_count != 4)
        return;
    const mortise_attachment *parts = result->attachments;
    mortise_test_same(parts[0].mime_type, "image/png");
    mortise_test_true(parts[0].length == 4 && memcmp(parts[0].data, "\x89PNG", 4) == 0);
    mortise_test_same(parts[1].mime_type, "audio/wav");
    mortise_test_true(parts[1].length == 4);
    mortise_test_same(parts[2].name, "pic.gif");
    mortise_test_same(parts[3].uri, "https://a.example/x");
    mortise_test_same(parts[3].name, "X");
    result =
        give("{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AA==\"}],"
             "\"structuredContent\":{\"a\":1}}");
    mortise_test_text(result, "");
    mortise_test_true(result->attachment_count == 1);
    result = give("{\"content\":[{\"type\":\"resource_link\",\"name\":\"N\"}]}");
    mortise_test_text(result, "[link N: to nowhere]");
}

static void gives_structure(void) /* C13 */
{
    static const char both[] = "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],"
                               "\"structuredContent\":{\"b\": [1, 2]}}";
    mortise_test_json(give("{\"structuredContent\":{\"b\": [1, 2]},\"content\":[]}"),
                      "{\"b\": [1, 2]}");
    mortise_test_json(give("{\"structuredContent\":[1]}"), "[1]");
    mortise_test_text(give("{\"structuredContent\":null}"), "");
    has_output_schema = true;
    mortise_test_json(give(both), "{\"b\": [1, 2]}");
    mortise_test_text(give("{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}"), "a");
    /* what the host would take apart goes as text */
    mortise_test_text(give("{\"structuredContent\":{\"inline_data\":[]}}"), "{\"inline_data\":[]}");
    has_output_schema = false;
}

static void fails(void)
{
    mortise_test_error(give("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no such "
                            "file\"}]}"),
                       MORTISE_INTERNAL, "no such file");
    const mortise_test_result *result =
        give("{\"isError\":true,\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\","
             "\"data\":\"AAAA\"},{\"type\":\"resource_link\",\"uri\":\"a:b\",\"name\":\"n\"}]}");
    mortise_test_error(result, MORTISE_INTERNAL, "[image image/png, 3 bytes]\n[link n: a:b]");
    mortise_test_true(result->attachment_count == 0);
    mortise_test_error(give("{\"isError\":true,\"structuredContent\":{\"why\":1}}"),
                       MORTISE_INTERNAL, "{\"why\":1}");
    mortise_test_error(give("{\"isError\":true}"), MORTISE_INTERNAL, "gave no reason");
    result = give("{\"error\":{\"code\":-32602,\"message\":\"Unknown tool: x\"}}");
    mortise_test_error(result, MORTISE_INVALID_INPUT,
                       "'srv' answered with error -32602: Unknown tool: x");
    mortise_test_same(result->code, "mcp.-32602");
    mortise_test_same(result->component, "srv");
    mortise_test_error(give("{\"error\":{\"code\":-32000,\"message\":\"m\",\"data\":{\"a\":1}}}"),
                       MORTISE_INTERNAL, "error -32000: m ({\"a\":1})");
    mortise_test_error(give("{\"error\":{}}"), MORTISE_INTERNAL, "(no message)");
    mortise_test_error(give("{\"resultType\":\"task\"}"), MORTISE_NOT_SUPPORTED, "type 'task'");
    mortise_test_error(give("{\"resultType\":5}"), MORTISE_NOT_SUPPORTED, "not known here");
}

/* More than the SDKs let through, in one text. */
static void gives_much(void)
{
    enum { BYTES = 3 << 20 };
    static const char head[] = "{\"content\":[{\"type\":\"text\",\"text\":\"";
    char *json = malloc(BYTES + 100);
    memcpy(json, head, sizeof(head) - 1);
    memset(json + sizeof(head) - 1, 'x', BYTES);
    memcpy(json + sizeof(head) - 1 + BYTES, "\"}]}", 5);
    mortise_test_true(give(json)->length == BYTES);
    free(json);
}

/* More than go with a result: of the others lines tell. */
static void attaches_no_more_than_it_may(void)
{
    struct buffer json = BUFFER_INIT;
    buffer_puts(&json, "{\"content\":[{\"type\":\"text\",\"text\":\"t\"}");
    for (int i = 0; i < 22; i++)
        buffer_puts(&json, ",{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AAAA\"}");
    buffer_puts(&json, "]}");
    const mortise_test_result *result = give(json.text);
    mortise_test_true(result->attachment_count == 20);
    mortise_test_same(result->text, "t\n[image image/png, 3 bytes]\n[image image/png, 3 bytes]");
    buffer_release(&json);
}

static void expect_input(const char *result, const char *expected)
{
    struct buffer params = BUFFER_INIT;
    char problem[200] = "";
    mortise_test_true(result_wants_input(result));
    bool ok = input_answer(result, &params, problem, sizeof(problem));
    if (ok)
        mortise_test_same(params.text ? params.text : "", expected);
    else
        mortise_test_contains(problem, expected);
    buffer_release(&params);
}

static void answers_input(void)
{
    expect_input("{\"resultType\":\"input_required\",\"inputRequests\":{\"c\\\"1\":{\"method\":"
                 "\"elicitation/create\",\"params\":{}},\"r\":{\"method\":\"roots/list\"}},"
                 "\"requestState\":\"{\\\"n\\\": \\u0031}\"}",
                 ",\"inputResponses\":{\"c\\\"1\":{\"action\":\"cancel\"},\"r\":{\"roots\":[]}},"
                 "\"requestState\":\"{\\\"n\\\": \\u0031}\"");
    expect_input("{\"resultType\":\"input_required\",\"requestState\":\"s\"}",
                 ",\"requestState\":\"s\"");
    expect_input("{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
                 "\"elicitation/create\"}}}",
                 ",\"inputResponses\":{\"a\":{\"action\":\"cancel\"}}");
    expect_input("{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
                 "\"sampling/createMessage\"}}}",
                 "it wants an answer to sampling/createMessage");
    expect_input("{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":7}}",
                 "it wants an answer to an unknown request");
    mortise_test_true(!result_wants_input("{\"resultType\":\"complete\"}"));
    mortise_test_true(!result_wants_input("{}"));
}

int main(void)
{
    test = mortise_test_open(NULL);
    gives_text();
    attaches();
    gives_structure();
    fails();
    gives_much();
    attaches_no_more_than_it_may();
    answers_input();
    return mortise_test_close(test);
}
