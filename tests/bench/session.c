/*
 * session - what a turn costs the processor as a session grows.
 *
 *     session PROVIDER [SESSIONS]
 *     {"turns": [{"turn": 20, "cpu_us": N, "copy_us": N, "bytes": N}, …]}
 *
 * A worker with a real writer of requests and a model that asks for a tool in every turn;
 * nothing goes over a network.  Each figure is the median of all sessions and of the turns
 * around the named one: processor time from one written request to the next, the time to copy
 * as many bytes as the request has, and those bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_median.h"
#include "plugin/host_api.h"
#include "worker/worker.h"

enum { TURNS = 1001, AROUND = 5, MOST_SESSIONS = 200 };

static const unsigned watched[] = {20, 100, 200, 990};
enum { WATCHED = sizeof(watched) / sizeof(*watched) };

/* ---- the tool ---- */

static mortise_status run_look(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    static const char text[] = "It is 22 degrees and sunny there, with a light wind from the west.";
    (void)self;
    (void)arguments;
    return call->ops->reply(call, MORTISE_TEXT_RESULT, text, sizeof(text) - 1);
}

static struct registry *make_registry(void)
{
    static const mortise_tool_meta meta = {.size = sizeof(meta),
                                           .name = "look",
                                           .description = "Looks at something.",
                                           .input_schema = "{\"type\":\"object\"}"};
    static const mortise_tool tool = {.size = sizeof(tool), .meta = &meta, .run = run_look};
    static const mortise_tool *const tools[] = {&tool};
    static mortise_plugin face = {
        .size = sizeof(face), .name = "bench", .tools = tools, .tool_count = 1};
    struct registry *registry = registry_new();
    struct plugin *plugin =
        plugin_new("bench.so", &face, host_api_new("bench", strdup("{}"), NULL));
    if (!registry || !plugin || !registry_add(registry, plugin, NULL))
        abort();
    return registry;
}

/* ---- the model ---- */

struct model {
    struct client client; /* first */
    const struct profile *profile;
    struct text body;
    unsigned turn;
    int64_t cpu_ns[TURNS + 1]; /* when request i was written */
    size_t bytes[TURNS + 1];
};

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void attempt(struct client *client, const struct request *request, struct stream *stream,
                    struct cancel *cancel, int64_t deadline_ms)
{
    struct model *model = (struct model *)client;
    struct error error = ERROR_INIT;
    char id[32], arguments[64];
    (void)cancel;
    (void)deadline_ms;
    text_reset(&model->body);
    if (!model->profile->wire->write(&model->body, model->profile, client->model, request, &error))
        stream_fail(stream, &error);
    model->bytes[model->turn] = model->body.length;
    model->cpu_ns[model->turn] = cpu_ns();
    unsigned turn = model->turn++;
    snprintf(id, sizeof(id), "call_%u", turn);
    int length = snprintf(arguments, sizeof(arguments), "{\"place\":\"number %u\"}", turn);
    int text = stream_open(stream, BLOCK_TEXT, NULL, NULL);
    stream_delta(stream, text, "Let me look.", 12, false);
    if (turn < TURNS) {
        int call = stream_open(stream, BLOCK_TOOL_USE, id, "look");
        stream_delta(stream, call, arguments, (size_t)length, false);
    }
    stream_stop(stream, turn < TURNS ? STOP_TOOL_USE : STOP_END);
    stream_finish(stream);
}

static void free_nothing(struct client *client)
{
    (void)client;
}

static size_t limit(void *data, const char *tool)
{
    (void)data;
    (void)tool;
    return 65536;
}

static void run_session(struct model *model, struct registry *registry, struct pool *pool)
{
    struct worker_options options = {.client = &model->client,
                                     .registry = registry,
                                     .pool = pool,
                                     .system = "Be brief.",
                                     .config = REQUEST_CONFIG_INIT,
                                     .max_turns = TURNS + 1,
                                     .timeout_ms = -1,
                                     .result_limit = limit};
    struct worker_result result;
    struct worker *worker = worker_new(&options, NULL);
    model->turn = 0;
    if (!worker)
        abort();
    worker_lock(worker);
    if (!worker_run(worker, "Go on.", 6, &result)) {
        fprintf(stderr, "session: %s\n", result.error.message);
        exit(1);
    }
    worker_result_release(&result);
    worker_free(worker);
}

/* ---- figures ---- */

static double median(double *values, size_t count)
{
    bench_sort(values, count);
    return values[count / 2];
}

static double copy_us(size_t bytes)
{
    enum { ROUNDS = 101 };
    static double rounds[ROUNDS];
    char *from = malloc(bytes), *to = malloc(bytes);
    if (!from || !to)
        abort();
    memset(from, 'x', bytes);
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start = cpu_ns();
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
        rounds[i] = (double)(cpu_ns() - start) / 1e3;
    }
    free(from);
    free(to);
    return median(rounds, ROUNDS);
}

int main(int argc, char **argv)
{
    static struct model model;
    static double figures[WATCHED][MOST_SESSIONS * (2 * AROUND + 1)];
    static const struct client_ops ops = {.attempt = attempt, .free = free_nothing};
    size_t counts[WATCHED] = {0};
    const struct profile *profile = argc > 1 ? profile_find(argv[1], strlen(argv[1])) : NULL;
    unsigned long sessions = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
    char name[] = "m1";
    if (!profile || !profile->wire || sessions < 1 || sessions > MOST_SESSIONS) {
        fputs("usage: session PROVIDER [SESSIONS]\n", stderr);
        return 2;
    }
    model.client =
        (struct client){.ops = &ops, .provider = argv[1], .model = name, .max_attempts = 1};
    model.profile = profile;
    struct registry *registry = make_registry();
    struct pool *pool = pool_new(4);
    if (!pool)
        abort();
    for (unsigned long s = 0; s < sessions; s++) {
        run_session(&model, registry, pool);
        for (size_t w = 0; w < WATCHED; w++)
            for (unsigned t = watched[w] - AROUND; t <= watched[w] + AROUND; t++)
                figures[w][counts[w]++] = (double)(model.cpu_ns[t + 1] - model.cpu_ns[t]) / 1e3;
    }
    printf("{\"turns\": [");
    for (size_t w = 0; w < WATCHED; w++) {
        size_t bytes = model.bytes[watched[w]];
        printf("%s{\"turn\": %u, \"cpu_us\": %.3f, \"copy_us\": %.3f, \"bytes\": %zu}",
               w ? ", " : "", watched[w], median(figures[w], counts[w]), copy_us(bytes), bytes);
    }
    puts("]}");
    pool_free(pool, 1000);
    registry_unref(registry);
    text_release(&model.body);
    return 0;
}
