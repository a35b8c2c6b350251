/* Runs commands of a shell, once the configuration allows it. */
#include <mortise/tool.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment.h"
#include "job.h"
#include "output.h"

enum {
    READ_BYTES = 16384,
    REST_READS = 64, /* 1 MiB: a pipe holds no more */
    LEAVE_MS = 1000  /* of the call's time: for the end of all processes */
};

struct shell {
    bool is_allowed, is_sandboxed;
    char program[4096];
    char **environment;
    int64_t timeout_s, max_timeout_s, output_bytes;
};

#define WHAT                                                                                       \
    "Run a command in a shell and get what it writes to stdout and stderr, and its exit status. "  \
    "Each command begins anew: a change of folder or of variables does not last. There is no "     \
    "terminal and no input. Every process of the command is ended with it: nothing can be left "   \
    "running in the background."
#define FIELDS                                                                                     \
    (string,  command,   "The command line.", required, length(1, 100000)),                        \
    (integer, timeout_s, "Seconds after which it is stopped, with what it wrote so far; 120 "      \
                         "unless the operator set another.", at_least(1)),                         \
    (string,  cwd,       "The folder to run it in, inside the workspace; default: the workspace "  \
                         "itself.", length(1, 4096))

MORTISE_TOOL(shell, MORTISE_DESTRUCTIVE | MORTISE_OPEN_WORLD, WHAT, FIELDS);

/* The same, in a sandbox of the call's own; one of the two is there. */
MORTISE_TOOL_WITH(shell_inside,
    (name("shell"), runs("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
     reads("/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
           "/etc/mime.types", "/etc/ssl/certs"),
     inside(MORTISE_INSIDE_PROCESSES | MORTISE_INSIDE_JIT)),
    MORTISE_DESTRUCTIVE | MORTISE_SANDBOX_REQUIRED,
    WHAT " There is no network, and of the files only programs, an empty folder $TMPDIR that goes "
    "with the command, and what the operator has given.", FIELDS);

/* ---- where ---- */

/* `cwd` as seen from the workspace; NULL: it is elsewhere. */
static const char *below(const char *workspace, const char *cwd)
{
    size_t length = strlen(workspace);
    if (!cwd)
        return ".";
    if (cwd[0] != '/')
        return cwd;
    if (strcmp(workspace, "/") == 0)
        length = 0;
    if (strncmp(cwd, workspace, length) != 0 || (cwd[length] && cwd[length] != '/'))
        return NULL;
    cwd += length + strspn(cwd + length, "/");
    return *cwd ? cwd : ".";
}

/* A descriptor, or -1 with errno (EXDEV: it is elsewhere).  Without openat2, which old kernels lack
 * and sandboxes forbid, it is looked at where the path has led: the command goes where it likes
 * anyway, so renaming links meanwhile wins nothing. */
static int open_below(int root, const char *workspace, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    int folder = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    if (folder >= 0 || (errno != ENOSYS && errno != EPERM))
        return folder;
    char link[64], where[PATH_MAX];
    folder = openat(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    ssize_t length = folder < 0 ? 0 : readlink(link, where, sizeof(where) - 1);
    where[length > 0 ? length : 0] = '\0';
    if (folder < 0 || (where[0] == '/' && below(workspace, where)))
        return folder;
    close(folder);
    errno = EXDEV;
    return -1;
}

/* A descriptor, or -1 after mortise_fail(). */
static int open_folder(mortise_call *call, const char *cwd)
{
    const char *workspace = mortise_context(call, "workspace");
    if (!workspace) {
        mortise_fail(call, "there is no workspace to run commands in");
        return -1;
    }
    const char *path = below(workspace, cwd);
    int root = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int folder = -1;
    errno = root < 0 ? errno : EXDEV;
    if (root >= 0 && path)
        folder = open_below(root, workspace, path);
    int problem = errno;
    if (root >= 0)
        close(root);
    if (folder < 0 && problem == EXDEV)
        mortise_fail_as(call, MORTISE_FORBIDDEN, "shell.cwd",
                        "'cwd' leads out of the workspace '%s': give a folder below it", workspace);
    else if (folder < 0)
        mortise_fail_as(call, MORTISE_INVALID_INPUT, "shell.cwd", "cannot use '%s' as 'cwd': %s",
                        cwd ? cwd : workspace, strerror(problem));
    return folder;
}

/* ---- while it runs ---- */

struct run {
    mortise_call *call;
    struct job job;
    struct output output;
    int64_t limit_ms, deadline_ms;
    int start_problem, status, killed, left;
    bool shell_ended, is_gone, is_stopped, timed_out, cancelled;
};

static void read_report(struct run *run)
{
    struct job_report report = {0, 0};
    ssize_t got = read(run->job.reports, &report, sizeof(report)); /* whole, by the pipe's rules */
    if (got < 0 && errno == EINTR)
        return;
    if (got != (ssize_t)sizeof(report) || report.news == JOB_GONE) {
        run->is_gone = true;
        run->killed = report.value;
    } else if (report.news == JOB_NOT_STARTED) {
        run->start_problem = report.value;
    } else if (report.news == JOB_LEFT) {
        run->left = report.value;
    } else {
        run->shell_ended = true;
        run->status = report.value;
    }
}

/* False: nothing more is to come, now or ever (*fd is closed then). */
static bool read_stream(struct run *run, struct stream *stream, int *fd)
{
    char bytes[READ_BYTES];
    ssize_t got = *fd < 0 ? -1 : read(*fd, bytes, sizeof(bytes));
    if (got > 0)
        output_add(&run->output, stream, bytes, (size_t)got, job_now_ms());
    if (*fd >= 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))) {
        close(*fd);
        *fd = -1;
    }
    return got > 0;
}

/* A shell that has ended has its exit status, and only what it left behind is out of time. */
static void stop_if_due(struct run *run, int64_t left_ms)
{
    run->cancelled = mortise_cancelled(run->call);
    run->is_stopped = run->cancelled || left_ms <= 0;
    run->timed_out = run->is_stopped && !run->cancelled && !run->shell_ended;
    if (run->is_stopped)
        job_kill(&run->job);
}

/* What is in the pipes still.  Nobody writes to them any more, but for what could not be ended. */
static void read_rest(struct run *run)
{
    for (int i = 0; i < REST_READS && read_stream(run, &run->output.out, &run->job.out); i++)
        ;
    for (int i = 0; i < REST_READS && read_stream(run, &run->output.err, &run->job.err); i++)
        ;
    output_end(&run->output, &run->output.out);
    output_end(&run->output, &run->output.err);
}

/* Until every process is gone. */
static void follow(struct run *run)
{
    struct job *job = &run->job;
    while (!run->is_gone) {
        struct pollfd fds[] = {
            {.fd = job->out, .events = POLLIN},
            {.fd = job->err, .events = POLLIN},
            {.fd = job->reports, .events = POLLIN},
            {.fd = run->is_stopped ? -1 : mortise_cancel_fd(run->call), .events = POLLIN}};
        int64_t left_ms = run->is_stopped ? OUTPUT_WAIT_MS : run->deadline_ms - job_now_ms();
        int64_t wait_ms = left_ms < 0 ? 0 : left_ms < OUTPUT_WAIT_MS ? left_ms : OUTPUT_WAIT_MS;
        poll(fds, 4, (int)wait_ms);
        if (fds[0].revents)
            read_stream(run, &run->output.out, &job->out);
        if (fds[1].revents)
            read_stream(run, &run->output.err, &job->err);
        if (fds[2].revents)
            read_report(run);
        output_show_waiting(&run->output, job_now_ms());
        if (!run->is_stopped)
            stop_if_due(run, left_ms);
    }
    read_rest(run);
}

/* ---- the result ---- */

static void describe_end(const struct run *run, char *out, size_t size)
{
    if (run->timed_out) {
        snprintf(out, size, "[stopped after %g s, its time limit%s]", (double)run->limit_ms / 1000,
                 run->left ? "" : ": all of its processes were ended");
    } else if (!run->shell_ended) {
        snprintf(out, size, "[it is not known how the command ended: its parent was killed]");
    } else if (WIFSIGNALED(run->status)) {
        const char *name = sigabbrev_np(WTERMSIG(run->status));
        snprintf(out, size, "[ended by signal %d%s%s]", WTERMSIG(run->status), name ? ", SIG" : "",
                 name ? name : "");
    } else {
        snprintf(out, size, "[exit status %d]", WEXITSTATUS(run->status));
    }
}

static void describe_left(const struct run *run, char *out, size_t size)
{
    int used = 0;
    if (run->killed < 0 && !run->timed_out)
        used = snprintf(out, size, "[some of its processes went on after its end and were ended]\n");
    else if (run->killed > 0 && !run->timed_out)
        used = snprintf(out, size, "[%d of its processes went on after its end and %s ended]\n",
                        run->killed, run->killed == 1 ? "was" : "were");
    if (run->left > 0)
        snprintf(out + used, size - (size_t)used,
                 "[%d of its processes cannot be ended: somebody else's, or stuck in the kernel]\n",
                 run->left);
}

static mortise_status reply(const struct run *run)
{
    char end[160], left[320] = "";
    size_t length;
    char *text = output_text(&run->output, &length);
    if (!text)
        return MORTISE_NO_MEMORY;
    describe_end(run, end, sizeof(end));
    describe_left(run, left, sizeof(left));
    size_t size = length + sizeof(end) + sizeof(left);
    char *whole = mortise_alloc(run->call, size);
    if (!whole)
        return MORTISE_NO_MEMORY;
    memcpy(whole, text, length);
    length += (size_t)snprintf(whole + length, size - length, "%s%s", left, end);
    return mortise_reply_text(run->call, whole, length);
}

static int64_t time_limit(mortise_call *call, int64_t timeout_s)
{
    int64_t limit_ms = timeout_s * 1000, left_ms = mortise_remaining_ms(call);
    if (left_ms >= 0 && left_ms - LEAVE_MS < limit_ms)
        limit_ms = left_ms > 2 * LEAVE_MS ? left_ms - LEAVE_MS : left_ms / 2;
    return limit_ms;
}

static mortise_status run_command(mortise_call *call, const struct job_request *command,
                                  const char *cwd, const int64_t *wanted_s)
{
    const struct shell *self = mortise_state(call);
    int64_t timeout_s = wanted_s ? *wanted_s : self->timeout_s;
    struct job_request request = *command;
    struct run run = {.call = call};
    if (timeout_s > self->max_timeout_s)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "shell.timeout",
                               "'timeout_s' can be at most %" PRId64 " here", self->max_timeout_s);
    int folder = open_folder(call, cwd);
    if (folder < 0)
        return MORTISE_FAILED;
    request.shell = self->program;
    request.cwd = folder;
    bool ok = output_begin(&run.output, call, (size_t)self->output_bytes);
    run.limit_ms = time_limit(call, timeout_s);
    run.deadline_ms = job_now_ms() + run.limit_ms;
    ok = ok && job_start(&run.job, &request);
    int problem = errno;
    close(folder);
    if (!ok)
        return mortise_fail(call, "cannot start a process: %s", strerror(problem));
    follow(&run);
    job_release(&run.job);
    if (run.cancelled)
        return MORTISE_CANCELLED;
    if (run.start_problem)
        return mortise_fail(call, "cannot run '%s': %s", self->program,
                            strerror(run.start_problem));
    return reply(&run);
}

static mortise_status shell(mortise_call *call, const shell_args *args)
{
    const struct shell *self = mortise_state(call);
    const struct job_request command = {.command = args->command,
                                        .environment = self->environment};
    return run_command(call, &command, args->cwd, args->seen.timeout_s ? &args->timeout_s : NULL);
}

/* The variables are those of the call, which has a HOME and a TMPDIR of its own. */
static mortise_status shell_inside(mortise_call *call, const shell_inside_args *args)
{
    char *more[] = {(char *)(uintptr_t) "GIT_CONFIG_NOSYSTEM", NULL};
    setenv(more[0], "1", 1); /* a file that git may not read is one that it must, to git */
    char **environment = environment_make(more);
    const struct job_request command = {
        .command = args->command, .environment = environment, .is_confined = true};
    mortise_status status =
        environment ? run_command(call, &command, args->cwd,
                                  args->seen.timeout_s ? &args->timeout_s : NULL)
                    : MORTISE_NO_MEMORY;
    free(environment);
    return status;
}

/* ---- the plugin ---- */

static bool wants_tool(const void *state, const mortise_tool *tool)
{
    const struct shell *self = state;
    return self->is_allowed && (tool == &shell_inside_tool) == self->is_sandboxed;
}

static void shell_close(void *state)
{
    struct shell *self = state;
    free(self->environment);
    free(self);
}

static bool read_seconds(const mortise_host *host, const char *key, int64_t *out)
{
    mortise_status status = mortise_config_integer(host, key, out);
    if (status == MORTISE_NOT_FOUND || (status == MORTISE_OK && *out >= 1 && *out <= 86400))
        return true;
    mortise_refuse(host, "\"%s\" is not a number of seconds from 1 to 86400", key);
    return false;
}

static bool read_environment(const mortise_host *host, struct shell *self)
{
    char **more = NULL;
    const char *key = NULL;
    if (mortise_config_strings(host, "environment", &more) == MORTISE_INVALID) {
        mortise_refuse(host, "\"environment\" is not a list of names of variables");
        return false;
    }
    for (size_t i = 0; more && more[i] && !key; i++)
        key = environment_is_key(more[i]) ? more[i] : NULL;
    if (key)
        mortise_refuse(host, "\"environment\": '%s' is a key, which no command gets", key);
    else if (!(self->environment = environment_make(more)))
        mortise_refuse(host, "out of memory");
    free(more);
    return self->environment != NULL;
}

static bool read_config(const mortise_host *host, struct shell *self)
{
    if (mortise_config_boolean(host, "allow", &self->is_allowed) == MORTISE_INVALID) {
        mortise_refuse(host, "\"allow\" is neither true nor false");
        return false;
    }
    if (mortise_config_boolean(host, "sandboxed", &self->is_sandboxed) == MORTISE_INVALID) {
        mortise_refuse(host, "\"sandboxed\" is neither true nor false");
        return false;
    }
    mortise_status status =
        mortise_config_string(host, "program", self->program, sizeof(self->program));
    if (status == MORTISE_INVALID || self->program[0] != '/') {
        mortise_refuse(host, "\"program\" is not the absolute path of a shell");
        return false;
    }
    status = mortise_config_integer(host, "output_bytes", &self->output_bytes);
    if (status == MORTISE_INVALID || self->output_bytes < 1024 || self->output_bytes > 1 << 20) {
        mortise_refuse(host, "\"output_bytes\" is not a number from 1024 to 1048576");
        return false;
    }
    if (!read_seconds(host, "timeout_s", &self->timeout_s) ||
        !read_seconds(host, "max_timeout_s", &self->max_timeout_s))
        return false;
    if (self->timeout_s > self->max_timeout_s) {
        mortise_refuse(host, "\"timeout_s\" is above \"max_timeout_s\"");
        return false;
    }
    return read_environment(host, self);
}

static void *shell_open(const mortise_host *host)
{
    struct shell *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    *self = (struct shell){.timeout_s = 120, .max_timeout_s = 600, .output_bytes = 60 << 10};
    snprintf(self->program, sizeof(self->program), "%s",
             access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
    if (!read_config(host, self)) {
        shell_close(self);
        return NULL;
    }
    if (!self->is_allowed)
        mortise_log(host, MORTISE_LOG_NOTE,
                    "shell: switched off; {\"plugin-config\": {\"shell\": {\"allow\": true}}} in "
                    "the configuration lets the model run commands");
    return self;
}

MORTISE_PLUGIN(.name = "shell", .version = "1.0.0", .tools = MORTISE_TOOLS(shell, shell_inside),
               .open = shell_open, .close = shell_close, .wants_tool = wants_tool);
