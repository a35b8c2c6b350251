#include "typescript.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTALL "TypeScript is not available: install esbuild"
#define SOURCE  "script"
#define MAP     "//# sourceMappingURL=data:application/json;base64,"

static const char *const programs[] = {"/usr/bin/esbuild", "/usr/local/bin/esbuild"};

/* The other ends of its stdin, stdout and stderr, and what has come. */
struct compiler {
    pid_t process;
    int fds[3]; /* -1: closed */
    const char *input;
    size_t input_left;
    struct {
        char *text; /* from malloc(), with a NUL behind it */
        size_t length, size;
    } streams[2];
};

static const char *find_program(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (access(programs[i], X_OK) == 0)
            return programs[i];
    return NULL;
}

const char *typescript_problem(void)
{
    return find_program() ? NULL : INSTALL;
}

/* ---- the process ---- */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* 0, or an error number. */
static int start(struct compiler *compiler, const char *program)
{
    static const char *const arguments[] = {
        "esbuild",           "--loader=ts",      "--target=es2022",         "--sourcefile=" SOURCE,
        "--charset=utf8",    "--color=false",    "--sources-content=false", "--sourcemap=inline",
        "--log-level=error", "--log-limit=1",    NULL};
    static const char *const environment[] = {"GOMAXPROCS=2", "GOGC=off", NULL};
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, problem = 0;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    for (int i = 0; i < 3 && problem == 0; i++) {
        problem = pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : errno;
        if (problem == 0)
            problem = posix_spawn_file_actions_adddup2(&actions, pipes[i][i != 0], i);
    }
    if (problem == 0)
        problem = posix_spawn(&compiler->process, program, &actions, NULL,
                              (char *const *)(uintptr_t)arguments, /* which it does not change */
                              (char *const *)(uintptr_t)environment);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 3; i++) {
        close_end(&pipes[i][i != 0]);
        compiler->fds[i] = pipes[i][i == 0];
        if (problem != 0)
            close_end(&compiler->fds[i]);
    }
    if (problem == 0)
        fcntl(compiler->fds[0], F_SETFL, O_NONBLOCK);
    return problem;
}

static void give(struct compiler *compiler)
{
    ssize_t put = write(compiler->fds[0], compiler->input, compiler->input_left);
    if (put > 0) {
        compiler->input += put;
        compiler->input_left -= (size_t)put;
    }
    if (compiler->input_left == 0 || (put < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&compiler->fds[0]);
}

/* False: there is no memory. */
static bool take(struct compiler *compiler, int number)
{
    enum { ROOM = 16384 };
    if (compiler->streams[number].size - compiler->streams[number].length < ROOM + 1) {
        size_t size = compiler->streams[number].size * 2 + ROOM + 1;
        char *grown = realloc(compiler->streams[number].text, size);
        if (!grown)
            return false;
        compiler->streams[number].text = grown;
        compiler->streams[number].size = size;
    }
    char *end = compiler->streams[number].text + compiler->streams[number].length;
    ssize_t got = read(compiler->fds[number + 1], end, ROOM);
    if (got > 0)
        compiler->streams[number].length += (size_t)got;
    else if (got == 0 || errno != EINTR)
        close_end(&compiler->fds[number + 1]);
    end[got > 0 ? got : 0] = '\0';
    return true;
}

/* Until it is gone; its status, or -1: there is no memory. */
static int follow(struct compiler *compiler)
{
    bool ok = true;
    int status = -1;
    while (ok && (compiler->fds[1] >= 0 || compiler->fds[2] >= 0)) {
        struct pollfd fds[] = {{.fd = compiler->fds[0], .events = POLLOUT},
                               {.fd = compiler->fds[1], .events = POLLIN},
                               {.fd = compiler->fds[2], .events = POLLIN}};
        poll(fds, 3, -1); /* the limits of the call are those of its processes */
        if (fds[0].revents)
            give(compiler);
        for (int i = 0; i < 2; i++)
            if (fds[i + 1].revents)
                ok = take(compiler, i) && ok;
    }
    for (int i = 0; i < 3; i++)
        close_end(&compiler->fds[i]);
    while (waitpid(compiler->process, &status, 0) < 0 && errno == EINTR)
        ;
    return ok ? status : -1;
}

/* ---- what it says ---- */

/* "✘ [ERROR] Unexpected "="\n\n    script:1:7:\n …" */
static void tell_error(struct run *run, char *said)
{
    char *message = strstr(said, "[ERROR] ");
    char *place = strstr(said, "\n    " SOURCE ":");
    long line = 0, column = 0;
    message = message ? message + strlen("[ERROR] ") : said;
    if (place && sscanf(place, "\n    " SOURCE ":%ld:%ld", &line, &column) == 2)
        *place = '\0';
    message[strcspn(message, "\n")] = '\0';
    char *members = NULL;
    int length = asprintf(&members, "\"error\":{\"type\":\"SyntaxError\",\"message\":%s",
                          mortise_quote(run->call, message));
    if (length < 0)
        return;
    char *whole = NULL;
    length = line > 0 ? asprintf(&whole, "%s,\"line\":%ld,\"column\":%ld}", members, line,
                                 column + 1) /* it counts from 0 */
                      : asprintf(&whole, "%s}", members);
    if (length >= 0)
        run_tell(run, whole, (size_t)length);
    free(members);
    free(whole);
}

static char *keep(struct run *run, const char *text, size_t length)
{
    char *copy = mortise_alloc(run->call, length + 1); /* zeroed */
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

static bool read_result(struct run *run, const char *output, const char **script, const char **map)
{
    const char *mark = NULL;
    for (const char *at = output; (at = strstr(at, MAP)); at++)
        mark = at; /* the last one is the compiler's */
    const char *base64 = mark ? mark + strlen(MAP) : "";
    *script = keep(run, output, mark ? (size_t)(mark - output) : strlen(output));
    *map = keep(run, base64, strcspn(base64, "\n"));
    return *script && *map;
}

bool typescript_compile(struct run *run, const char **script, const char **map)
{
    const char *program = find_program();
    struct compiler compiler = {.input = run->code, .input_left = strlen(run->code)};
    bool ok = false;
    if (!program) {
        mortise_fail_as(run->call, MORTISE_NOT_SUPPORTED, "execute_code.not_installed", INSTALL);
        return false;
    }
    int problem = start(&compiler, program);
    if (problem != 0) {
        mortise_fail(run->call, "cannot run '%s': %s", program, strerror(problem));
        return false;
    }
    signal(SIGPIPE, SIG_IGN); /* it may end before it has read everything */
    int status = follow(&compiler);
    const char *output = compiler.streams[0].text ? compiler.streams[0].text : "";
    if (status == -1)
        mortise_fail(run->call, "out of memory");
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        ok = read_result(run, output, script, map) || mortise_fail(run->call, "out of memory") > 0;
    else if (WIFEXITED(status) && compiler.streams[1].length)
        tell_error(run, compiler.streams[1].text);
    else
        mortise_fail(run->call, "'%s' did not end well (%s %d)", program,
                     WIFEXITED(status) ? "status" : "signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    free(compiler.streams[0].text);
    free(compiler.streams[1].text);
    return ok;
}
