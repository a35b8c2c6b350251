/* Whichever allocation fails while a run is recorded or replayed: nothing is lost but that run or
 * that recording, which is whole up to where it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/secret.h"
#include "failing.h"
#include "provider/http_response.h"
#include "provider/tape.h"
#include "record/recorder.h"
#include "record/recording.h"
#include "record/replay.h"

#define KEY "sk-canary-7f3a9c51e2"

/* ---- a server that is none: what it is asked and what it says goes over no wire ---- */

static const char *const replies[] = {
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"the key "
    "is " KEY "\"}}]}\n\ndata: "
              "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"\","
    "\"type\":\"function\",\"function\":{\"name\":\"nothing\",\"arguments\":\"{}\"}}]}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
    "data: [DONE]\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
};

static const struct profile profile = {.name = "openai", .wire = &wire_openai_chat};
static unsigned asked;

static void attempt(struct client *client, const struct request *request, struct stream *stream,
                    struct cancel *cancel, int64_t deadline_ms)
{
    static const struct http_hints hints = {.retry_after_ms = -1, .should_retry = -1};
    const struct wire_tape *tape = client->tape;
    struct http_response response = {0};
    struct text body = TEXT_INIT;
    struct error error = ERROR_INIT;
    const char *reply = replies[asked++ % 2];
    (void)cancel;
    (void)deadline_ms;
    if (http_response_begin(&response, profile.wire, "server", stream)) {
        if (!profile.wire->write(&body, &profile, client->model, request, &error))
            stream_fail(stream, &error);
        else if (body.failed)
            http_response_fail_memory(&response);
        if (!http_response_has_failed(&response)) {
            tape->request(tape->self, "http://server/" KEY, NULL, &body);
            for (size_t at = 0, step; at < strlen(reply) && !stream->ended; at += step) {
                step = strlen(reply) - at < 40 ? strlen(reply) - at : 40;
                tape->received(tape->self, reply + at, step);
                http_response_receive(&response, 200, reply + at, step);
            }
            http_response_conclude(&response, 200, &hints);
            tape->response(tape->self, 200, &hints, true, stream);
        }
    }
    http_response_end(&response);
    http_response_release(&response);
    text_release(&body);
}

static void get_facts(const struct client *client, struct client_facts *facts)
{
    (void)client;
    *facts = (struct client_facts){.profile = &profile, .host = "server"};
}

static void leave(struct client *client)
{
    (void)client;
}

static const struct client_ops ops = {.attempt = attempt, .free = leave, .facts = get_facts};

/* ---- a run ---- */

static size_t limit(void *data, const char *tool)
{
    (void)data;
    (void)tool;
    return 1000;
}

static struct worker *make_worker(struct client *client, struct registry *registry,
                                  const struct hook_tape *hooks, const struct call_tape *calls)
{
    const struct worker_options options = {
        .client = client,
        .registry = registry,
        .config = REQUEST_CONFIG_INIT,
        .max_turns = 5,
        .timeout_ms = -1,
        .result_limit = limit,
        .hook_tape = hooks,
        .call_tape = calls,
    };
    struct error error;
    return worker_new(&options, &error);
}

/* Whether all went well. */
static bool record(const char *path)
{
    char provider[] = "openai", model[] = "m";
    struct client client = {.ops = &ops, .provider = provider, .model = model, .max_attempts = 1};
    struct settings settings = {0};
    struct worker_result result = {0};
    struct error error;
    struct registry *registry = registry_new();
    struct recorder *recorder = registry ? recorder_open(path, &settings, &error) : NULL;
    struct worker *worker = recorder ? make_worker(&client, registry, recorder_hook_tape(recorder),
                                                   recorder_call_tape(recorder))
                                     : NULL;
    bool finished = false;
    asked = 0;
    if (worker && recorder_attach(recorder, worker, &client)) {
        recorder_run(recorder, "my key is " KEY, strlen("my key is " KEY));
        worker_run(worker, "my key is " KEY, strlen("my key is " KEY), &result);
        recorder_result(recorder, &result);
        finished = result.status == WORKER_FINISHED;
    }
    worker_result_release(&result);
    worker_free(worker);
    recorder_close(recorder);
    registry_unref(registry);
    return finished;
}

/* The same, of what `path` has; *differs: it was told that something differs. */
static bool replay(const char *path, bool *differs)
{
    struct error error = ERROR_INIT;
    struct worker_result result = {0};
    const struct replay_run *run;
    bool told, finished = false;
    struct replay *replay = replay_open(path, false, &error);
    if (replay && replay_next(replay, &run, &error)) {
        struct client *client = replay_client(replay, &error);
        struct registry *registry = client ? replay_registry(replay) : NULL;
        struct worker *worker = registry ? make_worker(client, registry, replay_hook_tape(replay),
                                                       replay_call_tape(replay))
                                         : NULL;
        if (worker) {
            replay_begin(replay, worker);
            worker_run(worker, run->prompt.data, run->prompt.length, &result);
            replay_end(replay, &result);
            finished = result.status == WORKER_FINISHED;
        }
        worker_result_release(&result);
        worker_free(worker);
        registry_unref(registry);
        client_free(client);
    }
    *differs = replay && replay_differs(replay, &error, &told);
    replay_free(replay);
    return finished && !*differs;
}

/* What there is can be read, and holds no secret (D24). */
static void check_file(const char *path)
{
    struct recording recording;
    struct error error = ERROR_INIT;
    if (access(path, F_OK) != 0)
        return;
    bool ok = recording_read(&recording, path, &error);
    if (!ok && !strstr(error.message, "there is no recording in it"))
        fail_msg("%s", error.message);
    assert_null(strstr(text_cstr(&recording.bytes), "canary"));
    recording_release(&recording);
}

/* ---- the tests ---- */

static char folder[] = "/tmp/recordXXXXXX";
static char path[64];

static void test_whole(void **state)
{
    (void)state;
    bool differs;
    unlink(path);
    assert_true(record(path));
    check_file(path);
    assert_true(replay(path, &differs));
}

static void test_record(void **state)
{
    (void)state;
    int failed = 1;
    for (int count = 0; failed; count++) {
        unlink(path);
        fail_after(count);
        bool finished = record(path);
        failed = fail_never();
        assert_true(failed || finished);
        check_file(path);
    }
}

static void test_replay(void **state)
{
    (void)state;
    int failed = 1;
    bool differs;
    unlink(path);
    assert_true(record(path));
    for (int count = 0; failed; count++) {
        fail_after(count);
        bool same = replay(path, &differs);
        failed = fail_never();
        assert_true(failed || same);
    }
}

static int set_up(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    snprintf(path, sizeof(path), "%s/run.jsonl", mkdtemp(folder));
    return secret_add(KEY, strlen(KEY)) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    secret_clear();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_replay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
