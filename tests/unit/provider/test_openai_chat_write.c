/* What requests of Chat Completions are (D7, D13, D14, D17; FAULTS 15, 80, 122). */
#include "wire_history.h"

#include <stdio.h>

#include "base/json.h"
#include "unit/base/failing.h"

static char *write_as(const struct profile *profile, const struct history *history,
                      struct toolset *tools, const struct request_config *config)
{
    struct request request = {.system = "Be brief.",
                              .items = history->items,
                              .item_count = history->count,
                              .tools = tools,
                              .config = config};
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    bool written = wire_openai_chat.write(&body, profile, "m1", &request, &error);
    assert_string_equal(error.message, "");
    assert_true(written);
    json_t *document = json_parse(body.data, body.length, NULL, &error);
    assert_string_equal(error.message, "");
    json_decref(document);
    return text_take(&body, NULL);
}

static char *write_for(const char *provider, const struct history *history, struct toolset *tools,
                       const struct request_config *config)
{
    return write_as(profile_of(provider), history, tools, config);
}

static void messages_are(const char *provider, const struct history *history, const char *expected)
{
    char *body = write_for(provider, history, NULL, NULL);
    const char *messages =
        strstr(body, "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}");
    assert_non_null(messages);
    messages = strchr(messages, '}') + 1;
    assert_true(strlen(messages) > strlen(expected));
    assert_memory_equal(messages, expected, strlen(expected));
    assert_string_equal(messages + strlen(expected),
                        "],\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    free(body);
}

static void fill_conversation_with(struct history *history, const char *arguments)
{
    say(history, ROLE_USER, "Hi \"you\"\n\xE6\x97\xA5");
    say(history, ROLE_ASSISTANT, "On it.");
    call(history, "c1", "add", arguments, true);
    call(history, "c2", "add", "{\"n\": oops", false);
    answer_call(history, "c1", "3", false);
    answer_call(history, "c2", "no JSON", true);
}

static void fill_conversation(struct history *history)
{
    fill_conversation_with(history, "{\"n\": 2512292042121000001}");
}

#define CONVERSATION                                                                               \
    ",{\"role\":\"user\",\"content\":\"Hi \\\"you\\\"\\n\xE6\x97\xA5\"}"                           \
    ",{\"role\":\"assistant\",\"content\":\"On it.\",\"tool_calls\":["                             \
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"add\","                         \
    "\"arguments\":\"{\\\"n\\\": 2512292042121000001}\"}},"                                        \
    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{}\"}}]}" \
    ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"3\"}"                               \
    ",{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"Error: no JSON\"}"

static void test_golden_request(void **state)
{
    (void)state;
    static const char *const stop[] = {"END", NULL};
    struct request_config config = {100, 0.1, 0.5, 40, stop, "low"};
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history);
    char *body = write_for("openai", &history, &tools, &config);
    assert_string_equal(
        body,
        "{\"model\":\"m1\",\"tools\":["
        "{\"type\":\"function\",\"function\":{\"name\":\"add\",\"description\":\"Adds.\","
        "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"now\","
        "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"
        "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}" CONVERSATION "]"
        ",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
        "\"max_completion_tokens\":100,\"temperature\":0.1,\"top_p\":0.5,\"stop\":[\"END\"],"
        "\"reasoning_effort\":\"low\"}");
    free(body);
    body = write_for("mistral", &history, NULL, &config);
    assert_non_null(strstr(body, "\"max_tokens\":100"));
    assert_null(strstr(body, "\"tools\""));
    free(body);
    history_release(&history);
    toolset_release(&tools);
}

/* What a server does its own way is said by its profile, and by nothing else (W100, W101). */
static void test_a_profile_decides(void **state)
{
    (void)state;
    static const char *const stop[] = {"END", NULL};
    static const char *const some[] = {"stop", "temperature", "reasoning", "top_p", NULL};
    static const char *const others[] = {"max_tokens", "top_k", NULL};
    struct request_config config = {100, 0.1, 0.5, 40, stop, "low"};
    struct history history;
    history_init(&history);
    say(&history, ROLE_USER, "Hi");
    const struct {
        struct profile profile;
        const char *end;
    } cases[] = {
        {{.unsupported = some}, "\"stream_options\":{\"include_usage\":true},\"max_tokens\":100,"
                                "\"top_k\":40}"},
        {{.unsupported = others, .no_stream_options = true},
         "\"stream\":true,\"temperature\":0.1,\"top_p\":0.5,\"stop\":[\"END\"],"
         "\"reasoning_effort\":\"low\"}"},
        {{.max_tokens_field = "most", .no_stream_options = true},
         "\"stream\":true,\"most\":100,\"temperature\":0.1,\"top_p\":0.5,\"stop\":[\"END\"],"
         "\"reasoning_effort\":\"low\"}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile profile = cases[i].profile;
        profile.name = "own";
        profile.wire = &wire_openai_chat;
        char *body = write_as(&profile, &history, NULL, &config);
        size_t length = strlen(cases[i].end);
        assert_true(strlen(body) > length);
        assert_string_equal(body + strlen(body) - length, cases[i].end);
        free(body);
    }
    history_release(&history);
}

/* FAULTS 115: whole, or in the few words that a profile says; one set of tools may be told both
 * ways. */
static void test_schemas_as_the_server_takes_them(void **state)
{
    (void)state;
    static const struct tool_definition list[] = {
        {"add", "", "{\"type\":\"object\",\"properties\":{\"n\":{\"multipleOf\":2}}}"}};
    const struct profile own = {
        .name = "own", .wire = &wire_openai_chat, .reduced_schemas = true};
    struct toolset tools = {.items = malloc(sizeof(list)), .count = 1};
    struct history history;
    assert_non_null(tools.items);
    memcpy(tools.items, list, sizeof(list));
    history_init(&history);
    for (int round = 0; round < 2; round++) {
        char *body = write_for("openai", &history, &tools, NULL);
        assert_non_null(strstr(body, "\"multipleOf\""));
        free(body);
        body = write_as(&own, &history, &tools, NULL);
        assert_null(strstr(body, "\"multipleOf\""));
        assert_non_null(strstr(body, "\"n\""));
        free(body);
    }
    history_release(&history);
    toolset_release(&tools);
}

static void test_unset_values_stay_away(void **state)
{
    (void)state;
    struct request_config config = REQUEST_CONFIG_INIT;
    struct history history;
    history_init(&history);
    char *body = write_for("openai", &history, NULL, &config);
    assert_string_equal(
        body, "{\"model\":\"m1\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}],"
              "\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    free(body);
    history_release(&history);
}

/* D17: the next request begins with the bytes of this one, and old items are not written anew. */
static void test_prefix(void **state)
{
    (void)state;
    struct toolset tools = two_tools();
    struct history history;
    history_init(&history);
    fill_conversation(&history);
    char *first = write_for("openai", &history, &tools, NULL);
    const char *kept = history.items[0]->wire[WIRE_OPENAI_CHAT].data;
    assert_non_null(kept);
    say(&history, ROLE_ASSISTANT, "Done.");
    say(&history, ROLE_USER, "Thanks");
    char *second = write_for("openai", &history, &tools, NULL);
    assert_ptr_equal(history.items[0]->wire[WIRE_OPENAI_CHAT].data, kept);
    assert_memory_equal(first, second, (size_t)(strstr(first, "],\"stream\"") - first));
    free(first);
    free(second);
    history_release(&history);
    toolset_release(&tools);
}

/* D13: a batch's results stand in call order right behind it, wherever they were stored. */
static void test_order_of_results(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "c1", "f", "{}", true);
    call(&history, "c2", "f", "", true);
    answer_call(&history, "c2", "two", false);
    say(&history, ROLE_USER, "and?");
    answer_call(&history, "c1", "error: one", true);
    messages_are(
        "openai", &history,
        ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
        "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
        "{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}"
        ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"error: one\"}"
        ",{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"two\"}"
        ",{\"role\":\"user\",\"content\":\"and?\"}");
    history_release(&history);
}

static void test_messages_of_the_assistant(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    say(&history, ROLE_ASSISTANT, "one");
    say(&history, ROLE_ASSISTANT, "two");
    add(&history, item_reasoning("hm", 2));
    say(&history, ROLE_USER, "");
    say(&history, ROLE_ASSISTANT, "");
    say(&history, ROLE_SYSTEM, "Note.");
    messages_are("openai", &history,
                 ",{\"role\":\"assistant\",\"content\":\"one\"}"
                 ",{\"role\":\"assistant\",\"content\":\"two\"}"
                 ",{\"role\":\"user\",\"content\":\"\"}"
                 ",{\"role\":\"system\",\"content\":\"Note.\"}");
    history_release(&history);
}

/* The texts of one response are one message, with its calls. */
static void test_one_response_is_one_message(void **state)
{
    (void)state;
    struct origin *origin = origin_new("openai", "m1");
    struct history history;
    history_init(&history);
    say(&history, ROLE_ASSISTANT, "a\"");
    call(&history, "c1", "f", "{}", true);
    say(&history, ROLE_ASSISTANT, "\"b");
    say(&history, ROLE_ASSISTANT, "c");
    for (size_t i = 0; i < history.count; i++)
        history.items[i]->origin = origin_ref(origin);
    answer_call(&history, "c1", "ok", false);
    messages_are(
        "openai", &history,
        ",{\"role\":\"assistant\",\"content\":\"a\\\"\\\"bc\",\"tool_calls\":["
        "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}"
        ",{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ok\"}");
    origin_unref(origin);
    history_release(&history);
}

/* 80: who wants the reasoning back gets it, with every message; nobody else does. */
static void test_reasoning_goes_back(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    add(&history, item_reasoning("Need ", 5));
    add(&history, item_reasoning("it.", 3));
    say(&history, ROLE_ASSISTANT, "On it.");
    say(&history, ROLE_USER, "So?");
    say(&history, ROLE_ASSISTANT, "Yes.");
    messages_are(
        "deepseek", &history,
        ",{\"role\":\"assistant\",\"content\":\"On it.\",\"reasoning_content\":\"Need it.\"}"
        ",{\"role\":\"user\",\"content\":\"So?\"}"
        ",{\"role\":\"assistant\",\"content\":\"Yes.\",\"reasoning_content\":\"\"}");
    messages_are("openai", &history,
                 ",{\"role\":\"assistant\",\"content\":\"On it.\"}"
                 ",{\"role\":\"user\",\"content\":\"So?\"}"
                 ",{\"role\":\"assistant\",\"content\":\"Yes.\"}");
    history_release(&history);
}

/* D14, 122: odd ids are mapped, the same for call and result, except for who gave them; odd
 * names are made acceptable. */
static void test_ids_and_names(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "functions.f:0", "functions.f", "{}", true);
    answer_call(&history, "functions.f:0", "ok", false);
    char *body = write_for("openai", &history, NULL, NULL);
    assert_null(strstr(body, "functions.f"));
    assert_non_null(strstr(body, "\"name\":\"functions_f_"));
    char id[64] = "", result[64] = "";
    assert_int_equal(sscanf(strstr(body, "\"id\":"), "\"id\":\"%63[^\"]\"", id), 1);
    assert_int_equal(sscanf(strstr(body, "tool_call_id"), "tool_call_id\":\"%63[^\"]\"", result),
                     1);
    assert_string_equal(id, result);
    free(body);

    history.items[0]->origin = origin_new("kimi", "m1");
    const struct profile kimi = {.name = "kimi", .wire = &wire_openai_chat};
    body = write_as(&kimi, &history, NULL, NULL);
    assert_non_null(strstr(body, "\"id\":\"functions.f:0\""));
    assert_non_null(strstr(body, "\"tool_call_id\":\"functions.f:0\""));
    free(body);

    body = write_for("mistral", &history, NULL, NULL);
    assert_int_equal(sscanf(strstr(body, "\"id\":"), "\"id\":\"%63[^\"]\"", id), 1);
    assert_int_equal(strlen(id), 9);
    assert_int_equal(strcspn(id, "_-:."), 9);
    free(body);
    history_release(&history);
}

/* 15: nothing lone ever leaves, not even escaped within arguments. */
static void test_lone_surrogates_in_arguments(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "c1", "f", "{\"a\":\"x\\ud83d\"}", true);
    answer_call(&history, "c1", "ok", false);
    char *body = write_for("openai", &history, NULL, NULL);
    assert_null(strstr(body, "ud83d"));
    assert_non_null(strstr(body, "{\\\"a\\\":\\\"x\xEF\xBF\xBD\\\"}"));
    free(body);
    history_release(&history);
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
    assert_false(wire_openai_chat.write(&body, profile_of("openai"), "m1", &request, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "c1"));
    text_release(&body);
    history_release(&history);
}

static void test_writing_without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct request_config config = {100, 0.1, 0.5, 40, NULL, "low"};
        struct toolset tools = two_tools();
        struct history history;
        struct error error = ERROR_INIT;
        struct text body = TEXT_INIT;
        history_init(&history);
        /* jansson asserts when it has no memory for a number of more than 16 digits. */
        fill_conversation_with(&history, "{\"n\": 7}");
        struct request request = {.system = "Be brief.",
                                  .items = history.items,
                                  .item_count = history.count,
                                  .tools = &tools,
                                  .config = &config};
        fail_after(allowed);
        bool written = wire_openai_chat.write(&body, profile_of("openai"), "m1", &request, &error);
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
        cmocka_unit_test(test_a_profile_decides),
        cmocka_unit_test(test_schemas_as_the_server_takes_them),
        cmocka_unit_test(test_unset_values_stay_away),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_order_of_results),
        cmocka_unit_test(test_messages_of_the_assistant),
        cmocka_unit_test(test_one_response_is_one_message),
        cmocka_unit_test(test_reasoning_goes_back),
        cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_lone_surrogates_in_arguments),
        cmocka_unit_test(test_unpaired_history_is_refused),
        cmocka_unit_test(test_writing_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
