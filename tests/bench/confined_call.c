/*
 * confined_call - what a call costs that has a process and a sandbox of its own.
 *
 *     confined_call MORTISE PLUGIN.so CALLS
 *     {"median_ns": N, "quarter_ns": N}
 *
 * The plugin is confined_plugin.c's.  The whole of a call is measured, until nothing is left of it: a
 * folder, fork, sandbox, the tool, its end, and that the folder is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "plugin/loader.h"
#include "remote/remote.h"
#include "tool/call.h"

enum { WARM_UP = 20, MOST_CALLS = 10000 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* As `mortise` does when nothing is configured. */
static bool usual(void *unused, const char *plugin, struct isolation *isolation,
                  struct error *error)
{
    (void)unused;
    (void)plugin;
    (void)error;
    isolation->call_memory_bytes = (int64_t)256 << 20;
    isolation->call_timeout_ms = 5000;
    return true;
}

static double call_ns(struct registry *registry)
{
    static const struct call_context context = {.session = "bench"};
    struct tool_result result;
    memset(&result, 0, sizeof(result));
    int64_t started_ns = clock_ns();
    tool_call(registry, "bench_confined", "{\"count\":3}", 11, &context, NULL, &result);
    int64_t ended_ns = clock_ns();
    if (!result.success || strcmp(text_cstr(&result.text), "3") != 0) {
        fprintf(stderr, "confined_call: %s\n", text_cstr(&result.text));
        exit(1);
    }
    tool_result_release(&result);
    return (double)(ended_ns - started_ns);
}

int main(int argc, char **argv)
{
    static double calls_ns[MOST_CALLS];
    struct error error = ERROR_INIT;
    struct loader loader = {.registry = registry_new(), .isolation = usual,
                            .isolate = remote_isolate, .confine = remote_confine};
    size_t calls = argc == 4 ? (size_t)strtoul(argv[3], NULL, 10) : 0;
    if (calls < 1 || calls > MOST_CALLS || !loader.registry) {
        fputs("usage: confined_call MORTISE PLUGIN.so CALLS\n", stderr);
        return 2;
    }
    child_set_program(argv[1]);
    if (!loader_load(&loader, argv[2], &error)) {
        fprintf(stderr, "confined_call: %s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < WARM_UP + calls; i++)
        calls_ns[i < WARM_UP ? 0 : i - WARM_UP] = call_ns(loader.registry);
    qsort(calls_ns, calls, sizeof(*calls_ns), compare);
    printf("{\"median_ns\": %.0f, \"quarter_ns\": %.0f}\n", calls_ns[calls / 2],
           calls_ns[calls / 4]);
    registry_unref(loader.registry);
    return 0;
}
