/*
 * A call of a tool that needs a sandbox: prepare(), and then a process for the call.
 *
 * There is no sandbox here, but what the host does beside it: each call begins with what prepare()
 * left, in an empty folder, with an environment of four variables, and what it changes is gone with
 * it.  The child writes what came of the call to a file without a name, which this process reads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "internal.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)256 << 20)

/* ---- what goes from one process to the other ---- */

static void put(FILE *out, const void *bytes, size_t length)
{
    fwrite(bytes, 1, length, out);
}

/* A length of SIZE_MAX is NULL. */
static void put_bytes(FILE *out, const void *bytes, size_t length)
{
    size_t told = bytes ? length : SIZE_MAX;
    put(out, &told, sizeof(told));
    if (bytes)
        put(out, bytes, length);
}

static void put_text(FILE *out, const char *text)
{
    put_bytes(out, text, text ? strlen(text) : 0);
}

static void put_result(FILE *out, const mortise_test_result *result)
{
    put(out, result, sizeof(*result)); /* its pointers are replaced by what follows */
    put_bytes(out, result->text, result->length);
    put_text(out, result->component);
    put_text(out, result->code);
    put_text(out, result->message);
    for (size_t i = 0; i < result->attachment_count; i++) {
        const mortise_attachment *attachment = &result->attachments[i];
        put_text(out, attachment->mime_type);
        put_text(out, attachment->name);
        put_bytes(out, attachment->data, attachment->length);
        put_text(out, attachment->uri);
    }
    for (size_t i = 0; i < result->progress_count; i++) {
        const mortise_test_progress *step = &result->progress[i];
        put(out, step, sizeof(*step));
        put_text(out, step->stream);
        put_bytes(out, step->text, step->length);
    }
}

struct reader {
    FILE *in;
    mortise_test *test;
    bool bad;
};

static void get(struct reader *reader, void *bytes, size_t length)
{
    reader->bad = reader->bad || fread(bytes, 1, length, reader->in) != length;
    if (reader->bad)
        memset(bytes, 0, length);
}

static const char *get_bytes(struct reader *reader, size_t *length)
{
    size_t told;
    get(reader, &told, sizeof(told));
    reader->bad = reader->bad || (told > TEXT_MAX && told != SIZE_MAX);
    *length = 0;
    if (reader->bad || told == SIZE_MAX)
        return NULL;
    char *bytes = mortise__pool_take(&reader->test->pool, told + 1);
    get(reader, bytes, told);
    *length = told;
    return bytes;
}

static const char *get_text(struct reader *reader)
{
    size_t length;
    return get_bytes(reader, &length);
}

static void get_lists(struct reader *reader, mortise_test_result *result)
{
    struct pool *pool = &reader->test->pool;
    mortise_attachment *attachments =
        mortise__pool_take(pool, result->attachment_count * sizeof(*attachments));
    mortise_test_progress *progress =
        mortise__pool_take(pool, result->progress_count * sizeof(*progress));
    for (size_t i = 0; i < result->attachment_count && !reader->bad; i++) {
        attachments[i].size = sizeof(*attachments);
        attachments[i].mime_type = get_text(reader);
        attachments[i].name = get_text(reader);
        attachments[i].data = get_bytes(reader, &attachments[i].length);
        attachments[i].uri = get_text(reader);
    }
    for (size_t i = 0; i < result->progress_count && !reader->bad; i++) {
        get(reader, &progress[i], sizeof(progress[i]));
        progress[i].stream = get_text(reader);
        progress[i].text = get_bytes(reader, &progress[i].length);
    }
    result->attachments = attachments;
    result->progress = progress;
}

/* False: the process ended before it had told everything. */
static bool get_result(struct reader *reader, mortise_test_result *result)
{
    mortise_test_result own = *result;
    get(reader, result, sizeof(*result));
    if (reader->bad)
        return false;
    result->call = own.call;
    result->invocation = own.invocation;
    result->text = get_bytes(reader, &result->length);
    result->component = get_text(reader);
    result->code = get_text(reader);
    result->message = get_text(reader);
    if (!reader->bad)
        get_lists(reader, result);
    return !reader->bad;
}

/* ---- prepare() ---- */

static void fail(mortise_test *test, mortise_test_result *result, mortise_category category,
                 const char *message)
{
    result->status = MORTISE_FAILED;
    result->category = category;
    result->message = mortise__pool_text(&test->pool, message);
}

/* Once for each tool; false: it has failed, and what it said is in the test. */
static bool prepare(mortise_test *test, const mortise_tool *tool)
{
    struct preparation *preparation = test->prepared;
    while (preparation && preparation->tool != tool)
        preparation = preparation->next;
    if (!preparation) {
        preparation = mortise__pool_take(&test->pool, sizeof(*preparation));
        *preparation = (struct preparation){.next = test->prepared, .tool = tool, .good = true};
        test->prepared = preparation;
        if (MORTISE_HAS(tool, mortise_tool, prepare) && tool->prepare)
            preparation->good = tool->prepare(tool, &test->host) == MORTISE_OK;
        preparation->reason = test->refusal;
        test->refusal = NULL;
    }
    if (!preparation->good)
        test->reason = preparation->reason ? preparation->reason : "its prepare() has failed";
    return preparation->good;
}

/* ---- the process of a call ---- */

static void set_environment(const char *folder)
{
    clearenv();
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    setenv("LANG", "C.UTF-8", 1);
    setenv("HOME", folder, 1);
    setenv("TMPDIR", folder, 1);
}

static void run_child(const struct confined_call *call, FILE *file, const char *folder)
{
    set_environment(folder);
    if (chdir(folder) != 0)
        _exit(EXIT_FAILURE);
    unsigned failures = mortise__test_failures();
    call->run(call->data);
    failures = mortise__test_failures() - failures;
    put(file, &failures, sizeof(failures));
    put_result(file, call->result);
    fflush(file);
    fflush(stderr);
    _exit(EXIT_SUCCESS);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Waits for its end; what goes on longer than a test's patience is killed. */
static int wait_for(mortise_test *test, pid_t child, bool *late)
{
    int status = 0;
    struct pollfd end = {(int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0};
    *late = end.fd >= 0 && poll(&end, 1, (int)test->patience_ms) == 0;
    if (*late)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (end.fd >= 0)
        close(end.fd);
    return status;
}

static void describe_end(mortise_test *test, mortise_test_result *result, int status, bool late)
{
    char text[100];
    if (late)
        snprintf(text, sizeof(text), "was not finished in time");
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof(text), "ended its process with exit code %d", WEXITSTATUS(status));
    fail(test, result, late ? MORTISE_TIMEOUT : MORTISE_INTERNAL, text);
}

static void take_result(mortise_test *test, const struct confined_call *call, FILE *file,
                        int status, bool late)
{
    struct reader reader = {.in = file, .test = test};
    unsigned failures;
    rewind(file);
    get(&reader, &failures, sizeof(failures));
    if (late || !get_result(&reader, call->result))
        describe_end(test, call->result, status, late);
    else
        mortise__test_add_failures(failures);
}

bool mortise__test_is_confined(const mortise_tool *tool)
{
    return tool->meta->flags & MORTISE_SANDBOX_REQUIRED;
}

void mortise__test_run_confined(mortise_test *test, const mortise_tool *tool,
                                const struct confined_call *call)
{
    char folder[] = "/tmp/mortise-test-XXXXXX";
    int fd = memfd_create("result", MFD_CLOEXEC), status;
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    bool late;
    if (!prepare(test, tool)) {
        fail(test, call->result, MORTISE_UNAVAILABLE, test->reason);
    } else if (!file || !mkdtemp(folder)) {
        fail(test, call->result, MORTISE_INTERNAL, strerror(errno));
    } else {
        fflush(stderr);
        pid_t child = fork();
        if (child == 0)
            run_child(call, file, folder);
        status = wait_for(test, child, &late);
        take_result(test, call, file, status, late);
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    if (file)
        fclose(file);
}
