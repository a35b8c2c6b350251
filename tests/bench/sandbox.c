/*
 * sandbox - what a child in a sandbox costs: fork, enter, exit, wait.
 *
 *     sandbox SCRATCH_FOLDER bare|required|namespaces ROUNDS
 *     {"median_ns": N, "quarter_ns": N}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sandbox/sandbox.h"

enum { MOST_ROUNDS = 10000 };

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* NULL: no sandbox. */
static int64_t round_ns(const struct sandbox *sandbox)
{
    int status;
    int64_t started_ns = clock_ns();
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(sandbox ? (int)sandbox_enter(sandbox, parent) : 0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "sandbox: the child failed: %s\n",
                child > 0 ? sandbox_layer_name((enum sandbox_layer)WEXITSTATUS(status)) : "fork");
        exit(1);
    }
    return clock_ns() - started_ns;
}

int main(int argc, char **argv)
{
    static int64_t rounds_ns[MOST_ROUNDS];
    size_t rounds = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (rounds == 0 || rounds > MOST_ROUNDS) {
        fputs("usage: sandbox SCRATCH_FOLDER bare|required|namespaces ROUNDS\n", stderr);
        return 2;
    }
    const char *readable[] = {"/usr/lib", "/etc/ld.so.cache", NULL};
    const char *writable[] = {argv[1], NULL};
    bool bare = strcmp(argv[2], "bare") == 0;
    struct sandbox_rules rules = {
        .readable = readable,
        .writable = writable,
        .keep_descriptors = 3,
        .limits = {.cpu_s = 5, .file_bytes = 1 << 20, .descriptors = 64, .processes = 64},
    };
    if (strcmp(argv[2], "namespaces") == 0)
        rules.namespaces = SANDBOX_NAMESPACES_REQUIRED;
    struct error error = ERROR_INIT;
    struct sandbox *sandbox = bare ? NULL : sandbox_prepare(&rules, &error);
    if (!bare && !sandbox) {
        fprintf(stderr, "sandbox: %s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < rounds; i++)
        rounds_ns[i] = round_ns(sandbox);
    qsort(rounds_ns, rounds, sizeof(rounds_ns[0]), compare);
    printf("{\"median_ns\": %lld, \"quarter_ns\": %lld}\n", (long long)rounds_ns[rounds / 2],
           (long long)rounds_ns[rounds / 4]);
    sandbox_free(sandbox);
    return 0;
}
