/*
 * isolated_call - what a call costs more when its plugin is in a process of its own.
 *
 *     isolated_call MORTISE PLUGIN.so CALLS
 *     {"direct_ns": N, "isolated_ns": N, "more_ns": N, "more_quarter_ns": N}
 *
 * The plugin is bench_plugin.c's, loaded twice: here, and in a process that MORTISE is.  The two are
 * called by turns; each figure is the median of its calls (the last one the lower quartiles').
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench_median.h"
#include "plugin/loader.h"
#include "remote/remote.h"
#include "tool/call.h"

enum { WARM_UP = 1000, MOST_CALLS = 1000000 };

struct way {
    struct loader loader;
    double *calls_ns;
};

static bool in_a_process(void *unused, const char *plugin, struct isolation *isolation,
                         struct error *error)
{
    (void)unused;
    (void)plugin;
    (void)error;
    isolation->is_process = true;
    return true;
}

static void load(struct way *way, const char *path, size_t calls)
{
    struct error error = ERROR_INIT;
    way->loader.registry = registry_new();
    way->calls_ns = calloc(calls, sizeof(*way->calls_ns));
    if (!way->loader.registry || !way->calls_ns)
        abort();
    if (loader_load(&way->loader, path, &error))
        return;
    fprintf(stderr, "isolated_call: %s\n", error.message);
    exit(1);
}

static double call_ns(const struct way *way)
{
    static const struct call_context context = {.session = "bench"};
    static const char arguments[] = "{\"text\":\"hello\",\"count\":3,\"loud\":true}";
    struct tool_result result;
    memset(&result, 0, sizeof(result));
    int64_t started_ns = clock_ns();
    tool_call(way->loader.registry, "bench_tool_0000", arguments, sizeof(arguments) - 1, &context,
              NULL, &result);
    int64_t ended_ns = clock_ns();
    if (!result.success || strcmp(text_cstr(&result.text), "{\"text\":\"hello\",\"count\":3}") != 0) {
        fprintf(stderr, "isolated_call: %s\n", text_cstr(&result.text));
        exit(1);
    }
    tool_result_release(&result);
    return (double)(ended_ns - started_ns);
}

int main(int argc, char **argv)
{
    struct way direct = {0}, isolated = {.loader = {.isolation = in_a_process,
                                                    .isolate = remote_isolate}};
    size_t calls = argc == 4 ? (size_t)strtoul(argv[3], NULL, 10) : 0;
    if (calls < 1 || calls > MOST_CALLS) {
        fputs("usage: isolated_call MORTISE PLUGIN.so CALLS\n", stderr);
        return 2;
    }
    child_set_program(argv[1]);
    load(&direct, argv[2], calls);
    load(&isolated, argv[2], calls);
    for (size_t i = 0; i < WARM_UP + calls; i++) {
        size_t place = i < WARM_UP ? 0 : i - WARM_UP;
        direct.calls_ns[place] = call_ns(&direct);
        isolated.calls_ns[place] = call_ns(&isolated);
    }
    bench_sort(direct.calls_ns, calls);
    bench_sort(isolated.calls_ns, calls);
    size_t middle = calls / 2, quarter = calls / 4;
    printf("{\"direct_ns\": %.0f, \"isolated_ns\": %.0f, \"more_ns\": %.0f, "
           "\"more_quarter_ns\": %.0f}\n",
           direct.calls_ns[middle], isolated.calls_ns[middle],
           isolated.calls_ns[middle] - direct.calls_ns[middle],
           isolated.calls_ns[quarter] - direct.calls_ns[quarter]);
    free(direct.calls_ns);
    free(isolated.calls_ns);
    registry_unref(isolated.loader.registry);
    registry_unref(direct.loader.registry);
    return 0;
}
