/* What requests of OpenAI Responses are (D7, D13, D14, D15, D17; FAULTS 15, 97). */
#include "wire_history.h"

#include <stdio.h>

#include "base/json.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
    bool written = wire_openai_responses.write(&body, profile_of("openai-responses"), model,
                                               &request, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return text_take(&body, NULL);
}

#define TAIL "],\"stream\":true,\"store\":false,\"include\":[\"reasoning.encrypted_content\"]}"

static void items_are(const struct history *history, const char *expected)
{
    char *body = write_with(history, "m1", NULL, NULL);
    char *items = strstr(body, ",\"input\":[") + strlen(",\"input\":[");
    char *tail = items + strlen(items) - strlen(TAIL);
    assert_string_equal(tail, TAIL);
    *tail = '\0';
    assert_string_equal(items, expected);
    free(body);
}

static void fill_conversation(struct history *history, const char *arguments)
{
    say(history, ROLE_USER, "Hi \"you\"");
    add(history, item_reasoning("hm", 2));
    say(history, ROLE_ASSISTANT, "On it.");
    call(history, "c1", "add", arguments, true);
    call(history, "c2", "add", "{\"n\": oops", false);
    answer_call(history, "c1", "3", false);
    answer_call(history, "c2", "no JSON", true);
}

#define CONVERSATION                                                                               \
    "{\"role\":\"user\",\"content\":\"Hi \\\"you\\\"\"},"                                          \
    "{\"role\":\"assistant\",\"content\":\"On it.\"},"                                             \
    "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"add\","                             \
    "\"arguments\":\"{\\\"n\\\": 2512292042121000001}\"},"                                         \
    "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"add\",\"arguments\":\"{}\"},"       \
    "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"3\"},"                     \
    "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"Error: no JSON\"}"

static void test_golden_request(void **state)
{
    (void)state;
    static const char *const stop[] = {"END", NULL};
    struct request_config config = {100, 0.1, 0.5, 40, stop, "low"};
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history, "{\"n\": 2512292042121000001}");
    char *body = write_with(&history, "m1", &tools, &config);
    assert_string_equal(
        body, "{\"model\":\"m1\",\"tools\":["
              "{\"type\":\"function\",\"name\":\"add\",\"description\":\"Adds.\","
              "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}},"
              "\"strict\":false},"
              "{\"type\":\"function\",\"name\":\"now\","
              "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false}],"
              "\"instructions\":\"Be brief.\",\"input\":[" CONVERSATION "],"
              "\"stream\":true,\"store\":false,\"include\":[\"reasoning.encrypted_content\"],"
              "\"max_output_tokens\":100,\"temperature\":0.1,\"top_p\":0.5,"
              "\"reasoning\":{\"effort\":\"low\"}}");
    free(body);
    history_release(&history);
    toolset_release(&tools);
}

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
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *body = write_with(&history, cases[i].model, NULL, NULL);
        assert_int_equal(strstr(body, "encrypted_content") != NULL, cases[i].asked);
        free(body);
    }
    history_release(&history);
}

/* D17: the next request begins with the bytes of this one, and old items are not written anew. */
static void test_prefix(void **state)
{
    (void)state;
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history, "{}");
    char *first = write_with(&history, "m1", &tools, NULL);
    const char *kept = history.items[0]->wire[WIRE_OPENAI_RESPONSES].data;
    assert_non_null(kept);
    say(&history, ROLE_ASSISTANT, "Done.");
    say(&history, ROLE_USER, "Thanks");
    char *second = write_with(&history, "m1", &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[WIRE_OPENAI_RESPONSES].data, kept);
    assert_memory_equal(first, second, (size_t)(strstr(first, "],\"stream\"") - first));
    free(first);
    free(second);
    history_release(&history);
    toolset_release(&tools);
}

/* D13: results in call order, before anything the user says. */
static void test_order_of_results(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "c1", "f", "{}", true);
    call(&history, "c2", "f", "{}", true);
    answer_call(&history, "c2", "two", false);
    say(&history, ROLE_USER, "and?");
    answer_call(&history, "c1", "error: one", true);
    items_are(&history,
              "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}\"},"
              "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"f\",\"arguments\":\"{}\"},"
              "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"error: one\"},"
              "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"two\"},"
              "{\"role\":\"user\",\"content\":\"and?\"}");
    history_release(&history);
}

static void test_odd_conversations(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    say(&history, ROLE_ASSISTANT, " \n");
    items_are(&history, "");
    say(&history, ROLE_ASSISTANT, "Hello");
    add(&history, item_reasoning("hm", 2));
    say(&history, ROLE_USER, "");
    say(&history, ROLE_SYSTEM, "Note.");
    items_are(&history, "{\"role\":\"assistant\",\"content\":\"Hello\"},"
                        "{\"role\":\"user\",\"content\":\"\"},"
                        "{\"role\":\"system\",\"content\":\"Note.\"}");
    history_release(&history);
}

/* D14: odd ids are mapped, the same for call and result; odd names are made acceptable. */
static void test_ids_and_names(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "functions.f:0", "functions.f", "{\"a\":\"x\\ud83d\"}", true);
    answer_call(&history, "functions.f:0", "ok", false);
    char *body = write_with(&history, "m1", NULL, NULL);
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

/* D15: to the letter for the same provider and model while the response is whole, neutral for
 * all else. */
static void test_verbatim_goes_back(void **state)
{
    (void)state;
    static const char verbatim[] =
        "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],\"encrypted_content\":\"e\"},"
        "{\"type\":\"function_call\",\"id\":\"i\",\"call_id\":\"c1\",\"name\":\"add\","
        "\"arguments\":\"{ }\"}";
    static const char before[] = "{\"role\":\"user\",\"content\":\"Hi\"},";
    static const char neutral[] =
        "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"add\",\"arguments\":\"{}\"}";
    static const char after[] =
        ",{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"ok\"}";
    static const struct {
        const char *provider, *model;
        size_t item_count;
        const char *expected;
    } cases[] = {
        {"openai-responses", "m1", 2, verbatim},
        {"openai-responses", "m2", 2, neutral},
        {"openai", "m1", 2, neutral},
        {"openai-responses", "m1", 3, neutral}, /* as if one item had been taken out */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct origin *origin = origin_new(cases[i].provider, cases[i].model);
        struct text array = TEXT_INIT, expected = TEXT_INIT;
        text_printf(&array, "[%s]", verbatim);
        text_printf(&expected, "%s%s%s", before, cases[i].expected, after);
        origin->item_count = cases[i].item_count;
        origin->verbatim.data = text_take(&array, &origin->verbatim.length);
        struct history history;
        history_init(&history);
        say(&history, ROLE_USER, "Hi");
        add(&history, item_reasoning("t", 1));
        call(&history, "c1", "add", "{}", true);
        history.items[1]->origin = origin;
        history.items[2]->origin = origin_ref(origin);
        answer_call(&history, "c1", "ok", false);
        items_are(&history, expected.data);
        history_release(&history);
        text_release(&expected);
    }
}

static void test_unpaired_history_is_refused(void **state)
{
    (void)state;
    struct history history;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    history_init(&history);
    call(&history, "c1", "f", "{}", true);
    struct request request = {.items = history.items, .item_count = history.count};
    assert_false(wire_openai_responses.write(&body, profile_of("openai-responses"), "m1",
                                             &request, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    text_release(&body);
    history_release(&history);
}

static void test_writing_without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct request_config config = {100, 0.1, 0.5, -1, NULL, "low"};
        struct toolset tools = two_tools();
        struct history history;
        struct error error = ERROR_INIT;
        struct text body = TEXT_INIT;
        history_init(&history);
        fill_conversation(&history, "{\"n\": 7}");
        struct request request = {.system = "Be brief.",
                                  .items = history.items,
                                  .item_count = history.count,
                                  .tools = &tools,
                                  .config = &config};
        fail_after(allowed);
        bool written =
            wire_openai_responses.write(&body, profile_of("openai-responses"), "m1", &request,
                                        &error);
        failed = fail_never();
        assert_true(written || failed);
        assert_int_equal(error.kind, written ? ERROR_NONE : ERROR_INTERNAL);
        text_release(&body);
        history_release(&history);
        toolset_release(&tools);
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_request),
        cmocka_unit_test(test_encrypted_reasoning_is_asked_for),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_order_of_results),
        cmocka_unit_test(test_odd_conversations),
        cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_verbatim_goes_back),
        cmocka_unit_test(test_unpaired_history_is_refused),
        cmocka_unit_test(test_writing_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
