/* The locked prefix of a request: where it ends, what stands in it, what a change of it is
 * (W11, D17). */
#include "wire_history.h"

#include "base/json.h"
#include "unit/base/failing.h"

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

/* A session with a locked prefix. */
struct session {
    const struct wire *wire;
    const char *provider;
    const char *model;
    const char *system;
    struct history history;
    struct toolset tools;
    struct request_config config;
    struct request_prefix prefix;
    struct request_start *start; /* or NULL */
    bool is_locked;
    size_t locked;
    struct text body;
    struct error error;
};

static void open_session(struct session *session, const struct wire *wire, const char *provider)
{
    *session = (struct session){.wire = wire,
                                .provider = provider,
                                .model = "m1",
                                .system = "Be brief.",
                                .tools = two_tools(),
                                .is_locked = true,
                                .config = REQUEST_CONFIG_INIT};
    history_init(&session->history);
    say(&session->history, ROLE_USER, "Hi");
    call(&session->history, "c1", "add", "{}", true);
    answer_call(&session->history, "c1", "3", false);
    say(&session->history, ROLE_ASSISTANT, "Three.");
}

static void close_session(struct session *session)
{
    history_release(&session->history);
    toolset_release(&session->tools);
    prefix_release(&session->prefix);
    text_release(&session->body);
}

static void lock(struct session *session)
{
    prefix_restart(&session->prefix);
    session->locked = session->history.count;
}

static bool write(struct session *session)
{
    struct request request = {
        .system = session->system,
        .items = session->history.items,
        .item_count = session->history.count,
        .tools = &session->tools,
        .config = &session->config,
        .prefix = session->is_locked ? &session->prefix : NULL,
        .locked_items = session->locked,
        .start = session->start,
    };
    error_clear(&session->error);
    text_reset(&session->body);
    bool written = session->wire->write(&session->body, profile_of(session->provider),
                                        session->model, &request, &session->error);
    if (written) {
        json_t *document = json_parse(session->body.data, session->body.length, NULL, NULL);
        assert_non_null(document);
        json_decref(document);
    }
    return written;
}

static void prefix_is(const struct session *session, const char *expected)
{
    assert_string_equal(text_cstr(&session->prefix.bytes), expected);
    assert_memory_equal(session->body.data, expected, strlen(expected));
}

#define OPENAI_HEAD                                                                                \
    "{\"model\":\"m1\",\"tools\":["                                                                \
    "{\"type\":\"function\",\"function\":{\"name\":\"add\",\"description\":\"Adds.\","             \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}},"        \
    "{\"type\":\"function\",\"function\":{\"name\":\"now\","                                       \
    "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"                                   \
    "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"}"
#define OPENAI_ITEMS                                                                               \
    ",{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":null,"            \
    "\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"add\","         \
    "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"3\"},"      \
    "{\"role\":\"assistant\",\"content\":\"Three."
#define ANTHROPIC_HEAD                                                                             \
    "{\"model\":\"m1\",\"tools\":[{\"name\":\"add\",\"description\":\"Adds.\","                    \
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"       \
    "{\"name\":\"now\",\"input_schema\":{\"type\":\"object\",\"properties\":{}}" MARK "}],"        \
    "\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"" MARK "}],\"messages\":["
#define ANTHROPIC_ITEMS                                                                            \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]},"                       \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"add\","  \
    "\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","                   \
    "\"tool_use_id\":\"c1\",\"content\":\"3\"}]},{\"role\":\"assistant\",\"content\":["            \
    "{\"type\":\"text\",\"text\":\"Three.\""

/* The glue that closes a message is not part of it: a later item may join the message. */
static void test_golden_prefixes(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, &wire_openai_chat, "openai");
    lock(&session);
    assert_true(write(&session));
    prefix_is(&session, OPENAI_HEAD OPENAI_ITEMS);
    assert_non_null(strstr(session.body.data, ",\"prompt_cache_key\":\""));
    assert_memory_equal(strstr(session.body.data, "_key\":\"") + 7, session.prefix.sha256, 32);
    close_session(&session);
    open_session(&session, &wire_openai_chat, "groq");
    lock(&session);
    assert_true(write(&session));
    assert_null(strstr(session.body.data, "prompt_cache_key"));
    close_session(&session);
    open_session(&session, &wire_anthropic, "anthropic");
    lock(&session);
    assert_true(write(&session));
    prefix_is(&session, ANTHROPIC_HEAD ANTHROPIC_ITEMS MARK "}");
    close_session(&session);
}

static void test_an_empty_history_can_be_locked(void **state)
{
    (void)state;
    struct session session;
    open_session(&session, &wire_openai_chat, "openai");
    assert_true(write(&session));
    prefix_is(&session, OPENAI_HEAD);
    close_session(&session);
    open_session(&session, &wire_anthropic, "anthropic");
    assert_true(write(&session));
    prefix_is(&session, ANTHROPIC_HEAD);
    close_session(&session);
}

static const struct {
    const struct wire *wire;
    const char *provider;
    bool model_is_in_path;
} wires[] = {{&wire_openai_chat, "openai", false},
             {&wire_openai_responses, "openai-responses", false},
             {&wire_anthropic, "anthropic", false},
             {&wire_gemini, "gemini", true}};
#define WIRES (sizeof(wires) / sizeof(wires[0]))

/* Items that are appended, and every setting, stand behind. */
static void test_a_session_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIRES; i++) {
        struct session session;
        static const char *const stop[] = {"END", NULL};
        open_session(&session, wires[i].wire, wires[i].provider);
        lock(&session);
        assert_true(write(&session));
        char hash[PREFIX_HASH_SIZE];
        memcpy(hash, session.prefix.sha256, sizeof(hash));
        assert_int_equal(strlen(hash), 64);
        say(&session.history, ROLE_ASSISTANT, "Or four.");
        call(&session.history, "c2", "now", "{}", true);
        answer_call(&session.history, "c2", "noon", false);
        say(&session.history, ROLE_USER, "Thanks");
        session.config = (struct request_config){100, 0.5, 0.25, 3, stop, "high"};
        if (!write(&session))
            fail_msg("%s", session.error.message);
        assert_string_equal(session.prefix.sha256, hash);
        close_session(&session);
    }
}

static struct item *other_item(void)
{
    return item_message(ROLE_USER, PART_INPUT_TEXT, "Ha", 2);
}

static void change(struct session *session, const char *what)
{
    if (!strcmp(what, "the model"))
        session->model = "m2";
    if (!strcmp(what, "the system prompt"))
        session->system = "Be long.";
    if (!strcmp(what, "the set of tools")) {
        session->tools.count = 1;
        for (size_t i = 0; i < WIRE_COUNT; i++) {
            free(session->tools.wire[i].data);
            session->tools.wire[i] = (struct bytes){0};
        }
    }
    if (!strcmp(what, "item 1")) {
        item_unref(session->history.items[0]);
        session->history.items[0] = other_item();
    }
    if (!strcmp(what, "item 4")) {
        item_unref(session->history.items[3]);
        session->history.items[3] = other_item();
    }
}

static void test_a_change_is_an_error_that_names_it(void **state)
{
    (void)state;
    static const char *const whats[] = {"the model", "the set of tools", "the system prompt",
                                        "item 1", "item 4"};
    for (size_t i = 0; i < WIRES; i++)
        for (size_t k = wires[i].model_is_in_path; k < sizeof(whats) / sizeof(*whats); k++) {
            struct session session;
            open_session(&session, wires[i].wire, wires[i].provider);
            lock(&session);
            assert_true(write(&session));
            change(&session, whats[k]);
            assert_false(write(&session));
            assert_int_equal(session.error.kind, ERROR_INTERNAL);
            if (strncmp(session.error.message, whats[k], strlen(whats[k])))
                fail_msg("'%s' does not name %s", session.error.message, whats[k]);
            close_session(&session);
        }
}

/* Unlock, change, lock: another prefix, and no error. */
static void test_a_new_lock_is_a_new_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIRES; i++) {
        struct session session;
        char hash[PREFIX_HASH_SIZE];
        open_session(&session, wires[i].wire, wires[i].provider);
        lock(&session);
        assert_true(write(&session));
        memcpy(hash, session.prefix.sha256, sizeof(hash));
        lock(&session);
        assert_true(write(&session));
        assert_string_equal(session.prefix.sha256, hash);
        say(&session.history, ROLE_USER, "More");
        lock(&session);
        assert_true(write(&session));
        assert_string_not_equal(session.prefix.sha256, hash);
        session.system = "Be long.";
        lock(&session);
        assert_true(write(&session));
        close_session(&session);
    }
}

/* A response that goes back to the letter is marked at its last block, but never thinking. */
static void test_marks_of_verbatim_responses(void **state)
{
    (void)state;
    static const struct {
        const char *verbatim, *expected;
    } cases[] = {
        {"[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"},"
         "{\"type\":\"text\",\"text\":\"Three.\"}]",
         "\"text\":\"Three.\"" MARK "}]}]"},
        {"[{\"type\":\"text\",\"text\":\"Three.\"},{\"type\":\"redacted_thinking\",\"data\":\"x\"}"
         "]",
         "\"content\":\"3\"" MARK "}]}"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct session session;
        open_session(&session, &wire_anthropic, "anthropic");
        struct origin *origin = origin_new("anthropic", "m1");
        origin->item_count = 1;
        origin->verbatim = (struct bytes){strdup(cases[i].verbatim), strlen(cases[i].verbatim)};
        session.history.items[3]->origin = origin;
        lock(&session);
        assert_true(write(&session));
        if (!strstr(session.body.data, cases[i].expected))
            fail_msg("%s", session.body.data);
        say(&session.history, ROLE_USER, "Thanks");
        assert_true(write(&session));
        close_session(&session);
    }
}

/* One step of a conversation that grows; all calls of a step are answered in it. */
static void grow(struct history *history, unsigned step)
{
    char id[16], other[16];
    snprintf(id, sizeof(id), "c_%u", step);
    snprintf(other, sizeof(other), "functions.f:%u", step);
    switch (step % 7) {
    case 0:
        say(history, ROLE_USER, "And then?");
        break;
    case 1:
        say(history, ROLE_ASSISTANT, "Let me see.");
        call(history, id, "add", "{}", true);
        call(history, other, "now", "{}", true);
        answer_call(history, other, "noon", false);
        answer_call(history, id, "4", true);
        break;
    case 2:
        say(history, ROLE_ASSISTANT, step % 2 ? "" : "One.");
        break;
    case 3:
        say(history, ROLE_ASSISTANT, "Two.");
        break;
    case 4:
        add(history, item_reasoning("hm", 2));
        break;
    case 5:
        call(history, id, "add", "{}", true);
        answer_call(history, id, "5", false);
        break;
    default:
        say(history, ROLE_SYSTEM, "Note.");
        break;
    }
}

/* A request that goes on from the one before has the bytes of one that is written anew. */
static void test_resumed_requests_are_the_same(void **state)
{
    (void)state;
    static const char *const providers[] = {"openai", "deepseek", "openai-responses", "anthropic",
                                            "gemini"};
    for (size_t i = 0; i < 10; i++) {
        struct session fresh, resumed;
        struct request_start start = {0};
        const char *provider = providers[i % 5];
        const struct wire *wire = profile_find(provider, strlen(provider))->wire;
        open_session(&fresh, wire, provider);
        open_session(&resumed, wire, provider);
        fresh.is_locked = resumed.is_locked = i < 5;
        resumed.start = &start;
        for (unsigned step = 0; step < 150; step++) {
            grow(&fresh.history, step * 5 / 3);
            grow(&resumed.history, step * 5 / 3);
            if (step % 40 == 20) {
                lock(&fresh);
                lock(&resumed);
            }
            assert_true(write(&fresh));
            assert_true(write(&resumed));
            assert_string_equal(resumed.body.data, fresh.body.data);
            assert_string_equal(resumed.prefix.sha256, fresh.prefix.sha256);
        }
        assert_true(start.bytes.length > 1000);
        request_start_reset(&start);
        close_session(&fresh);
        close_session(&resumed);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIRES; i++)
        for (int allowed = 0, failed = true; failed; allowed++) {
            struct session session;
            struct request_start start = {0};
            open_session(&session, wires[i].wire, wires[i].provider);
            lock(&session);
            struct request request = {.items = session.history.items,
                                      .item_count = session.history.count,
                                      .tools = &session.tools,
                                      .prefix = &session.prefix,
                                      .start = &start,
                                      .locked_items = session.locked};
            fail_after(allowed);
            bool written = session.wire->write(&session.body, profile_of(session.provider), "m1",
                                               &request, &session.error);
            failed = fail_never();
            assert_true(written || failed);
            assert_true(written || session.error.kind == ERROR_INTERNAL);
            request_start_reset(&start);
            close_session(&session);
        }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_prefixes),
        cmocka_unit_test(test_an_empty_history_can_be_locked),
        cmocka_unit_test(test_a_session_goes_on),
        cmocka_unit_test(test_a_change_is_an_error_that_names_it),
        cmocka_unit_test(test_a_new_lock_is_a_new_prefix),
        cmocka_unit_test(test_marks_of_verbatim_responses),
        cmocka_unit_test(test_resumed_requests_are_the_same),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
