/* What requests of Chat Completions are (D7, D13, D14, D17; FAULTS 15, 80, 122). */
#include "writer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}"
#define CALL(id, name, json)                                                                       \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name                      \
    "\",\"arguments\":\"" json "\"}}"
#define CALLS(content, calls)                                                                      \
    "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[" calls "]}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define SYSTEM           "\"messages\":[" SAY("system", "Be brief.")
#define TAIL             "],\"stream\":true,\"stream_options\":{\"include_usage\":true}"
#define TOOLS                                                                                      \
    "\"tools\":["                                                                                  \
    "{\"type\":\"function\",\"function\":{\"name\":\"add\",\"description\":\"Adds.\","             \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}},"        \
    "{\"type\":\"function\",\"function\":{\"name\":\"now\","                                       \
    "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]"

/* The system's message is one of them, so that those of the conversation begin with a comma. */
static struct writer writer = {
    .wire = &wire_openai_chat,
    .provider = "openai",
    .front = "{\"model\":\"m1\",",
    .open = SYSTEM,
    .close = TAIL "}",
    .reasoning = "low",
    .tools = TOOLS ",",
    .conversation = "," SAY("user", "Hi \\\"you\\\"\\n\xE6\x97\xA5") "," CALLS(
        "\"On it.\"",
        CALL("c1", "add", "{\\\"n\\\": 2512292042121000001}") "," CALL(
            "c2", "add", "{}")) "," RESULT("c1", "three") "," RESULT("c2", "Error: no JSON"),
    .tail = TAIL ",\"max_completion_tokens\":100,\"temperature\":0.1,\"top_p\":0.5,"
                 "\"stop\":[\"END\"],\"reasoning_effort\":\"low\"}",
    .results = "," SAY("user", "Hi") "," CALLS(
        "null",
        CALL("c1", "add", "{}") "," CALL("c2", "now", "{}") "," CALL(
            "c3", "add",
            "{}")) "," RESULT("c1",
                              "") "," RESULT("c2",
                                             "error: two") "," RESULT("c3",
                                                                      "Error") "," SAY("user",
                                                                                       "and?"),
    .odd = {"", "," SAY("assistant", " \\n"),
            "," SAY("assistant", " \\n") "," SAY("assistant", "Hello") "," SAY(
                "assistant", "again") "," SAY("user", "") "," SAY("system", "Note.")},
};

static void test_the_older_name_of_the_limit(void **state)
{
    (void)state;
    struct request_config config = REQUEST_CONFIG_INIT;
    struct history history;
    history_init(&history);
    config.max_tokens = 100;
    char *body = write_as(profile_of("mistral"), "m1", &history, NULL, &config);
    assert_non_null(strstr(body, ",\"max_tokens\":100}"));
    free(body);
    history_release(&history);
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
        {{.unsupported = some},
         "\"stream_options\":{\"include_usage\":true},\"max_tokens\":100,"
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
        char *body = write_as(&profile, "m1", &history, NULL, &config);
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
    const struct profile own = {.name = "own", .wire = &wire_openai_chat, .reduced_schemas = true};
    struct toolset tools = {.items = malloc(sizeof(list)), .count = 1};
    struct history history;
    assert_non_null(tools.items);
    memcpy(tools.items, list, sizeof(list));
    history_init(&history);
    for (int round = 0; round < 2; round++) {
        char *body = write_with(&writer, "m1", &history, &tools, NULL);
        assert_non_null(strstr(body, "\"multipleOf\""));
        free(body);
        body = write_as(&own, "m1", &history, &tools, NULL);
        assert_null(strstr(body, "\"multipleOf\""));
        assert_non_null(strstr(body, "\"n\""));
        free(body);
    }
    history_release(&history);
    toolset_release(&tools);
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
        &writer, profile_of("openai"), "m1", &history,
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
        &writer, profile_of("deepseek"), "m1", &history,
        ",{\"role\":\"assistant\",\"content\":\"On it.\",\"reasoning_content\":\"Need it.\"}"
        ",{\"role\":\"user\",\"content\":\"So?\"}"
        ",{\"role\":\"assistant\",\"content\":\"Yes.\",\"reasoning_content\":\"\"}");
    messages_are(&writer, profile_of("openai"), "m1", &history,
                 ",{\"role\":\"assistant\",\"content\":\"On it.\"}"
                 ",{\"role\":\"user\",\"content\":\"So?\"}"
                 ",{\"role\":\"assistant\",\"content\":\"Yes.\"}");
    history_release(&history);
}

/* D14; FAULTS 122, 123: odd ids are mapped, the same for call and result, except for who gave them;
 * odd names are made acceptable. */
static void test_ids_and_names(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    call(&history, "functions.f:0", "functions.f", "{}", true);
    answer_call(&history, "functions.f:0", "ok", false);
    char *body = write_with(&writer, "m1", &history, NULL, NULL);
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
    body = write_as(&kimi, "m1", &history, NULL, NULL);
    assert_non_null(strstr(body, "\"id\":\"functions.f:0\""));
    assert_non_null(strstr(body, "\"tool_call_id\":\"functions.f:0\""));
    free(body);

    body = write_as(profile_of("mistral"), "m1", &history, NULL, NULL);
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
    char *body = write_with(&writer, "m1", &history, NULL, NULL);
    assert_null(strstr(body, "ud83d"));
    assert_non_null(strstr(body, "{\\\"a\\\":\\\"x\xEF\xBF\xBD\\\"}"));
    free(body);
    history_release(&history);
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        WRITER_TESTS(&writer),
        cmocka_unit_test(test_the_older_name_of_the_limit),
        cmocka_unit_test(test_a_profile_decides),
        cmocka_unit_test(test_schemas_as_the_server_takes_them),
        cmocka_unit_test(test_one_response_is_one_message),
        cmocka_unit_test(test_reasoning_goes_back),
        cmocka_unit_test(test_ids_and_names),
        cmocka_unit_test(test_lone_surrogates_in_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
