/* What requests of Gemini are (D7, D13, D14, D15, D17; F70, F71; FAULTS 110, 111, 116). */
#include "writer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(text)   "{\"text\":\"" text "\"}"
#define USER(parts)  "{\"role\":\"user\",\"parts\":[" parts "]}"
#define MODEL(parts) "{\"role\":\"model\",\"parts\":[" parts "]}"
#define CALL(name, json, more)                                                                     \
    "{\"functionCall\":{\"name\":\"" name "\",\"args\":" json "}" more "}"
#define RESULT(id, name, json)                                                                     \
    "{\"functionResponse\":{" id "\"name\":\"" name "\",\"response\":" json "}}"
#define SETTINGS "],\"generationConfig\":{\"candidateCount\":1"
#define SYSTEM   "\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"contents\":["
#define TOOLS                                                                                      \
    "\"tools\":[{\"functionDeclarations\":["                                                       \
    "{\"name\":\"add\",\"description\":\"Adds.\",\"parametersJsonSchema\":"                        \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"                        \
    "{\"name\":\"now\",\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{}}}]}]"

/* 110: an id is echoed when the server gave it.  111: calls without a signature. */
#define SAID                                                                                       \
    "{\"text\":\"t\",\"thought\":true},{\"functionCall\":{\"id\":\"v1\",\"name\":\"add\","         \
    "\"args\":{ }},\"thoughtSignature\":\"s\"},{\"functionCall\":{\"name\":\"now\",\"args\":{}}}"
#define SESSION(said, id)                                                                          \
    USER(TEXT("Hi"))                                                                               \
    "," MODEL(said) "," USER(                                                                      \
        RESULT(id, "add", "{\"result\":\"ok\"}") "," RESULT("", "now", "{\"result\":\"noon\"}"))
#define NEUTRAL(sign) SESSION(CALL("add", "{}", sign) "," CALL("now", "{}", ""), "")
#define SKIP          ",\"thoughtSignature\":\"skip_thought_signature_validator\""

static const struct writer_verbatim verbatims[] = {
    {"gemini", "gemini-3-pro-preview", 3, "gemini-3-pro-preview", SESSION(SAID, "\"id\":\"v1\",")},
    {"gemini", "gemini-3-pro-preview", 3, "gemini-2.5-flash", NEUTRAL("")},
    {"gemini", "gemini-3-pro-preview", 3, "gemini-3-flash", NEUTRAL(SKIP)},
    {"anthropic", "gemini-3-pro-preview", 3, "gemini-3-pro-preview", NEUTRAL(SKIP)},
    /* as if one item had been taken out */
    {"gemini", "gemini-3-pro-preview", 4, "gemini-3-pro-preview", NEUTRAL(SKIP)},
};

static const struct writer_setting settings[] = {
    {"gemini-2.5-flash", NULL, -1, NAN, SETTINGS "}}"},
    {"gemini-2.5-flash", "low", -1, NAN,
     ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":2048}}}"},
    {"gemini-2.5-flash", "high", 4000, NAN,
     ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":2000}}}"},
    {"gemini-2.5-flash", "high", 1000, NAN, ",\"thinkingConfig\":{\"includeThoughts\":true}}}"},
    {"gemini-3-flash", "medium", -1, NAN,
     ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"medium\"}}}"},
    {"gemini-3-pro-preview", "medium", -1, NAN,
     ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"high\"}}}"},
};

static struct writer writer = {
    .wire = &wire_gemini,
    .provider = "gemini",
    .front = "{",
    .open = SYSTEM,
    .close = SETTINGS "}}",
    .tools = TOOLS ",",
    .conversation = USER(TEXT("Hi \\\"you\\\"\\n\xE6\x97\xA5")) "," MODEL(
        TEXT("On it.") "," CALL("add", "{\"n\": 2512292042121000001}", "") "," CALL(
            "add", "{}",
            "")) "," USER(RESULT("", "add",
                                 "{\"result\":\"three\"}") "," RESULT("", "add",
                                                                      "{\"error\":\"no JSON\"}")),
    .tail = SETTINGS ",\"maxOutputTokens\":100,\"temperature\":0.1,"
                     "\"topP\":0.5,\"topK\":40,\"stopSequences\":[\"END\"]}}",
    /* 116: in one content, before any text */
    .results = USER(TEXT("Hi")) "," MODEL(CALL("add", "{}", "") "," CALL("now", "{}", "") "," CALL(
        "add", "{}",
        "")) "," USER(RESULT("", "add",
                             "{\"result\":\"\"}") "," RESULT("", "now",
                                                             "{\"error\":\"error: "
                                                             "two\"}") "," RESULT("", "add",
                                                                                  "{\"er"
                                                                                  "ror\""
                                                                                  ":\"\""
                                                                                  "}") "," TEXT("an"
                                                                                                "d"
                                                                                                "?")),
    .odd = {USER(TEXT("(empty message)")), USER(TEXT("(empty message)")),
            USER(TEXT("(start of the conversation)")) "," MODEL(TEXT("Hello") "," TEXT(
                "again")) "," USER(TEXT("(empty message)") "," TEXT("<system>Note.</system>"))},
    .settings = TABLE(settings),
    .verbatim = "[" SAID "]",
    .verbatims = TABLE(verbatims),
    .marks = {"\"id\":\"v1\",\"name\":\"add\",\"response\"", "\"response\":{\"a\":1}"},
};

/* 111: of each content the first call is looked at, whatever stands before it. */
static void test_the_first_call_of_each_content(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "c1", "add", "{}", true);
    answer_call(&history, "c1", "a", false);
    call(&history, "c2", "add", "{}", true);
    answer_call(&history, "c2", "b", false);
    say(&history, ROLE_ASSISTANT, "Once more.");
    call(&history, "c3", "add", "{}", true);
    call(&history, "c4", "add", "{}", true);
    answer_call(&history, "c3", "c", false);
    answer_call(&history, "c4", "d", false);
    messages_are(
        &writer, profile_of("gemini"), "gemini-3-flash", &history,
        USER(TEXT("(start of the conversation)")) "," MODEL(CALL("add", "{}", SKIP)) "," USER(RESULT("", "add", "{\"result\":\"a\"}")) "," MODEL(CALL(
            "add", "{}",
            SKIP)) "," USER(RESULT("", "add",
                                   "{\"result\":\"b\"}")) "," MODEL(TEXT("Once more.") "," CALL("ad"
                                                                                                "d",
                                                                                                "{"
                                                                                                "}",
                                                                                                SKIP) "," CALL("add",
                                                                                                               "{}",
                                                                                                               "")) "," USER(RESULT("",
                                                                                                                                    "add",
                                                                                                                                    "{\"result\":\"c\"}") "," RESULT("",
                                                                                                                                                                     "add",
                                                                                                                                                                     "{\"result\":\"d\"}")));
    history_release(&history);
}

/* F71: an object as it is, to the letter; all else below "result". */
static void test_results(void **state)
{
    (void)state;
    static const struct {
        const char *text, *response;
        bool is_error;
    } cases[] = {
        {"{\"a\": 1.50}", "{\"a\": 1.50}", false},
        {"[1,\"x\"]", "{\"result\":[1,\"x\"]}", false},
        {"42", "{\"result\":42}", false},
        {"2512292042121000001", "{\"result\":\"2512292042121000001\"}", false},
        {"true", "{\"result\":true}", false},
        {"null", "{\"result\":null}", false},
        {"\"x\"", "{\"result\":\"x\"}", false},
        {"x \"y\"\n", "{\"result\":\"x \\\"y\\\"\\n\"}", false},
        {"{\"a\":", "{\"result\":\"{\\\"a\\\":\"}", false},
        {"", "{\"result\":\"\"}", false},
        {"[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]",
         "{\"result\":\"[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]\"}", false},
        {"2", "{\"error\":\"2\"}", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[256];
        struct history history;
        history_init(&history);
        call(&history, "c1", "f", "{}", true);
        answer_call(&history, "c1", cases[i].text, cases[i].is_error);
        snprintf(expected, sizeof(expected), "\"response\":%s}}", cases[i].response);
        char *body = write_with(&writer, "m1", &history, NULL, NULL);
        if (!strstr(body, expected))
            fail_msg("%s\nis not in\n%s", expected, body);
        free(body);
        history_release(&history);
    }
}

/* D20: names that may not begin so here; a call of one comes back with what stands before it. */
static void test_names(void **state)
{
    (void)state;
    /* With the front before it the first would be too long. */
    static const char too_long[] = "0123456789-123456789-123456789-123456789-123456789-1234";
    static const struct tool_definition list[] = {
        {too_long, "", ""}, {"3d", "", ""}, {"-x", "", ""}, {"_y", "", ""}};
    struct toolset tools = {.items = malloc(sizeof(list)), .count = 4};
    struct history history;
    assert_non_null(tools.items);
    memcpy(tools.items, list, sizeof(list));
    history_init(&history);
    call(&history, "c1", "3d", "{}", true);
    answer_call(&history, "c1", "ok", false);
    call(&history, "c2", too_long, "{}", true);
    answer_call(&history, "c2", "ok", false);
    char *body = write_with(&writer, "m1", &history, &tools, NULL);
    assert_non_null(strstr(body, "Declarations\":[{\"name\":\"functions.3d\",\"par"));
    assert_null(strstr(body, too_long));
    const char *cut = strstr(body, "\"functions_0123456789-");
    assert_non_null(cut);
    assert_int_equal(strcspn(cut + 1, "\""), 64);
    assert_non_null(strstr(body, "{\"name\":\"functions.-x\",\"par"));
    assert_non_null(strstr(body, "{\"name\":\"_y\",\"par"));
    assert_non_null(strstr(body, "\"functionCall\":{\"name\":\"functions.3d\","));
    assert_non_null(strstr(body, "\"functionResponse\":{\"name\":\"functions.3d\","));
    free(body);
    history_release(&history);
    toolset_release(&tools);
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        WRITER_TESTS(&writer),
        WRITER_TEST(writer_sends_settings, &writer),
        WRITER_TEST(writer_sends_verbatim, &writer),
        WRITER_TEST(writer_sends_no_other_format, &writer),
        cmocka_unit_test(test_the_first_call_of_each_content),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
