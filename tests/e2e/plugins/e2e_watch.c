/* Tools that tell what they are told, and that say very much, or much in small steps, while they
 * run. */
#include <mortise/tool.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANYWHERE (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

static void pause_ms(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000},
              NULL);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void leave_mark(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* ---- context ------------------------------------------------------------------------------ */

MORTISE_TOOL(ask, ANYWHERE, "Say what is known by some keys.",
    (strings, keys, "The keys.", required));

static mortise_status ask(mortise_call *call, const ask_args *args)
{
    char text[2048];
    size_t used = 0;
    const char *const *keys = args->keys.items;
    for (size_t i = 0; i < args->keys.count && used < sizeof(text); i++) {
        const char *value = mortise_context(call, keys[i]);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s=%s\n", keys[i],
                                 value ? value : "none");
    }
    return mortise_reply(call, "%s", text);
}

/* Refuses every call of `ask` with what a hook knows. */
static mortise_verdict tell(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    static const char *const keys[] = {"user",      "session", "app",      "workspace", "invocation",
                                       "metadata.color", "scopes", "metadata", "model",  "call"};
    char text[2048];
    size_t used = 0;
    (void)state;
    if (strcmp(event->meta->name, "ask_hook") != 0)
        return MORTISE_CONTINUE;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && used < sizeof(text); i++) {
        const char *value = mortise_hook_context(hook, keys[i]);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s=%s\n", keys[i],
                                 value ? value : "none");
    }
    mortise_hook_respond(hook, false, "%s", text);
    return MORTISE_RESPOND;
}
MORTISE_HOOK(teller, .pre_tool_call = tell);

MORTISE_TOOL(ask_hook, ANYWHERE, "Is answered by the hook.", MORTISE_NO_ARGS);

static mortise_status ask_hook(mortise_call *call, const ask_hook_args *args)
{
    (void)args;
    return mortise_fail(call, "the hook did not answer");
}

/* ---- errors, and work that goes on ---------------------------------------------------------- */

MORTISE_TOOL(busy, ANYWHERE, "Be too busy.", (integer, wait_ms, "For how long.", fallback(3000)));

static mortise_status busy(mortise_call *call, const busy_args *args)
{
    return mortise_fail_retry(call, MORTISE_RATE_LIMITED, "busy.quota", args->wait_ms,
                              "the quota is used up");
}

MORTISE_TOOL(begin_job, MORTISE_LONG_RUNNING, "Begin a job.", MORTISE_NO_ARGS);

static mortise_status begin_job(mortise_call *call, const begin_job_args *args)
{
    (void)args;
    return mortise_reply_json(call, "{\"task_id\":\"job_1\",\"status\":\"processing\"}");
}

/* ---- progress ------------------------------------------------------------------------------- */

/* The file `mark` appears when all was said, and the tool ends then. */
MORTISE_TOOL(flood, ANYWHERE, "Say very much while it runs.",
    (integer, bytes, "How much.",                          required),
    (string,  mark,  "The file that tells that it is through.", required));

static mortise_status flood(mortise_call *call, const flood_args *args)
{
    char chunk[8192];
    memset(chunk, 'x', sizeof(chunk) - 1);
    chunk[sizeof(chunk) - 1] = '\n';
    for (int64_t said = 0; said < args->bytes; said += (int64_t)sizeof(chunk))
        mortise_emit(call, "stdout", chunk, sizeof(chunk));
    leave_mark(args->mark);
    return mortise_reply(call, "said %lld bytes: %s", (long long)args->bytes, args->mark);
}

/* Waits before each step, and at the end until the file `until` is there. */
MORTISE_TOOL(steps, ANYWHERE, "Say how far it is.",
    (integer, count,   "How many steps.",         required, range(1, 100000)),
    (integer, wait_ms, "How long one step takes.", fallback(0)),
    (string,  message, "Goes with each step.",     fallback("")),
    (boolean, unknown, "Do not tell the total.",   fallback(false)),
    (string,  until,   "A file to wait for.",      fallback("")));

static mortise_status steps(mortise_call *call, const steps_args *args)
{
    for (int64_t i = 1; i <= args->count; i++) {
        pause_ms(args->wait_ms);
        mortise_progress(call, (double)i, args->unknown ? 0 : (double)args->count, args->message);
    }
    while (*args->until && !exists(args->until) && !mortise_cancelled(call))
        pause_ms(5);
    return mortise_reply(call, "done");
}

MORTISE_TOOL(speak, ANYWHERE, "Say something on one of the streams, and end.",
    (strings, chunks,  "What to say.",             required),
    (string,  stream,  "The stream.",              fallback("stdout")),
    (integer, wait_ms, "How long before each, and before the end.", fallback(0)));

static mortise_status speak(mortise_call *call, const speak_args *args)
{
    const char *const *chunks = args->chunks.items;
    for (size_t i = 0; i < args->chunks.count; i++) {
        pause_ms(args->wait_ms);
        mortise_emit(call, args->stream, chunks[i], strlen(chunks[i]));
    }
    pause_ms(args->wait_ms);
    return mortise_reply(call, "spoken");
}

MORTISE_PLUGIN(.name = "e2e_watch", .version = "1.0.0",
               .tools = MORTISE_TOOLS(ask, ask_hook, busy, begin_job, flood, steps, speak),
               .hooks = MORTISE_HOOKS(teller));
