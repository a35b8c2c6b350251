/*
 * recording - a run that was written down, to be looked at and done again.
 *
 * A file of JSON objects, one a line, each with its "type":
 *
 *     header       "format" (1), "mortise", "created_ms", "settings", "tool-config"
 *     model        who was asked: "provider", "model", "format", "host", "attempts", "profile",
 *                  "parts"; again where it changed
 *     plugins      tools and hooks there were; again where they changed
 *     run          "prompt", or "resume"; "system", "locked" (items) and "history" where that is
 *                  not what the run before left
 *     request      "turn", "attempt", "url", "headers" (names), "body": the JSON itself, or a
 *                  string of it where it has line ends
 *     response     "status", "hints", "chunks" ([ms, text or {"base64": …}]), "calls" (their ids),
 *                  "end" ("whole" or "cut"), "error"; "withheld" when its bytes are left out
 *     hook         "hook", "event", "n" (how often it was asked at this event, so far), "edits",
 *                  "verdict", "reason"; none where it went on without a change
 *     tool_result  before PostToolCall: "id", "name", "arguments", "made", "success", "text", …
 *     kept         "name", "path" of the whole of what was cut; "found", its text, when it was
 *                  kept earlier
 *     result       "status", "text", "turns", "usage", "error", "duration_ms"
 *
 * Secrets are "[redacted]" everywhere.  The file may be torn or come from a stranger: members are
 * checked here, as far as the table in recording.c goes; what is inside of them by who reads it.
 */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "base/error.h"
#include "base/json_walk.h"
#include "base/text.h"

#define RECORDING_FORMAT 1

#define RECORD_KINDS(X)                                                                            \
    X(HEADER, "header")                                                                            \
    X(MODEL, "model")                                                                              \
    X(PLUGINS, "plugins")                                                                          \
    X(RUN, "run")                                                                                  \
    X(REQUEST, "request")                                                                          \
    X(RESPONSE, "response")                                                                        \
    X(HOOK, "hook")                                                                                \
    X(TOOL_RESULT, "tool_result")                                                                  \
    X(KEPT, "kept")                                                                                \
    X(RESULT, "result")

enum record_kind {
#define X(name, text) RECORD_##name,
    RECORD_KINDS(X)
#undef X
        RECORD_KIND_COUNT
};
const char *record_kind_name(enum record_kind kind);

struct record {
    enum record_kind kind;
    size_t line;            /* from 1 */
    struct json_piece json; /* the whole object, within recording.bytes */
    bool is_used;           /* by who replays it */
};

struct recording {
    struct text bytes;
    struct record *items;
    size_t count;
    size_t capacity;
    bool is_torn; /* the last line is not whole: it is left out */
};

/* False with *error (kind usage, "FILE: line 3: …"; config when the file cannot be read).  Either
 * way it is to be released. */
bool recording_read(struct recording *recording, const char *path, struct error *error);
/* The same of recording->bytes. */
bool recording_parse(struct recording *recording, const char *name, struct error *error);
void recording_release(struct recording *recording);

/* A member; length 0: it is not there. */
struct json_piece record_member(const struct record *record, const char *name);
bool record_has(const struct record *record, const char *name);
int64_t record_integer(const struct record *record, const char *name, int64_t fallback);
bool record_is_true(const struct record *record, const char *name);
/* Puts a string in the place of `out`; without one it is empty.  False: no memory. */
bool record_text(const struct record *record, const char *name, struct text *out);
/* Whether a member is this string. */
bool record_says(const struct record *record, const char *name, const char *string);
/* The whole of it, for what is small; NULL with *error (kind usage, or no memory). */
json_t *record_value(const struct record *record, struct error *error);

int64_t json_piece_integer(struct json_piece piece, int64_t fallback);

#endif
