/*
 * direct_call - what one call of a tool costs: JSON arguments in, a JSON result out.
 *
 *     direct_call PLUGIN.so typed|raw BATCHES
 *     {"median_ns": N, "quarter_ns": N}
 *
 * The plugin is bench_plugin.c's or raw_plugin.c's, loaded as the host loads it: the call looks the
 * tool up, checks its arguments (three that are decoded, or six against a schema), enters foreign
 * code and takes its answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench_median.h"
#include "plugin/loader.h"
#include "tool/call.h"

enum { CALLS_PER_BATCH = 1000, MOST_BATCHES = 10000 };

struct job {
    const char *way, *tool, *arguments, *expected;
};

static const struct job jobs[] = {
    {"typed", "bench_tool_0000", "{\"text\":\"hello\",\"count\":3,\"loud\":true}",
     "{\"text\":\"hello\",\"count\":3}"},
    {"raw", "bench_raw",
     "{\"query\":\"hello\",\"kind\":\"file\",\"limit\":3,\"newest\":true,\"size\":0.5,"
     "\"tags\":[\"a\",\"b\"]}",
     "{\"found\":3}"},
};

static void call_once(struct registry *registry, const struct job *job)
{
    static const struct call_context context = {.session = "bench"};
    struct tool_result result;
    memset(&result, 0, sizeof(result));
    tool_call(registry, job->tool, job->arguments, strlen(job->arguments), &context, NULL, &result);
    if (!result.success || strcmp(text_cstr(&result.text), job->expected) != 0) {
        fprintf(stderr, "direct_call: %s\n", text_cstr(&result.text));
        exit(1);
    }
    tool_result_release(&result);
}

static double batch_ns(struct registry *registry, const struct job *job)
{
    int64_t started_ns = clock_ns();
    for (int i = 0; i < CALLS_PER_BATCH; i++)
        call_once(registry, job);
    return (double)(clock_ns() - started_ns) / CALLS_PER_BATCH;
}

int main(int argc, char **argv)
{
    static double batches[MOST_BATCHES];
    struct error error = ERROR_INIT;
    const struct job *job = argc == 4 && strcmp(argv[2], jobs[1].way) == 0 ? &jobs[1] : &jobs[0];
    size_t count = argc == 4 ? (size_t)strtoul(argv[3], NULL, 10) : 0;
    struct loader loader = {.registry = registry_new()};
    if (count < 1 || count > MOST_BATCHES || strcmp(argv[2], job->way) != 0 || !loader.registry) {
        fputs("usage: direct_call PLUGIN.so typed|raw BATCHES\n", stderr);
        return 2;
    }
    if (!loader_load(&loader, argv[1], &error)) {
        fprintf(stderr, "direct_call: %s\n", error.message);
        return 1;
    }
    batch_ns(loader.registry, job); /* warms caches and allocator */
    for (size_t i = 0; i < count; i++)
        batches[i] = batch_ns(loader.registry, job);
    bench_sort(batches, count);
    printf("{\"median_ns\": %.1f, \"quarter_ns\": %.1f}\n", batches[count / 2], batches[count / 4]);
    registry_unref(loader.registry);
    return 0;
}
