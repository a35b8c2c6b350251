/*
 * confined_call - what a call costs that has a process and a sandbox of its own.
 *
 *     confined_call MORTISE PLUGIN.so TOOL ARGUMENTS PAUSE_MS CALLS
 *     {"median_ns": N, "quarter_ns": N, "result": "what the last one said"}
 *
 * The whole of a call is measured, until nothing is left of it: sandbox, tool, its end, and that
 * its folder is gone.  Between two is a pause, as a model makes one, in which the process of the
 * next can be made; with none, that is measured as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <time.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "bench_median.h"
#include "plugin/loader.h"
#include "remote/remote.h"
#include "tool/call.h"

enum { WARM_UP = 20, MOST_CALLS = 10000 };

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

static double call_ns(struct registry *registry, char **words, struct text *said)
{
    static const struct call_context context = {.session = "bench"};
    struct tool_result result;
    memset(&result, 0, sizeof(result));
    int64_t started_ns = clock_ns();
    tool_call(registry, words[0], words[1], strlen(words[1]), &context, NULL, &result);
    int64_t ended_ns = clock_ns();
    if (!result.success) {
        fprintf(stderr, "confined_call: %s\n", text_cstr(&result.text));
        exit(1);
    }
    text_reset(said);
    text_puts(said, text_cstr(&result.text));
    tool_result_release(&result);
    return (double)(ended_ns - started_ns);
}

static void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    static double calls_ns[MOST_CALLS];
    struct error error = ERROR_INIT;
    struct text said = TEXT_INIT, line = TEXT_INIT;
    struct loader loader = {.registry = registry_new(), .isolation = usual,
                            .isolate = remote_isolate, .confine = remote_confine};
    size_t calls = argc == 7 ? (size_t)strtoul(argv[6], NULL, 10) : 0;
    if (calls < 1 || calls > MOST_CALLS || !loader.registry) {
        fputs("usage: confined_call MORTISE PLUGIN.so TOOL ARGUMENTS PAUSE_MS CALLS\n", stderr);
        return 2;
    }
    child_set_program(argv[1]);
    if (!loader_load(&loader, argv[2], &error)) {
        fprintf(stderr, "confined_call: %s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < WARM_UP + calls; i++) {
        pause_ms(strtol(argv[5], NULL, 10));
        calls_ns[i < WARM_UP ? 0 : i - WARM_UP] = call_ns(loader.registry, argv + 3, &said);
    }
    bench_sort(calls_ns, calls);
    json_put_string(&line, "result", text_cstr(&said));
    printf("{\"median_ns\": %.0f, \"quarter_ns\": %.0f, %s}\n", calls_ns[calls / 2],
           calls_ns[calls / 4], text_cstr(&line));
    text_release(&said);
    text_release(&line);
    registry_unref(loader.registry);
    return 0;
}
