/*
 * event - everything that happens in a run, in the order in which it happens.
 *
 * One list of kinds, one struct.  All text in an event is borrowed for the length of the
 * dispatch, carries its length and is valid UTF-8.
 */
#ifndef TIMELINE_EVENT_H
#define TIMELINE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

/* name, name in `--json` (NULL: not shown there) */
#define EVENT_KINDS(X)                                                                             \
    X(RUN_START, "run_start")                                                                      \
    X(TURN_START, "turn_start")                                                                    \
    X(BLOCK_START, NULL)  /* "tool_call_start" for calls */                                        \
    X(BLOCK_DELTA, NULL)  /* "text_delta", "reasoning_delta", … by block kind */                   \
    X(BLOCK_STOP, NULL)                                                                            \
    X(USAGE, "usage")                                                                              \
    X(PING, NULL)                                                                                  \
    X(STATUS, "status")                                                                            \
    X(STOP, NULL)         /* the model's stop reason: terminal evidence */                         \
    X(VERBATIM, NULL)     /* the provider's own form of the response */                            \
    X(RETRY, "retry")                                                                              \
    X(RESET, "reset")                                                                              \
    X(ERROR, "error")                                                                              \
    X(TOOL_CALL, "tool_call")                                                                      \
    X(TOOL_PROGRESS, "tool_progress")                                                              \
    X(TOOL_RESULT, "tool_result")                                                                  \
    X(HOOK, "hook")                                                                                \
    X(TURN_END, "turn_end")                                                                        \
    X(RESULT, "result")                                                                            \
    X(SETTLED, NULL)      /* nothing more is waiting at this moment: a good time to flush */

enum event_kind {
#define X(name, json) EVENT_##name,
    EVENT_KINDS(X)
#undef X
        EVENT_KIND_COUNT
};

/* For handler masks. */
#define EVENT_BIT(kind) (UINT32_C(1) << (kind))
#define EVENT_ALL       UINT32_MAX

enum block_kind { BLOCK_TEXT, BLOCK_REASONING, BLOCK_TOOL_USE, BLOCK_REFUSAL };

enum stop_reason {
    STOP_UNKNOWN, /* no terminal evidence */
    STOP_END,
    STOP_TOOL_USE,
    STOP_LENGTH,
    STOP_CONTENT_FILTER,
    STOP_REFUSAL,
    STOP_PAUSE,
    STOP_ERROR
};

/* A file or an image that goes with a result. */
struct event_part {
    const char *mime_type;
    const char *name; /* or NULL */
    const char *uri;  /* where it is; NULL: its bytes are here */
    size_t bytes;
};

/* Tokens, as the provider counts them; -1 = it did not say. */
struct usage {
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cached_tokens;
    int64_t cache_write_tokens;
    int64_t reasoning_tokens;
};
#define USAGE_INIT {-1, -1, -1, -1, -1}

/* What the calls of one tool came to in a run. */
struct tool_usage {
    const char *name;
    int64_t calls, errors;
    int64_t total_us, p99_us; /* inside the tool */
};

/* What a tool told those who watch, while it ran. */
struct tool_progress {
    const char *id;     /* of the call */
    const char *name;   /* of the tool, as the model called it */
    const char *stream; /* "stdout", …; NULL for numeric progress */
    struct slice text;
    double done, total; /* numeric progress; total 0 = not known */
    bool notice;        /* "[mortise: tool progress truncated]", the one of its call (F47) */
};

struct event {
    enum event_kind kind;
    union {
        struct {
            const char *session; /* NULL: none */
            const char *model;   /* "anthropic/…" */
            const char *const *tools;
            size_t tool_count;
        } run_start;
        struct {
            unsigned turn;
            const char *prefix_sha256; /* of a locked session's requests; NULL: none */
        } turn_start;
        /* BLOCK_START, BLOCK_DELTA, BLOCK_STOP.  `index` counts the blocks of a response. */
        struct {
            enum block_kind kind;
            unsigned index;
            const char *id;    /* TOOL_USE start: never NULL */
            const char *name;  /* TOOL_USE start */
            struct slice text; /* DELTA: text, or a fragment of JSON; STOP: the whole */
            bool aborted;      /* STOP: the response broke off within the block */
        } block;
        struct usage usage;
        struct {
            struct slice text;
        } status;
        struct {
            enum stop_reason reason;
        } stop;
        struct {
            struct slice json;
        } verbatim;
        struct {
            unsigned attempt; /* the one that failed, from 1 */
            int64_t wait_ms;
            const struct error *reason;
        } retry;
        struct {
            const char *reason;
        } reset;
        const struct error *error;
        struct {
            const char *id;
            const char *name;
            struct slice arguments; /* a JSON object when valid, else the raw text */
            bool valid;
            bool long_running; /* its tool answers at once and works on */
        } tool_call;
        struct tool_progress tool_progress;
        struct {
            const char *id;
            const char *name;
            bool success;
            struct slice result;   /* what the model sees */
            const char *component; /* of an error, else NULL */
            const char *category;
            const char *code;
            bool retryable;         /* of an error: it may be tried again … */
            int64_t retry_after_ms; /* … after so long; 0: not known */
            int64_t duration_us;
            const struct event_part *parts;
            size_t part_count;
        } tool_result;
        struct {
            const char *hook;
            const char *event;
            const char *decision;
            const char *reason; /* NULL: none */
        } hook;
        struct {
            unsigned turn;
            enum stop_reason reason;
        } turn_end;
        struct {
            const char *status; /* "finished", "failed", "limit", … */
            struct slice text;
            int exit_code;
            const char *session;
            unsigned turns;
            struct usage usage;
            int64_t duration_ms;
            const struct tool_usage *tools; /* those that were called */
            size_t tool_count;
        } result;
    } as;
};

const char *event_kind_name(enum event_kind kind);   /* the `--json` name or NULL */
/* The same for one event, with those that are named by block kind: "text_delta", …  Exactly
 * the events that have such a name have a JSON form. */
const char *event_type_name(const struct event *event);
const char *block_kind_name(enum block_kind kind);   /* "text", "reasoning", "tool_call", "refusal" */
const char *stop_reason_name(enum stop_reason reason); /* NULL for STOP_UNKNOWN */

/* NULL when the event is another (F40). */
const struct tool_progress *event_tool_progress(const struct event *event);

/* Adds what is known of `more` to `total`. */
void usage_add(struct usage *total, const struct usage *more);

/* The event as one JSON object without a newline ({"type":"text_delta",…}), as `--json` and
 * the stream_chunk hook show it.  False when it has no such form; nothing is appended then. */
struct text;
bool event_write_json(const struct event *event, struct text *out);

/* The same for the stream_chunk hook, which hears of every event of a response: those that
 * `--json` leaves out too ("text_start", "tool_call_stop", "ping", "stop").  Returns the type. */
const char *event_write_chunk(const struct event *event, struct text *out);

#endif
