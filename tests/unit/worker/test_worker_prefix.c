/* Two hundred requests of one session at a real client and a server on this machine: after
 * lock() every body begins with the same bytes (W8, W11, W24, W111, W125, D17). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "support/loopback.h"

enum { RUNS = 100, LOCK_AFTER = 5 };

/* ---- servers: a call, an answer, a call, … ---- */

static void put_event(struct text *events, const char *type, const char *data)
{
    if (type)
        text_printf(events, "event: %s\n", type);
    text_printf(events, "data: %s\n\n", data);
}

static void answer_chat(void *self, size_t number, const struct text *body, struct text *events)
{
    struct text data = TEXT_INIT;
    (void)self;
    (void)body;
    if (number % 2 == 0)
        text_printf(&data,
                    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me see.\","
                    "\"tool_calls\":[{\"index\":0,\"id\":\"call_%zu\",\"type\":\"function\","
                    "\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"n\\\":%zu}\"}}]}}]}",
                    number, number);
    else
        text_printf(&data, "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Answer %zu.\"}}]}",
                    number);
    put_event(events, NULL, text_cstr(&data));
    put_event(events, NULL,
              number % 2 ? "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
                         : "{\"choices\":[{\"index\":0,\"delta\":{},"
                           "\"finish_reason\":\"tool_calls\"}]}");
    put_event(events, NULL, "[DONE]");
    text_release(&data);
}

static void put_block(struct text *events, size_t index, const char *start, const char *delta)
{
    struct text data = TEXT_INIT;
    text_printf(&data, "{\"type\":\"content_block_start\",\"index\":%zu,\"content_block\":%s}",
                index, start);
    put_event(events, "content_block_start", text_cstr(&data));
    text_reset(&data);
    text_printf(&data, "{\"type\":\"content_block_delta\",\"index\":%zu,\"delta\":%s}", index,
                delta);
    put_event(events, "content_block_delta", text_cstr(&data));
    text_reset(&data);
    text_printf(&data, "{\"type\":\"content_block_stop\",\"index\":%zu}", index);
    put_event(events, "content_block_stop", text_cstr(&data));
    text_release(&data);
}

static void answer_messages(void *self, size_t number, const struct text *body, struct text *events)
{
    char start[128], delta[128];
    (void)self;
    (void)body;
    put_event(events, "message_start",
              "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\","
              "\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1}}}");
    snprintf(delta, sizeof(delta), "{\"type\":\"text_delta\",\"text\":\"Answer %zu.\"}", number);
    put_block(events, 0, "{\"type\":\"text\",\"text\":\"\"}", delta);
    if (number % 2 == 0) {
        snprintf(start, sizeof(start),
                 "{\"type\":\"tool_use\",\"id\":\"toolu_%zu\",\"name\":\"echo\",\"input\":{}}",
                 number);
        snprintf(delta, sizeof(delta),
                 "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"n\\\":%zu}\"}", number);
        put_block(events, 1, start, delta);
    }
    put_event(events, "message_delta",
              number % 2 ? "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                           "\"usage\":{\"output_tokens\":1}}"
                         : "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},"
                           "\"usage\":{\"output_tokens\":1}}");
    put_event(events, "message_stop", "{\"type\":\"message_stop\"}");
}

/* ---- the session ---- */

struct session {
    struct stage stage;
    struct loopback server;
    char hash[128];   /* of the last turn_start, or "" */
    unsigned changes; /* of it */
};

static void note_hash(void *self, const struct event *event)
{
    struct session *session = self;
    const char *hash = event->as.turn_start.prefix_sha256;
    session->changes += strcmp(session->hash, hash ? hash : "") != 0;
    snprintf(session->hash, sizeof(session->hash), "%s", hash ? hash : "");
}

static void open_session(struct session *session, const char *model,
                         void (*answer)(void *, size_t, const struct text *, struct text *))
{
    struct error error = ERROR_INIT;
    char url[64];
    *session = (struct session){.server = {.answer = answer}};
    loopback_open(&session->server);
    stage_open(&session->stage, "{\"text\":\"unused\"}", NULL);
    client_free(session->stage.client);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", session->server.port);
    session->stage.client = client_new(
        &(struct client_settings){
            .model = model,
            .base_url = url,
            .key = "test-key",
            .connect_timeout_ms = 20000,
            .first_byte_timeout_ms = 20000,
            .idle_timeout_ms = 20000,
        },
        &error);
    if (!session->stage.client)
        fail_msg("%s", error.message);
    session->stage.options.client = session->stage.client;
    session->stage.options.system = "Be brief.";
    stage_renew(&session->stage);
    assert_true(timeline_add(worker_timeline(session->stage.worker), EVENT_BIT(EVENT_TURN_START),
                             note_hash, session));
}

static void close_session(struct session *session)
{
    stage_close(&session->stage);
    loopback_close(&session->server);
}

static void run(struct session *session, int number)
{
    char prompt[32];
    snprintf(prompt, sizeof(prompt), "prompt %d", number);
    if (stage_run(&session->stage, prompt) != WORKER_FINISHED)
        fail_msg("run %d: %s", number, session->stage.result.error.message);
}

/* How many bytes of the body stand before the first thing that came after the lock. */
static size_t locked_bytes(const struct text *body)
{
    char prompt[32];
    snprintf(prompt, sizeof(prompt), "prompt %d\"", LOCK_AFTER);
    const char *found = strstr(body->data, prompt);
    assert_non_null(found);
    return (size_t)(found - body->data);
}

static void two_hundred_turns(const char *model,
                              void (*answer)(void *, size_t, const struct text *, struct text *))
{
    struct session session;
    struct request_config config = REQUEST_CONFIG_INIT;
    open_session(&session, model, answer);
    for (int i = 0; i < RUNS; i++) {
        if (i == LOCK_AFTER)
            worker_lock(session.stage.worker);
        config.temperature = i / 100.0; /* may change at any time: it stands behind */
        worker_set_config(session.stage.worker, &config);
        run(&session, i);
    }
    assert_int_equal(worker_turn_count(session.stage.worker), 2 * RUNS);
    assert_int_equal(session.server.count, 2 * RUNS);
    assert_int_equal(strlen(session.hash), 64);
    assert_int_equal(session.changes, 1);
    assert_int_equal(session.stage.calls, RUNS);
    const struct text *first = &session.server.bodies[2 * LOCK_AFTER];
    size_t length = locked_bytes(first);
    assert_true(length > 1000);
    for (size_t i = 2 * LOCK_AFTER; i < session.server.count; i++) {
        assert_true(session.server.bodies[i].length > length);
        assert_memory_equal(session.server.bodies[i].data, first->data, length);
    }
    close_session(&session);
}

static void chat_begins_with_the_same_bytes(void **state)
{
    (void)state;
    two_hundred_turns("openai/m1", answer_chat);
}

static void messages_begin_with_the_same_bytes(void **state)
{
    (void)state;
    two_hundred_turns("anthropic/m1", answer_messages);
}

/* Unlock, change, lock: another prefix with another hash (W6, W8, D17). */
static void a_new_lock_has_a_new_hash(void **state)
{
    struct session session;
    char hash[128];
    (void)state;
    open_session(&session, "anthropic/m1", answer_messages);
    run(&session, 0);
    assert_string_equal(session.hash, "");
    worker_lock(session.stage.worker);
    run(&session, 1);
    memcpy(hash, session.hash, sizeof(hash));
    assert_int_equal(strlen(hash), 64);
    worker_unlock(session.stage.worker);
    run(&session, 2);
    assert_string_equal(session.hash, "");
    assert_true(worker_set_system(session.stage.worker, "Be long.", NULL));
    worker_lock(session.stage.worker);
    run(&session, 3);
    assert_int_equal(strlen(session.hash), 64);
    assert_string_not_equal(session.hash, hash);
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat_begins_with_the_same_bytes),
        cmocka_unit_test(messages_begin_with_the_same_bytes),
        cmocka_unit_test(a_new_lock_has_a_new_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
