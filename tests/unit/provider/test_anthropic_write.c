/* What requests of Anthropic Messages are (D7, D13, D14, D15, D17; FAULTS 100). */
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
    bool written = wire_anthropic.write(&body, profile_of("anthropic"), model, &request, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return text_take(&body, NULL);
}

static void messages_are(const struct history *history, const char *expected)
{
    char *body = write_with(history, "m1", NULL, NULL);
    char *messages = strstr(body, ",\"messages\":[") + strlen(",\"messages\":[");
    messages[strlen(messages) - strlen("],\"stream\":true,\"max_tokens\":8192}")] = '\0';
    assert_string_equal(messages, expected);
    free(body);
}

static void fill_conversation(struct history *history, const char *arguments)
{
    say(history, ROLE_USER, "Hi");
    add(history, item_reasoning("hm", 2));
    say(history, ROLE_ASSISTANT, "On it.");
    call(history, "c1", "add", arguments, true);
    call(history, "c2", "add", "{\"n\": oops", false);
    answer_call(history, "c1", "3", false);
    answer_call(history, "c2", "no JSON", true);
}

#define CONVERSATION                                                                               \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"                       \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"On it.\"},"                \
    "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\",\"input\":{\"n\": "                     \
    "2512292042121000001}},"                                                                       \
    "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"add\",\"input\":{}}]},"                       \
    "{\"role\":\"user\",\"content\":["                                                             \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"3\"},"                         \
    "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"no "                           \
    "JSON\",\"is_error\":true}]}"

static void test_golden_request(void **state)
{
    (void)state;
    static const char *const stop[] = {"END", NULL};
    struct request_config config = {100, 0.1, 0.5, 40, stop, NULL};
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history, "{\"n\": 2512292042121000001}");
    char *body = write_with(&history, "m1", &tools, &config);
    assert_string_equal(
        body,
        "{\"model\":\"m1\",\"tools\":["
        "{\"name\":\"add\",\"description\":\"Adds.\","
        "\"input_schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"
        "{\"name\":\"now\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}}],"
        "\"system\":\"Be brief.\",\"messages\":[" CONVERSATION "],\"stream\":true,"
        "\"max_tokens\":100,\"stop_sequences\":[\"END\"],"
        "\"temperature\":0.1,\"top_p\":0.5,\"top_k\":40}");
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
    fill_conversation(&history, "{}");
    char *first = write_with(&history, "m1", &tools, NULL);
    const char *kept = history.items[0]->wire[WIRE_ANTHROPIC].data;
    assert_non_null(kept);
    say(&history, ROLE_ASSISTANT, "Done.");
    say(&history, ROLE_USER, "Thanks");
    char *second = write_with(&history, "m1", &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[WIRE_ANTHROPIC].data, kept);
    assert_memory_equal(first, second, (size_t)(strstr(first, "]}],\"stream\"") - first));
    free(first);
    free(second);
    history_release(&history);
    toolset_release(&tools);
}

/* D13, 100: results in call order, in one message, before any text. */
static void test_order_of_results(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    call(&history, "c1", "add", "{}", true);
    call(&history, "c2", "add", "{}", true);
    say(&history, ROLE_USER, "and?");
    answer_call(&history, "c2", "", true);
    answer_call(&history, "c1", "", false);
    messages_are(
        &history,
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"
        "{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\",\"input\":{}},"
        "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"add\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\"},"
        "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"Error\","
        "\"is_error\":true},{\"type\":\"text\",\"text\":\"and?\"}]}");
    history_release(&history);
}

/* Whatever the history looks like, the server gets what it accepts. */
static void test_odd_conversations(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    messages_are(
        &history,
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(empty message)\"}]}");
    say(&history, ROLE_ASSISTANT, " \n");
    messages_are(
        &history,
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(empty message)\"}]}");
    say(&history, ROLE_ASSISTANT, "Hello");
    say(&history, ROLE_ASSISTANT, "again");
    say(&history, ROLE_USER, "");
    say(&history, ROLE_ASSISTANT, "");
    say(&history, ROLE_SYSTEM, "Note.");
    messages_are(&history,
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(start of the "
                 "conversation)\"}]},"
                 "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hello\"},"
                 "{\"type\":\"text\",\"text\":\"again\"}]},"
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"(empty message)\"},"
                 "{\"type\":\"text\",\"text\":\"<system>Note.</system>\"}]}");
    history_release(&history);
}

/* D15: to the letter for the same provider and model while the response is whole, neutral for
 * all else. */
static void test_verbatim_goes_back(void **state)
{
    (void)state;
    static const char verbatim[] =
        "[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"},"
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\",\"input\":{ }}]";
    static const char neutral[] =
        "[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\",\"input\":{}}]";
    struct origin *origin = origin_new("anthropic", "m1");
    origin->item_count = 2;
    origin->verbatim.data = strdup(verbatim);
    origin->verbatim.length = strlen(verbatim);
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    add(&history, item_reasoning("t", 1));
    call(&history, "c1", "add", "{}", true);
    history.items[1]->origin = origin_ref(origin);
    history.items[2]->origin = origin_ref(origin);
    answer_call(&history, "c1", "ok", false);

    char *body = write_with(&history, "m1", NULL, NULL);
    assert_non_null(strstr(body, verbatim));
    free(body);
    body = write_with(&history, "m2", NULL, NULL);
    assert_non_null(strstr(body, neutral));
    free(body);
    origin->item_count = 3; /* as if one item had been taken out */
    body = write_with(&history, "m1", NULL, NULL);
    assert_non_null(strstr(body, neutral));
    free(body);
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
        {"claude-sonnet-4-5", NULL, -1, ",\"max_tokens\":8192,\"temperature\":0.5}"},
        {"claude-sonnet-4-5", "low", -1,
         ",\"max_tokens\":10240,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048}}"},
        {"claude-sonnet-4-5", "high", 4000,
         ",\"max_tokens\":4000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}"},
        {"claude-sonnet-4-5", "high", 1000, ",\"max_tokens\":1000}"},
        {"claude-opus-4-6", "high", -1,
         ",\"max_tokens\":8192,\"thinking\":{\"type\":\"adaptive\"},"
         "\"output_config\":{\"effort\":\"high\"}}"},
    };
    struct history history;
    history_init(&history);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct request_config config = REQUEST_CONFIG_INIT;
        config.reasoning = cases[i].reasoning;
        config.max_tokens = cases[i].max_tokens;
        config.temperature = 0.5;
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
    assert_false(wire_anthropic.write(&body, profile_of("anthropic"), "m1", &request, &error));
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
        history_init(&history);
        fill_conversation(&history, "{\"n\": 7}");
        struct request request = {.system = "Be brief.",
                                  .items = history.items,
                                  .item_count = history.count,
                                  .tools = &tools};
        fail_after(allowed);
        bool written = wire_anthropic.write(&body, profile_of("anthropic"), "m1", &request, &error);
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
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_order_of_results),
        cmocka_unit_test(test_odd_conversations),
        cmocka_unit_test(test_verbatim_goes_back),
        cmocka_unit_test(test_thinking),
        cmocka_unit_test(test_unpaired_history_is_refused),
        cmocka_unit_test(test_writing_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
