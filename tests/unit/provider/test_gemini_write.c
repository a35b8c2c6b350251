/* What requests of Gemini are (D7, D13, D14, D15, D17; F70, F71; FAULTS 110, 111, 116). */
#include "wire_history.h"

#include <stdio.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SETTINGS     "],\"generationConfig\":{\"candidateCount\":1"

static char *write_with(const struct history *history, const char *model, struct toolset *tools,
                        const struct request_config *config)
{
    struct request request = {.system = "Be brief.",
                              .items = history->items,
                              .item_count = history->count,
                              .tools = tools,
                              .config = config};
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    bool written = wire_gemini.write(&body, profile_of("gemini"), model, &request, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return text_take(&body, NULL);
}

static void contents_are(const struct history *history, const char *model, const char *expected)
{
    char *body = write_with(history, model, NULL, NULL);
    char *contents = strstr(body, "\"contents\":[") + strlen("\"contents\":[");
    contents[strlen(contents) - strlen(SETTINGS "}}")] = '\0';
    assert_string_equal(contents, expected);
    free(body);
}

static void fill_conversation(struct history *history)
{
    say(history, ROLE_USER, "Hi");
    add(history, item_reasoning("hm", 2));
    say(history, ROLE_ASSISTANT, "On it.");
    call(history, "c1", "add", "{\"n\": 2512292042121000001}", true);
    call(history, "c2", "add", "{\"n\": oops", false);
    answer_call(history, "c1", "three", false);
    answer_call(history, "c2", "no JSON", true);
}

#define CONVERSATION                                                                               \
    "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]},"                                           \
    "{\"role\":\"model\",\"parts\":[{\"text\":\"On it.\"},"                                        \
    "{\"functionCall\":{\"name\":\"add\",\"args\":{\"n\": 2512292042121000001}}},"                 \
    "{\"functionCall\":{\"name\":\"add\",\"args\":{}}}]},"                                         \
    "{\"role\":\"user\",\"parts\":["                                                               \
    "{\"functionResponse\":{\"name\":\"add\",\"response\":{\"result\":\"three\"}}},"               \
    "{\"functionResponse\":{\"name\":\"add\",\"response\":{\"error\":\"no JSON\"}}}]}"

static void test_golden_request(void **state)
{
    (void)state;
    static const char *const stop[] = {"END", NULL};
    struct request_config config = {100, 0.1, 0.5, 40, stop, NULL};
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history);
    char *body = write_with(&history, "m1", &tools, &config);
    assert_string_equal(
        body,
        "{\"tools\":[{\"functionDeclarations\":["
        "{\"name\":\"add\",\"description\":\"Adds.\",\"parametersJsonSchema\":"
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"
        "{\"name\":\"now\",\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{}}}]}],"
        "\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},"
        "\"contents\":[" CONVERSATION SETTINGS ",\"maxOutputTokens\":100,\"temperature\":0.1,"
        "\"topP\":0.5,\"topK\":40,\"stopSequences\":[\"END\"]}}");
    free(body);
    history_release(&history);
    toolset_release(&tools);
}

/* D17: the next request begins with the bytes of this one, and old items are not written anew. */
static void test_prefix(void **state)
{
    (void)state;
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history);
    char *first = write_with(&history, "m1", &tools, NULL);
    const char *kept = history.items[0]->wire[WIRE_GEMINI].data;
    assert_non_null(kept);
    say(&history, ROLE_ASSISTANT, "Done.");
    say(&history, ROLE_USER, "Thanks");
    char *second = write_with(&history, "m1", &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[WIRE_GEMINI].data, kept);
    assert_memory_equal(first, second, (size_t)(strstr(first, "]}" SETTINGS) - first));
    free(first);
    free(second);
    history_release(&history);
    toolset_release(&tools);
}

/* D13, 116: results in call order, in one content, before any text. */
static void test_order_of_results(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    call(&history, "c1", "add", "{}", true);
    call(&history, "c2", "now", "{}", true);
    say(&history, ROLE_USER, "and?");
    answer_call(&history, "c2", "2", true);
    answer_call(&history, "c1", "one", false);
    contents_are(&history, "m1",
                 "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]},"
                 "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"add\",\"args\":{}}},"
                 "{\"functionCall\":{\"name\":\"now\",\"args\":{}}}]},"
                 "{\"role\":\"user\",\"parts\":["
                 "{\"functionResponse\":{\"name\":\"add\",\"response\":{\"result\":\"one\"}}},"
                 "{\"functionResponse\":{\"name\":\"now\",\"response\":{\"error\":\"2\"}}},"
                 "{\"text\":\"and?\"}]}");
    history_release(&history);
}

/* F71: an object as it is, to the letter; all else below "result". */
static void test_results(void **state)
{
    (void)state;
    static const struct {
        const char *text, *response;
    } cases[] = {
        {"{\"a\": 1.50}", "{\"a\": 1.50}"},
        {"[1,\"x\"]", "{\"result\":[1,\"x\"]}"},
        {"42", "{\"result\":42}"},
        {"2512292042121000001", "{\"result\":\"2512292042121000001\"}"},
        {"true", "{\"result\":true}"},
        {"null", "{\"result\":null}"},
        {"\"x\"", "{\"result\":\"x\"}"},
        {"x \"y\"\n", "{\"result\":\"x \\\"y\\\"\\n\"}"},
        {"{\"a\":", "{\"result\":\"{\\\"a\\\":\"}"},
        {"", "{\"result\":\"\"}"},
        {"[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]",
         "{\"result\":\"[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char expected[256];
        struct history history;
        history_init(&history);
        call(&history, "c1", "f", "{}", true);
        answer_call(&history, "c1", cases[i].text, false);
        snprintf(expected, sizeof(expected), "\"response\":%s}}", cases[i].response);
        char *body = write_with(&history, "m1", NULL, NULL);
        if (!strstr(body, expected))
            fail_msg("%s\nis not in\n%s", expected, body);
        free(body);
        history_release(&history);
    }
}

/* Whatever the history looks like, the server gets what it accepts. */
static void test_odd_conversations(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    contents_are(&history, "m1", "{\"role\":\"user\",\"parts\":[{\"text\":\"(empty message)\"}]}");
    say(&history, ROLE_ASSISTANT, " \n");
    contents_are(&history, "m1", "{\"role\":\"user\",\"parts\":[{\"text\":\"(empty message)\"}]}");
    say(&history, ROLE_ASSISTANT, "Hello");
    say(&history, ROLE_ASSISTANT, "again");
    say(&history, ROLE_USER, "");
    say(&history, ROLE_ASSISTANT, "");
    say(&history, ROLE_SYSTEM, "Note.");
    contents_are(&history, "m1",
                 "{\"role\":\"user\",\"parts\":[{\"text\":\"(start of the conversation)\"}]},"
                 "{\"role\":\"model\",\"parts\":[{\"text\":\"Hello\"},{\"text\":\"again\"}]},"
                 "{\"role\":\"user\",\"parts\":[{\"text\":\"(empty message)\"},"
                 "{\"text\":\"<system>Note.</system>\"}]}");
    history_release(&history);
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
    char *body = write_with(&history, "m1", &tools, NULL);
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

/* ---- to the letter ---- */

static const char verbatim[] =
    "[{\"text\":\"t\",\"thought\":true},{\"functionCall\":{\"id\":\"c1\",\"name\":\"add\","
    "\"args\":{ }},\"thoughtSignature\":\"s\"},{\"functionCall\":{\"name\":\"now\",\"args\":{}}}]";

static struct origin *fill_verbatim(struct history *history)
{
    struct origin *origin = origin_new("gemini", "gemini-3-pro-preview");
    origin->item_count = 3;
    origin->verbatim.data = strdup(verbatim);
    origin->verbatim.length = strlen(verbatim);
    history_init(history);
    say(history, ROLE_USER, "Hi");
    add(history, item_reasoning("t", 1));
    call(history, "c1", "add", "{}", true);
    call(history, "call_made", "now", "{}", true);
    for (size_t i = 1; i < 4; i++)
        history->items[i]->origin = origin_ref(origin);
    answer_call(history, "c1", "ok", false);
    answer_call(history, "call_made", "noon", false);
    return origin;
}

#define NEUTRAL(signature)                                                                         \
    "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]},"                                           \
    "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"add\",\"args\":{}}" signature    \
    "},"                                                                                           \
    "{\"functionCall\":{\"name\":\"now\",\"args\":{}}}]},"                                         \
    "{\"role\":\"user\",\"parts\":["                                                               \
    "{\"functionResponse\":{\"name\":\"add\",\"response\":{\"result\":\"ok\"}}},"                  \
    "{\"functionResponse\":{\"name\":\"now\",\"response\":{\"result\":\"noon\"}}}]}"
#define SKIP ",\"thoughtSignature\":\"skip_thought_signature_validator\""

/* D15: to the letter for the same provider and model while the response is whole, neutral for
 * all else.  110: an id is echoed when the server gave it.  111: calls without a signature. */
static void test_verbatim_goes_back(void **state)
{
    (void)state;
    struct history history;
    struct origin *origin = fill_verbatim(&history);
    char expected[1024];
    snprintf(expected, sizeof(expected),
             "{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]},{\"role\":\"model\",\"parts\":%s},"
             "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c1\",\"name\":\"add\","
             "\"response\":{\"result\":\"ok\"}}},{\"functionResponse\":{\"name\":\"now\","
             "\"response\":{\"result\":\"noon\"}}}]}",
             verbatim);
    contents_are(&history, "gemini-3-pro-preview", expected);
    contents_are(&history, "gemini-2.5-flash", NEUTRAL(""));
    contents_are(&history, "gemini-3-flash", NEUTRAL(SKIP));
    origin->item_count = 4; /* as if one item had been taken out */
    contents_are(&history, "gemini-3-pro-preview", NEUTRAL(SKIP));
    origin_unref(origin);
    history_release(&history);
}

static void test_thinking(void **state)
{
    (void)state;
    static const struct {
        const char *model, *reasoning;
        int64_t max_tokens;
        const char *expected;
    } cases[] = {
        {"gemini-2.5-flash", NULL, -1, SETTINGS "}}"},
        {"gemini-2.5-flash", "low", -1,
         ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":2048}}}"},
        {"gemini-2.5-flash", "high", 4000,
         ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingBudget\":2000}}}"},
        {"gemini-2.5-flash", "high", 1000, ",\"thinkingConfig\":{\"includeThoughts\":true}}}"},
        {"gemini-3-flash", "medium", -1,
         ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"medium\"}}}"},
        {"gemini-3-pro-preview", "medium", -1,
         ",\"thinkingConfig\":{\"includeThoughts\":true,\"thinkingLevel\":\"high\"}}}"},
    };
    struct history history;
    history_init(&history);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct request_config config = REQUEST_CONFIG_INIT;
        config.reasoning = cases[i].reasoning;
        config.max_tokens = cases[i].max_tokens;
        char *body = write_with(&history, cases[i].model, NULL, &config);
        assert_non_null(strstr(body, cases[i].expected));
        free(body);
    }
    history_release(&history);
}

static void test_unpaired_history_is_refused(void **state)
{
    (void)state;
    struct history history;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    history_init(&history);
    call(&history, "c1", "add", "{}", true);
    struct request request = {.items = history.items, .item_count = history.count};
    assert_false(wire_gemini.write(&body, profile_of("gemini"), "m1", &request, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    text_release(&body);
    history_release(&history);
}

static void test_writing_without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct toolset tools = two_tools();
        struct history history;
        struct error error = ERROR_INIT;
        struct text body = TEXT_INIT;
        struct origin *origin = fill_verbatim(&history);
        call(&history, "c9", "3d", "{\"n\": 7}", true);
        answer_call(&history, "c9", "{\"a\":1}", false);
        struct request request = {.system = "Be brief.",
                                  .items = history.items,
                                  .item_count = history.count,
                                  .tools = &tools};
        fail_after(allowed);
        bool written = wire_gemini.write(&body, profile_of("gemini"), "gemini-3-pro-preview",
                                         &request, &error);
        failed = fail_never();
        assert_true(written || failed);
        assert_int_equal(error.kind, written ? ERROR_NONE : ERROR_INTERNAL);
        assert_true(!written || (strstr(body.data, "\"id\":\"c1\",\"name\":\"add\",\"response\"") &&
                                 strstr(body.data, "\"response\":{\"a\":1}")));
        text_release(&body);
        origin_unref(origin);
        history_release(&history);
        toolset_release(&tools);
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_request),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_order_of_results),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_odd_conversations),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_verbatim_goes_back),
        cmocka_unit_test(test_thinking),
        cmocka_unit_test(test_unpaired_history_is_refused),
        cmocka_unit_test(test_writing_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
