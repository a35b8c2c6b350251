/* Tools that a test can watch: they wait, fail, meet each other and answer at length. */
#include <mortise/tool.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- marks: files by which a tool tells the test what happened to it ---------------------- */

static void leave_mark(const char *path, const char *what)
{
    char name[4096];
    int length = snprintf(name, sizeof(name), "%s.%s", path, what);
    int fd = length < (int)sizeof(name) ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
}

/* ---- waiting ------------------------------------------------------------------------------ */

MORTISE_TOOL(wait_for_cancel, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Wait until the call is cancelled.",
    (string, mark, "Files with this name and an ending tell how far it is.", required));

static mortise_status wait_for_cancel(mortise_call *call, const wait_for_cancel_args *args)
{
    struct pollfd told = {.fd = mortise_cancel_fd(call), .events = POLLIN};
    leave_mark(args->mark, "started");
    if (poll(&told, 1, 60000) > 0 && mortise_cancelled(call))
        leave_mark(args->mark, "told");
    return MORTISE_CANCELLED;
}

MORTISE_TOOL(stubborn, MORTISE_READ_ONLY, "Wait a minute, whatever happens.",
    (string, mark, "Files with this name and an ending tell how far it is.", required));

static mortise_status stubborn(mortise_call *call, const stubborn_args *args)
{
    leave_mark(args->mark, "started");
    for (int tenths = 0; tenths < 600; tenths++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return mortise_reply(call, "done");
}

/* ---- meeting: how many calls are inside at once ------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int inside, most; /* now, and since the last time that nobody was */

static struct timespec after_ms(int64_t wait_ms)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += (time_t)(wait_ms / 1000);
    time.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

/* Waits until `wanted` calls were inside, or for a while; answers with the most there were. */
static mortise_status meet_others(mortise_call *call, int64_t wanted, int64_t wait_ms)
{
    struct timespec until = after_ms(wait_ms);
    pthread_mutex_lock(&lock);
    if (++inside > most)
        most = inside;
    pthread_cond_broadcast(&changed);
    int status = 0;
    while (most < wanted && status == 0)
        status = pthread_cond_timedwait(&changed, &lock, &until);
    int met = most;
    if (--inside == 0)
        most = 0;
    pthread_mutex_unlock(&lock);
    return mortise_reply(call, "together: %d", met);
}

MORTISE_TOOL(meet, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Wait for other calls.",
    (integer, wanted,  "How many calls to wait for.", required),
    (integer, wait_ms, "How long to wait.",           fallback(10000)));

static mortise_status meet(mortise_call *call, const meet_args *args)
{
    return meet_others(call, args->wanted, args->wait_ms);
}

MORTISE_TOOL(meet_alone, 0, "The same, without a promise that this is safe.",
    (integer, wanted,  "How many calls to wait for.", required),
    (integer, wait_ms, "How long to wait.",           fallback(10000)));

static mortise_status meet_alone(mortise_call *call, const meet_alone_args *args)
{
    return meet_others(call, args->wanted, args->wait_ms);
}

/* ---- answers ------------------------------------------------------------------------------ */

MORTISE_TOOL(echo, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Say the same again.",
    (string, text, "What to say.", required));

static mortise_status echo(mortise_call *call, const echo_args *args)
{
    return mortise_reply(call, "%s", args->text);
}

MORTISE_TOOL_WITH(fails, (examples("{\"why\": \"it rains\"}")),
    MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Fail.",
    (string, why, "The reason.", fallback("it is broken")));

static mortise_status fails(mortise_call *call, const fails_args *args)
{
    return mortise_fail_as(call, MORTISE_UNAVAILABLE, "e2e.broken", "%s", args->why);
}

/* A first line, a last line, and between them as many bytes as wanted. */
MORTISE_TOOL(big, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Say very much.",
    (integer, bytes, "How much.", required, range(0, 50000000)));

static mortise_status big(mortise_call *call, const big_args *args)
{
    static const char first[] = "FIRST\n", last[] = "\nLAST";
    size_t length = (size_t)args->bytes;
    char *text = malloc(sizeof(first) + length + sizeof(last));
    if (!text)
        return MORTISE_NO_MEMORY;
    memcpy(text, first, sizeof(first) - 1);
    memset(text + sizeof(first) - 1, 'x', length);
    memcpy(text + sizeof(first) - 1 + length, last, sizeof(last) - 1);
    mortise_status status =
        mortise_reply_text(call, text, sizeof(first) - 1 + length + sizeof(last) - 1);
    free(text);
    return status;
}

/* What would move a terminal's cursor, change its title or its colours. */
MORTISE_TOOL(evil, MORTISE_READ_ONLY, "Say what no terminal should hear.", MORTISE_NO_ARGS);

static mortise_status evil(mortise_call *call, const evil_args *args)
{
    static const char progress[] = "\033]0;progress\007\033[2Jgoing on";
    (void)args;
    mortise_emit(call, "stdout", progress, sizeof(progress) - 1);
    return mortise_reply(call, "\033]0;result\007\033[31mred\r\b\177 \302\2331A tail");
}

/* A side effect that can be counted: the text is one more line of the file. */
MORTISE_TOOL(note, 0, "Write a line into a file.",
    (string,  file,    "The file.",                      required),
    (string,  text,    "The line.",                      required),
    (integer, wait_ms, "How long to take before and after it.", fallback(0)));

static mortise_status note(mortise_call *call, const note_args *args)
{
    struct timespec pause = {.tv_nsec = (long)(args->wait_ms * 1000000)};
    nanosleep(&pause, NULL);
    int fd = open(args->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[256];
    int length = snprintf(line, sizeof(line), "%s\n", args->text);
    bool written = fd >= 0 && write(fd, line, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    nanosleep(&pause, NULL);
    return written ? mortise_reply(call, "noted: %s", args->text)
                   : mortise_fail(call, "cannot write '%s'", args->file);
}

MORTISE_TOOL(who, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Say who asks.", MORTISE_NO_ARGS);

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static mortise_status who(mortise_call *call, const who_args *args)
{
    const char *session = mortise_context(call, "session");
    (void)args;
    return mortise_reply(call, "user=%s tenant=%s agent=%s%s%s",
                         or_none(mortise_context(call, "user")),
                         or_none(mortise_context(call, "tenant")),
                         or_none(mortise_context(call, "agent")),
                         session ? " session=" : "", session ? session : "");
}

MORTISE_TOOL_WITH(guarded, (scopes("vault:read")), MORTISE_READ_ONLY, "Needs a scope.",
    MORTISE_NO_ARGS);

static mortise_status guarded(mortise_call *call, const guarded_args *args)
{
    (void)args;
    return mortise_reply(call, "the vault is open");
}

MORTISE_PLUGIN(.name = "e2e_tools", .version = "1.2.3",
               .tools = MORTISE_TOOLS(wait_for_cancel, stubborn, meet, meet_alone, echo, fails, big,
                                      evil, note, who, guarded));
