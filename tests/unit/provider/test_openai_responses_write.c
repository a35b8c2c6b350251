/* What requests of OpenAI Responses are (D7, D13, D14, D15, D17; FAULTS 15, 97). */
#include "writer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}"
#define CALL(id, name, json)                                                                       \
    "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":\"" name                          \
    "\",\"arguments\":\"" json "\"}"
#define RESULT(id, text)                                                                           \
    "{\"type\":\"function_call_output\",\"call_id\":\"" id "\",\"output\":\"" text "\"}"
#define SYSTEM "\"instructions\":\"Be brief.\",\"input\":["
#define TAIL   "],\"stream\":true,\"store\":false,\"include\":[\"reasoning.encrypted_content\"]"
#define TOOLS                                                                                      \
    "\"tools\":["                                                                                  \
    "{\"type\":\"function\",\"name\":\"add\",\"description\":\"Adds.\","                           \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}},"          \
    "\"strict\":false},"                                                                           \
    "{\"type\":\"function\",\"name\":\"now\","                                                     \
    "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}]"

#define SAID                                                                                       \
    "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],\"encrypted_content\":\"e\"},"            \
    "{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"v1\",\"name\":\"add\","                \
    "\"arguments\":\"{ }\"},"                                                                      \
    "{\"type\":\"function_call\",\"id\":\"j\",\"call_id\":\"call_made\",\"name\":\"now\","         \
    "\"arguments\":\"{}\"}"
#define SESSION(said)                                                                              \
    SAY("user", "Hi") "," said "," RESULT("v1", "ok") "," RESULT("call_made", "noon")
#define NEUTRAL SESSION(CALL("v1", "add", "{}") "," CALL("call_made", "now", "{}"))

static const struct writer_verbatim verbatims[] = {
    {"openai-responses", "m1", 3, "m1", SESSION(SAID)},
    {"openai-responses", "m1", 3, "m2", NEUTRAL},
    {"openai", "m1", 3, "m1", NEUTRAL},
    {"openai-responses", "m1", 4, "m1", NEUTRAL}, /* as if one item had been taken out */
};

static struct writer writer = {
    .wire = &wire_openai_responses,
    .provider = "openai-responses",
    .front = "{\"model\":\"m1\",",
    .open = SYSTEM,
    .close = TAIL "}",
    .reasoning = "low",
    .tools = TOOLS ",",
    .conversation =
        SAY("user", "Hi \\\"you\\\"\\n\xE6\x97\xA5") "," SAY("assistant", "On it.") "," CALL(
            "c1", "add",
            "{\\\"n\\\": 2512292042121000001}") "," CALL("c2", "add",
                                                         "{}") "," RESULT("c1",
                                                                          "three") "," RESULT("c2",
                                                                                              "Erro"
                                                                                              "r: "
                                                                                              "no "
                                                                                              "JSO"
                                                                                              "N"),
    .tail = TAIL ",\"max_output_tokens\":100,\"temperature\":0.1,\"top_p\":0.5,"
                 "\"reasoning\":{\"effort\":\"low\"}}",
    .results = SAY("user", "Hi") "," CALL("c1", "add", "{}") "," CALL("c2", "now", "{}") "," CALL(
        "c3", "add",
        "{}") "," RESULT("c1", "") "," RESULT("c2",
                                              "error: two") "," RESULT("c3",
                                                                       "Error") "," SAY("user",
                                                                                        "and?"),
    .odd = {"", "",
            SAY("assistant", "Hello") "," SAY("assistant", "again") "," SAY("user", "") "," SAY(
                "system", "Note.")},
    .verbatim = "[" SAID "]",
    .verbatims = TABLE(verbatims),
};

/* Models that do not reason refuse to be asked for it. */
static void test_encrypted_reasoning_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        bool asked;
    } cases[] = {{"gpt-5", true},        {"o4-mini", true},
                 {"gpt-oss-20b", true},  {"gpt-4.1", false},
                 {"gpt-4o-mini", false}, {"gpt-5-chat-latest", false},
                 {"gpt-5.2", true},      {"gpt-5.2-chat-latest", false}};
    struct history history;
    history_init(&history);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *body = write_with(&writer, cases[i].model, &history, NULL, NULL);
        assert_int_equal(strstr(body, "encrypted_content") != NULL, cases[i].asked);
        free(body);
    }
    history_release(&history);
}

/* D14; FAULTS 122, 123: odd ids are mapped, the same for call and result; odd names are made
 * acceptable. */
static void test_ids_and_names(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "functions.f:0", "functions.f", "{\"a\":\"x\\ud83d\"}", true);
    answer_call(&history, "functions.f:0", "ok", false);
    char *body = write_with(&writer, "m1", &history, NULL, NULL);
    assert_null(strstr(body, "functions.f"));
    assert_non_null(strstr(body, "\"name\":\"functions_f_"));
    assert_null(strstr(body, "ud83d")); /* 15 */
    char id[64] = "", result[64] = "";
    const char *at = strstr(body, "call_id");
    assert_int_equal(sscanf(at, "call_id\":\"%63[^\"]\"", id), 1);
    assert_int_equal(sscanf(strstr(at + 1, "call_id"), "call_id\":\"%63[^\"]\"", result), 1);
    assert_string_equal(id, result);
    free(body);
    history_release(&history);
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        WRITER_TESTS(&writer),
        WRITER_TEST(writer_sends_verbatim, &writer),
        WRITER_TEST(writer_sends_no_other_format, &writer),
        cmocka_unit_test(test_encrypted_reasoning_is_asked_for),
        cmocka_unit_test(test_ids_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
