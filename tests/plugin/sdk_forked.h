/*
 * Cases of a test of mortise/test.h, each in a process of its own: failures count for a whole
 * program, and what fails on purpose must be told.
 */
#ifndef SDK_FORKED_H
#define SDK_FORKED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct forked_case {
    const char *name;
    int (*run)(void);   /* returns what mortise_test_close() did */
    const char *expect; /* what it prints, and ends with 1; NULL: nothing, and 0 */
};

#define GOOD(function)                                                                             \
    {                                                                                              \
        .name = #function, .run = function                                                         \
    }
#define BAD(function, printed)                                                                     \
    {                                                                                              \
        .name = #function, .run = function, .expect = printed                                      \
    }

/* Runs the case; `printed` gets what it wrote to standard error. */
static int run_alone(const struct forked_case *one, char *printed, size_t size)
{
    int fds[2], status = 0;
    size_t length = 0;
    fflush(NULL);
    if (pipe(fds) != 0)
        return -1;
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        exit(one->run()); /* not _exit(): what is leaked is told */
    }
    close(fds[1]);
    for (ssize_t n; (n = read(fds[0], printed + length, size - 1 - length)) > 0;)
        length += (size_t)n;
    printed[length] = '\0';
    close(fds[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool check_case(const struct forked_case *one)
{
    char printed[65536];
    int code = run_alone(one, printed, sizeof(printed));
    bool good = one->expect ? code == 1 && strstr(printed, one->expect) : code == 0 && !*printed;
    if (!good)
        printf("FAILED: %s ended with %d%s%s, and printed\n%s\n", one->name, code,
               one->expect ? ", expected 1 and " : "", one->expect ? one->expect : "", printed);
    return good;
}

static int run_forked(const struct forked_case *cases, size_t count)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += !check_case(&cases[i]);
    printf("%zu cases, %zu failed\n", count, failed);
    return failed > 0;
}

#endif
