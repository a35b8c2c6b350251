/* mortise/tasks.h: work that outlives its call, in a store that two tools share (F32-F35). */
#include <mortise/test.h>

#include <mortise/tasks.h>

#include "sdk_forked.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { RUNNING = 3, KEPT = 4 };

/* ---- a plugin whose tasks wait for the test ---- */

static atomic_int started, released, at_work; /* how often; how many */
static atomic_bool go_on;                     /* what all work waits for */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static mortise_status work(mortise_task *task, void *data)
{
    const char *how = data;
    atomic_fetch_add(&started, 1);
    mortise_task_progress(task, 1, 4, "half \"way\"");
    atomic_fetch_add(&at_work, 1);
    while (!atomic_load(&go_on) && !mortise_task_cancelled(task))
        pause_ms(1);
    atomic_fetch_sub(&at_work, 1);
    if (mortise_task_cancelled(task))
        return MORTISE_CANCELLED;
    switch (how[0]) {
    case 't':
        mortise_task_reply(task, "first");
        return mortise_task_reply(task, "a \"text\"\n");
    case 'j':
        return mortise_task_reply_json(task, "{\"pages\":%d}", 7);
    case 'b':
        return mortise_task_reply_json(task, "{\"pages\":%s} x", "7");
    case 'f':
        return mortise_task_fail(task, "no %s", "paper");
    case 'n':
        return MORTISE_OK;
    default:
        return MORTISE_FAILED;
    }
}

static void release(void *data)
{
    (void)data;
    atomic_fetch_add(&released, 1);
}

MORTISE_TOOL(begin, MORTISE_LONG_RUNNING, "Begin.", (string, how, "How it ends.", required));

static mortise_status begin(mortise_call *call, const begin_args *args)
{
    return mortise_task_start(mortise_state(call), call, work, (void *)(uintptr_t)args->how,
                              release);
}

MORTISE_TOOL(look, MORTISE_READ_ONLY, "Look.", (string, id, "At what.", required));

static mortise_status look(mortise_call *call, const look_args *args)
{
    return mortise_task_reply_status(mortise_state(call), call, args->id);
}

MORTISE_TOOL(stop, 0, "Stop.", (string, id, "What.", required));

static mortise_status stop(mortise_call *call, const stop_args *args)
{
    return mortise_task_cancel(mortise_state(call), call, args->id);
}

static void *tasks_open(const mortise_host *host)
{
    mortise_tasks *tasks = mortise_tasks_new(RUNNING, KEPT);
    return tasks ? tasks : mortise_refuse(host, "out of memory");
}

MORTISE_PLUGIN(.name = "tasks", .tools = MORTISE_TOOLS(begin, look, stop), .open = tasks_open,
               .close = mortise_tasks_close);

/* ---- what a test does ---- */

/* The id of a new task; "": it was not started. */
static const char *start(mortise_test *test, const char *how)
{
    const mortise_test_result *result =
        mortise_test_run(test, &begin_tool, &(begin_args){.how = how});
    static char ids[64][40];
    static int next;
    char *id = ids[next++ % 64], expected[128];
    id[0] = '\0';
    mortise_json_string(result->text, "task_id", id, 40);
    snprintf(expected, sizeof(expected), "{\"task_id\":\"%s\",\"status\":\"processing\"}", id);
    if (id[0])
        mortise_test_json(result, expected);
    return id;
}

static const char *status_of(mortise_test *test, const char *id)
{
    return mortise_test_run(test, &look_tool, &(look_args){.id = id})->text;
}

/* The status once the work has ended; it has not long to go. */
static const char *end_of(mortise_test *test, const char *id)
{
    const char *text = "";
    for (int i = 0; i < 5000; i++) {
        text = status_of(test, id);
        if (!strstr(text, "\"processing\""))
            return text;
        pause_ms(1);
    }
    return text;
}

/* What is behind the id: `,"status":…`. */
static const char *rest_of(const char *text)
{
    const char *rest = strstr(text, ",\"status\"");
    return rest ? rest : text;
}

static void wait_until_at_work(int count)
{
    for (int i = 0; i < 5000 && atomic_load(&at_work) != count; i++)
        pause_ms(1);
    mortise_test_true(atomic_load(&at_work) == count);
}

/* F32, F34: processing at once, with its progress; then completed, with its result. */
static int answers_at_once_and_completes(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const char *id = start(test, "text");
    mortise_test_true(strlen(id) == 32);
    wait_until_at_work(1);
    mortise_test_same(rest_of(status_of(test, id)),
                      ",\"status\":\"processing\",\"progress\":{\"done\":1,\"total\":4,"
                      "\"message\":\"half \\\"way\\\"\"}}");
    mortise_test_true(atomic_load(&released) == 0);
    atomic_store(&go_on, true);
    mortise_test_same(rest_of(end_of(test, id)),
                      ",\"status\":\"completed\",\"result\":\"a \\\"text\\\"\\n\"}");
    mortise_test_contains(status_of(test, id), id);
    mortise_test_true(atomic_load(&released) == 1);
    return mortise_test_close(test);
}

static int ends_in_every_way(void)
{
    static const char *const ways[][2] = {
        {"json", ",\"status\":\"completed\",\"result\":{\"pages\":7}}"},
        {"bad json", ",\"status\":\"failed\",\"error\":\"its result is not valid JSON\"}"},
        {"fail", ",\"status\":\"failed\",\"error\":\"no paper\"}"},
        {"nothing", ",\"status\":\"completed\",\"result\":null}"},
        {"wordless", ",\"status\":\"failed\",\"error\":\"it gave no reason\"}"},
    };
    mortise_test *test = mortise_test_open(NULL);
    atomic_store(&go_on, true);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        mortise_test_same(rest_of(end_of(test, start(test, ways[i][0]))), ways[i][1]);
    return mortise_test_close(test);
}

/* F34: an unknown id is an ordinary result. */
static int does_not_know_every_id(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_json(mortise_test_run(test, &look_tool, &(look_args){.id = "nonsense"}),
                      "{\"error\":\"Task not found\"}");
    mortise_test_json(mortise_test_run(test, &look_tool, &(look_args){.id = ""}),
                      "{\"error\":\"Task not found\"}");
    return mortise_test_close(test);
}

/* Another session, user or tenant knows nothing of it, and cannot stop it. */
static int keeps_tasks_apart(void)
{
    static const char *const others[][3] = {
        {"s-2", "ada", NULL}, {NULL, "ada", NULL}, {"s-1", "eve", NULL}, {"s-1", "ada", "acme"}};
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_context(test, "session", "s-1");
    mortise_test_context(test, "user", "ada");
    const char *id = start(test, "text");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        mortise_test_context(test, "session", others[i][0]);
        mortise_test_context(test, "user", others[i][1]);
        mortise_test_context(test, "tenant", others[i][2]);
        mortise_test_same(status_of(test, id), "{\"error\":\"Task not found\"}");
        mortise_test_json(mortise_test_run(test, &stop_tool, &(stop_args){.id = id}),
                          "{\"error\":\"Task not found\"}");
    }
    mortise_test_context(test, "tenant", NULL);
    mortise_test_contains(status_of(test, id), "processing");
    atomic_store(&go_on, true);
    mortise_test_contains(end_of(test, id), "completed");
    return mortise_test_close(test);
}

static int stops_a_task(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const char *id = start(test, "text");
    mortise_test_contains(mortise_test_run(test, &stop_tool, &(stop_args){.id = id})->text, id);
    mortise_test_same(rest_of(end_of(test, id)), ",\"status\":\"failed\",\"error\":\"cancelled\"}");
    return mortise_test_close(test);
}

static int limits_what_runs(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const char *ids[RUNNING];
    for (int i = 0; i < RUNNING; i++)
        ids[i] = start(test, "text");
    wait_until_at_work(RUNNING);
    const mortise_test_result *result =
        mortise_test_run(test, &begin_tool, &(begin_args){.how = "text"});
    mortise_test_error(result, MORTISE_UNAVAILABLE, "3 tasks are running");
    mortise_test_same(result->code, "tasks.busy");
    mortise_test_true(atomic_load(&released) == 1); /* the one that could not start */
    atomic_store(&go_on, true);
    for (int i = 0; i < RUNNING; i++)
        mortise_test_contains(end_of(test, ids[i]), "completed");
    mortise_test_contains(end_of(test, start(test, "text")), "completed");
    return mortise_test_close(test);
}

/* What has ended is kept for a while: the oldest goes first, and what runs stays. */
static int forgets_the_oldest(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const char *running = start(test, "text"), *ids[KEPT + 2];
    wait_until_at_work(1);
    for (int i = 0; i < KEPT + 2; i++) {
        ids[i] = start(test, "text");
        mortise_test_run(test, &stop_tool, &(stop_args){.id = ids[i]});
        end_of(test, ids[i]);
    }
    start(test, "text"); /* tidies up */
    for (int i = 0; i < KEPT + 2; i++)
        mortise_test_contains(status_of(test, ids[i]), i < 2 ? "not found" : "cancelled");
    mortise_test_contains(status_of(test, running), "processing");
    atomic_store(&go_on, true);
    mortise_test_contains(end_of(test, running), "completed");
    return mortise_test_close(test);
}

/* F33: close() stops what runs, and waits for it. */
static int ends_with_the_plugin(void)
{
    mortise_test *test = mortise_test_open(NULL);
    for (int i = 0; i < RUNNING; i++)
        start(test, "text");
    wait_until_at_work(RUNNING);
    int code = mortise_test_close(test);
    mortise_test_true(atomic_load(&at_work) == 0 && atomic_load(&released) == RUNNING);
    return code;
}

/* F35: calls of several threads at once, over one store. */
static void *use(void *argument)
{
    mortise_test *test = argument;
    for (int i = 0; i < 20; i++) {
        const mortise_test_result *result =
            mortise_test_run(test, &begin_tool, &(begin_args){.how = "text"});
        char id[40] = "none";
        mortise_json_string(result->text, "task_id", id, sizeof(id));
        mortise_test_run(test, &look_tool, &(look_args){.id = id});
        mortise_test_run(test, &stop_tool, &(stop_args){.id = id});
    }
    return NULL;
}

static int is_shared_by_threads(void)
{
    enum { THREADS = 4 };
    mortise_test *test = mortise_test_open(NULL);
    pthread_t threads[THREADS];
    atomic_store(&go_on, true);
    for (int i = 0; i < THREADS; i++)
        mortise_test_true(pthread_create(&threads[i], NULL, use, test) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int code = mortise_test_close(test);
    mortise_test_true(atomic_load(&released) == THREADS * 20);
    return code;
}

int main(void)
{
    static const struct forked_case cases[] = {
        GOOD(answers_at_once_and_completes),
        GOOD(ends_in_every_way),
        GOOD(does_not_know_every_id),
        GOOD(keeps_tasks_apart),
        GOOD(stops_a_task),
        GOOD(limits_what_runs),
        GOOD(forgets_the_oldest),
        GOOD(ends_with_the_plugin),
        GOOD(is_shared_by_threads),
    };
    return run_forked(cases, sizeof(cases) / sizeof(cases[0]));
}
