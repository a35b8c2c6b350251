/* Tools for clients of a protocol on standard output: they print where they should not, give every
 * kind of content, take their time and break. */
#include <mortise/tool.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- noise ---------------------------------------------------------------------------------- */

static void make_noise(const char *when)
{
    printf("noise in %s\n", when);
    fflush(stdout);
    dprintf(STDOUT_FILENO, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"noise\"}\n");
}

__attribute__((constructor)) static void load(void)
{
    make_noise("the constructor");
}

__attribute__((destructor)) static void unload(void)
{
    make_noise("the destructor");
}

MORTISE_TOOL_WITH(noise, (title("Make noise")), 0, "Print, and read standard input.",
    MORTISE_NO_ARGS);

static mortise_status noise(mortise_call *call, const noise_args *args)
{
    char bytes[16];
    (void)args;
    make_noise("the call");
    return mortise_reply(call, "read %d", (int)read(STDIN_FILENO, bytes, sizeof(bytes)));
}

/* ---- echo ----------------------------------------------------------------------------------- */

MORTISE_TOOL(echo, MORTISE_READ_ONLY | MORTISE_IDEMPOTENT, "Say the same again.",
    (string, message, "What to say.", required),
    (string, mood, "How to say it.", one_of("calm", "loud")));

static mortise_status echo(mortise_call *call, const echo_args *args)
{
    return mortise_reply(call, "%s", args->message);
}

/* ---- content -------------------------------------------------------------------------------- */

MORTISE_TOOL(media, MORTISE_READ_ONLY, "Attach so many bytes of a type.",
    (string,  type,  "The MIME type.", required),
    (integer, bytes, "How many.",      required),
    (string,  uri,   "Where they are from."),
    (string,  name,  "Their name."),
    (string,  text,  "The bytes, in the place of a number of them."));

static mortise_status media(mortise_call *call, const media_args *args)
{
    size_t length = args->text ? strlen(args->text) : (size_t)args->bytes;
    char *data = malloc(length + 1);
    if (!data)
        return MORTISE_NO_MEMORY;
    for (size_t i = 0; i < length; i++)
        data[i] = args->text ? args->text[i] : (char)(i * 7 + 250);
    const mortise_attachment attachment = {.size = sizeof(attachment),
                                           .mime_type = args->type,
                                           .name = args->name,
                                           .data = data,
                                           .length = length,
                                           .uri = args->uri};
    mortise_status status = call->ops->attach(call, &attachment);
    free(data);
    return status;
}

MORTISE_TOOL(link_to, MORTISE_OPEN_WORLD, "Attach a link.",
    (string, uri, "Where it is.", required));

static mortise_status link_to(mortise_call *call, const link_to_args *args)
{
    mortise_attach_uri(call, "text/html", "a page", args->uri);
    return mortise_reply(call, "see there");
}

MORTISE_TOOL_RAW_WITH(structured,
    (output_schema("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                   "\"required\":[\"n\"]}")),
    MORTISE_READ_ONLY, "Give what it is given.",
    "{\"type\":\"object\",\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"$defs\":{\"how\":{\"enum\":[\"json\",\"text\"],\"$anchor\":\"how\"}},"
    "\"properties\":{\"how\":{\"$ref\":\"#/$defs/how\"},\"give\":{}},"
    "\"if\":{\"required\":[\"how\"]},\n  \"then\":\r\n{\"required\":[\"give\"]}\n}");

/* The text behind "give":, up to the end of the object. */
static mortise_status structured(mortise_call *call, const char *json)
{
    const char *give = strstr(json, "\"give\":");
    size_t length = give ? strlen(give + 7) - 1 : 0;
    if (!give)
        return mortise_reply_json(call, "{\n  \"n\": 1,\r\n  \"text\": \"a\\nb\"\n}");
    if (strstr(json, "\"text\""))
        return mortise_reply_text(call, give + 7, length);
    return mortise_reply_json(call, "%.*s", (int)length, give + 7);
}

MORTISE_TOOL(big, MORTISE_READ_ONLY, "Say very much.",
    (integer, bytes, "How much.", required));

static mortise_status big(mortise_call *call, const big_args *args)
{
    char *text = malloc((size_t)args->bytes + 1);
    if (!text)
        return MORTISE_NO_MEMORY;
    memset(text, 'x', (size_t)args->bytes);
    mortise_status status = mortise_reply_text(call, text, (size_t)args->bytes);
    free(text);
    return status;
}

/* ---- what breaks ---------------------------------------------------------------------------- */

MORTISE_TOOL(breaks, MORTISE_DESTRUCTIVE, "Go wrong.",
    (string, how, "In which way.", required));

static mortise_status breaks(mortise_call *call, const breaks_args *args)
{
    static const char bad[] = {'a', (char)0xff, 0, 'b'};
    if (strcmp(args->how, "fail") == 0)
        return mortise_fail(call, "it is broken");
    if (strcmp(args->how, "json") == 0)
        return mortise_reply_json(call, "{\"a\":");
    if (strcmp(args->how, "bytes") == 0)
        return mortise_reply_text(call, bad, sizeof(bad));
    if (strcmp(args->how, "exit") == 0)
        _exit(3);
    if (strcmp(args->how, "crash") == 0)
        abort();
    if (strcmp(args->how, "sampling") == 0)
        return mortise_fail_as(call, MORTISE_NOT_SUPPORTED, "mcp.capability.sampling",
                               "this needs a client that can sample");
    return 77; /* no status */
}

MORTISE_TOOL(client, MORTISE_READ_ONLY, "Tell what is known of the client.", MORTISE_NO_ARGS);

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static mortise_status client(mortise_call *call, const client_args *args)
{
    (void)args;
    return mortise_reply(
        call, "%s %s session=%s user=%s", or_none(mortise_context(call, "metadata.mcp.version")),
        or_none(mortise_context(call, "metadata.mcp.capabilities")),
        or_none(mortise_context(call, "session")), or_none(mortise_context(call, "user")));
}

/* ---- what takes its time -------------------------------------------------------------------- */

static void leave_mark(const char *path, const char *what)
{
    char name[4096];
    snprintf(name, sizeof(name), "%s.%s", path, what);
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void pause_ms(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = ms % 1000 * 1000000},
              NULL);
}

MORTISE_TOOL(slow, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Take so long.",
    (integer, ms,   "How long.", required),
    (string,  mark, "Files with this name and an ending tell how far it is."),
    (boolean, deaf, "Do not stop when the call is cancelled."));

static mortise_status slow(mortise_call *call, const slow_args *args)
{
    if (args->mark)
        leave_mark(args->mark, "started");
    for (int64_t at = 0; at < args->ms; at += 5) {
        pause_ms(5);
        if (mortise_cancelled(call) && !args->deaf) {
            if (args->mark)
                leave_mark(args->mark, "told");
            return MORTISE_CANCELLED;
        }
    }
    return mortise_reply(call, "took %d ms", (int)args->ms);
}

static void stop_waiting(void *data)
{
    mortise_finish(data, MORTISE_CANCELLED);
}

MORTISE_TOOL(waits, MORTISE_READ_ONLY, "Answer once the call is cancelled, or never.",
    (string,  mark, "Files with this name and an ending tell how far it is.", required),
    (boolean, deaf, "Never."));

static _Atomic(mortise_call *) waiting; /* somebody has to know it */

static mortise_status waits(mortise_call *call, const waits_args *args)
{
    waiting = call;
    if (!args->deaf)
        mortise_on_cancel(call, stop_waiting, call);
    leave_mark(args->mark, "started");
    return MORTISE_PENDING;
}

MORTISE_TOOL(steps, MORTISE_READ_ONLY, "Tell its progress.",
    (integer, count, "How many steps.",         required),
    (integer, ms,    "How long each takes.",    fallback(0)),
    (boolean, prints, "Print instead of numbers."),
    (boolean, falls,  "Count backwards."));

static mortise_status steps(mortise_call *call, const steps_args *args)
{
    for (int64_t i = 0; i < args->count; i++) {
        char line[64];
        snprintf(line, sizeof(line), "step %d", (int)i);
        if (args->prints)
            mortise_emit(call, "stdout", line, strlen(line));
        else
            mortise_progress(call, (double)(args->falls ? args->count - i : i), (double)args->count,
                             line);
        pause_ms(args->ms);
    }
    return mortise_reply(call, "%d steps", (int)args->count);
}

MORTISE_PLUGIN(.name = "e2e_mcp", .version = "1.0.0",
               .tools = MORTISE_TOOLS(noise, echo, media, link_to, structured, big, breaks, client,
                                      slow, steps, waits));
