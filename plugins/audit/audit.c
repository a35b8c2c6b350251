/* Hooks that only watch: one JSON line for each event of a run, appended to a file. */
#include <mortise/tool.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct audit {
    const mortise_host *host;
    int fd;                   /* -1: no file was named, nothing is written */
    bool deltas;              /* also the pieces of a streamed answer */
    atomic_bool failure_told; /* hooks of several sessions run at once */
};

/* ---- one line ----------------------------------------------------------------------------- */

/* A line under construction, in memory of open_memstream(). */
struct line {
    FILE *out; /* NULL: this event is not written, or there is no memory */
    char *text;
    size_t length;
};

static void add_text(struct line *line, const char *key, const char *text, size_t length)
{
    size_t size = mortise_json_quote(NULL, 0, text, length) + 1;
    char *quoted = malloc(size);
    if (quoted) {
        mortise_json_quote(quoted, size, text, length);
        fprintf(line->out, ",\"%s\":%s", key, quoted);
    }
    free(quoted);
}

static void add_word(struct line *line, const char *key, const char *word)
{
    if (word)
        add_text(line, key, word, strlen(word));
}

/* `json` is JSON already; a line break in it is space between its parts. */
static void add_json(struct line *line, const char *key, const char *json, size_t length)
{
    fprintf(line->out, ",\"%s\":", key);
    for (size_t i = 0; i < length; i++)
        putc(json[i] == '\n' || json[i] == '\r' ? ' ' : json[i], line->out);
}

static void add_number(struct line *line, const char *key, long long number)
{
    fprintf(line->out, ",\"%s\":%lld", key, number);
}

/* Begins the line of an event; false: no memory. */
static bool line_begin(struct line *line, mortise_hook *hook, const char *event)
{
    line->out = open_memstream(&line->text, &line->length);
    if (!line->out)
        return false;
    struct timespec now;
    struct tm utc;
    char time_text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(line->out, "{\"time\":\"%s.%03ldZ\",\"event\":\"%s\"", time_text, now.tv_nsec / 1000000,
            event);
    add_word(line, "session", mortise_hook_context(hook, "session"));
    add_word(line, "user", mortise_hook_context(hook, "user"));
    return true;
}

/* Ends the line and appends it with one write(), so that lines of several writers stay whole. */
static mortise_verdict line_end(struct line *line, struct audit *self)
{
    fputs("}\n", line->out);
    bool written = fclose(line->out) == 0;
    errno = written ? 0 : ENOMEM;
    if (written) {
        ssize_t n;
        do {
            n = write(self->fd, line->text, line->length);
        } while (n < 0 && errno == EINTR);
        written = n == (ssize_t)line->length;
    }
    if (!written && !atomic_exchange(&self->failure_told, true))
        mortise_log(self->host, MORTISE_LOG_ERROR, "audit: lines are missing from the file: %s",
                    errno ? strerror(errno) : "it was written in part");
    free(line->text);
    return MORTISE_CONTINUE;
}

/* ---- the events ---------------------------------------------------------------------------- */

static mortise_verdict prompt_submit(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    struct line line;
    if (!line_begin(&line, hook, "prompt_submit"))
        return MORTISE_CONTINUE;
    add_json(&line, "item", event->item, event->item_length);
    return line_end(&line, state);
}

static mortise_verdict pre_llm_request(void *state, mortise_hook *hook,
                                       const mortise_pre_llm_request *event)
{
    struct line line;
    if (!line_begin(&line, hook, "pre_llm_request"))
        return MORTISE_CONTINUE;
    add_number(&line, "turn", event->turn);
    add_word(&line, "model", event->model);
    add_number(&line, "items", (long long)hook->ops->item_count(hook));
    return line_end(&line, state);
}

static mortise_verdict pre_tool_call(void *state, mortise_hook *hook,
                                     const mortise_pre_tool_call *event)
{
    struct line line;
    if (!line_begin(&line, hook, "pre_tool_call"))
        return MORTISE_CONTINUE;
    add_number(&line, "turn", event->turn);
    add_word(&line, "call_id", event->call_id);
    add_word(&line, "tool", event->meta->name);
    add_json(&line, "arguments", event->arguments, event->arguments_length);
    return line_end(&line, state);
}

static mortise_verdict post_tool_call(void *state, mortise_hook *hook,
                                      const mortise_post_tool_call *event)
{
    struct line line;
    if (!line_begin(&line, hook, "post_tool_call"))
        return MORTISE_CONTINUE;
    add_number(&line, "turn", event->turn);
    add_word(&line, "call_id", event->call_id);
    add_word(&line, "tool", event->meta->name);
    add_json(&line, "is_error", event->is_error ? "true" : "false", event->is_error ? 4 : 5);
    add_word(&line, "error_code", event->error_code);
    add_text(&line, "result", event->result, event->result_length);
    add_number(&line, "duration_us", event->duration_us);
    return line_end(&line, state);
}

static mortise_verdict turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    struct line line;
    if (!line_begin(&line, hook, "turn_end"))
        return MORTISE_CONTINUE;
    add_number(&line, "turn", event->turn);
    size_t count = hook->ops->item_count(hook), length;
    const char *answer = count > 0 ? hook->ops->item(hook, count - 1, &length) : NULL;
    if (answer)
        add_json(&line, "item", answer, length);
    return line_end(&line, state);
}

static mortise_verdict on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    struct line line;
    if (!line_begin(&line, hook, "on_abort"))
        return MORTISE_CONTINUE;
    add_text(&line, "reason", event->reason, event->reason_length);
    return line_end(&line, state);
}

static mortise_verdict text_delta(void *state, mortise_hook *hook, const mortise_text_delta *event)
{
    struct line line;
    if (!line_begin(&line, hook, "text_delta"))
        return MORTISE_CONTINUE;
    add_number(&line, "index", event->index);
    add_text(&line, "text", event->text, event->length);
    return line_end(&line, state);
}

static mortise_verdict tool_call_delta(void *state, mortise_hook *hook,
                                       const mortise_tool_call_delta *event)
{
    struct line line;
    if (!line_begin(&line, hook, "tool_call_delta"))
        return MORTISE_CONTINUE;
    add_number(&line, "index", event->index);
    add_text(&line, "json", event->json, event->length);
    return line_end(&line, state);
}

static mortise_verdict stream_chunk(void *state, mortise_hook *hook,
                                    const mortise_stream_chunk *event)
{
    struct line line;
    if (!line_begin(&line, hook, "stream_chunk"))
        return MORTISE_CONTINUE;
    add_number(&line, "index", event->index);
    add_word(&line, "chunk", event->event);
    add_json(&line, "json", event->json, event->length);
    return line_end(&line, state);
}

static mortise_verdict stream_complete(void *state, mortise_hook *hook,
                                       const mortise_stream_complete *event)
{
    struct line line;
    if (!line_begin(&line, hook, "stream_complete"))
        return MORTISE_CONTINUE;
    add_number(&line, "turn", event->turn);
    add_number(&line, "events", (long long)event->event_count);
    return line_end(&line, state);
}

/* First of all: the first hook that decides ends the chain, and what it decided on is seen here. */
MORTISE_HOOK(audit, .priority = -1000,
    .prompt_submit = prompt_submit, .pre_llm_request = pre_llm_request,
    .pre_tool_call = pre_tool_call, .turn_end = turn_end, .on_abort = on_abort,
    .stream_complete = stream_complete);

/* The pieces of an answer, if they are asked for. */
MORTISE_HOOK(audit_deltas, .priority = -1000,
    .text_delta = text_delta, .tool_call_delta = tool_call_delta, .stream_chunk = stream_chunk);

/* Last of all: what the other hooks made of the result. */
MORTISE_HOOK(audit_results, .priority = 1000, .post_tool_call = post_tool_call);

/* ---- the plugin ---------------------------------------------------------------------------- */

/* The file of the configuration, or of the environment, or "" when none is named. */
static bool find_file(const mortise_host *host, char path[PATH_MAX])
{
    mortise_status status = mortise_config_string(host, "file", path, PATH_MAX);
    if (status != MORTISE_NOT_FOUND)
        return status == MORTISE_OK;
    const char *named = getenv("MORTISE_AUDIT_FILE");
    int length = snprintf(path, PATH_MAX, "%s", named ? named : "");
    return length >= 0 && length < PATH_MAX;
}

static void *audit_open(const mortise_host *host)
{
    char path[PATH_MAX];
    bool deltas = false;
    if (!find_file(host, path))
        return mortise_refuse(host, "\"file\" is not the name of a file");
    if (mortise_config_boolean(host, "deltas", &deltas) == MORTISE_INVALID)
        return mortise_refuse(host, "\"deltas\" is neither true nor false");

    int fd = -1;
    if (path[0] == '\0') {
        mortise_log(host, MORTISE_LOG_DEBUG,
                    "audit: nothing is written: no \"file\" is configured");
    } else {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd < 0)
            return mortise_refuse(host, "cannot write '%s': %s", path, strerror(errno));
    }
    struct audit *self = calloc(1, sizeof(*self));
    if (!self) {
        if (fd >= 0)
            close(fd);
        return mortise_refuse(host, "out of memory");
    }
    self->host = host;
    self->fd = fd;
    self->deltas = deltas;
    return self;
}

static void audit_close(void *state)
{
    struct audit *self = state;
    if (self->fd >= 0)
        close(self->fd);
    free(self);
}

/* Without a file there is nothing to do. */
static bool audit_wants(const void *state, const mortise_hooks *hooks)
{
    const struct audit *self = state;
    return self->fd >= 0 && (self->deltas || hooks->text_delta == NULL);
}

MORTISE_PLUGIN(.name = "audit", .version = "1.0.0",
               .hooks = MORTISE_HOOKS(audit, audit_deltas, audit_results),
               .open = audit_open, .wants = audit_wants, .close = audit_close);
