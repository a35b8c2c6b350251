/*
 * error - what went wrong, told once, where it happened.
 *
 * Functions that can fail return false (or NULL) and fill a `struct error` that the
 * caller owns.  A message says what failed first, quotes its subject, is lower case
 * and has no full stop.  The text lives inside the struct, so reporting that memory
 * ran out needs no memory.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* The kinds that a user, a script or the `--json` stream can tell apart. */
#define ERROR_KINDS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(USAGE, "usage")                                                                              \
    X(CONFIG, "config")                                                                            \
    X(PLUGIN, "plugin")                                                                            \
    X(BAD_REQUEST, "bad_request")                                                                  \
    X(AUTH, "auth")                                                                                \
    X(CONTEXT_OVERFLOW, "context_overflow")                                                        \
    X(RATE_LIMIT, "rate_limit")                                                                    \
    X(OVERLOADED, "overloaded")                                                                    \
    X(SERVER, "server")                                                                            \
    X(STREAM_TRUNCATED, "stream_truncated")                                                        \
    X(TIMEOUT, "timeout")                                                                          \
    X(CONTENT_FILTER, "content_filter")                                                            \
    X(TOOL_CALL_MALFORMED, "tool_call_malformed")                                                  \
    X(NETWORK, "network")                                                                          \
    X(CANCELLED, "cancelled")                                                                      \
    X(HOOK, "hook")                                                                                \
    X(LIMIT, "limit")                                                                              \
    X(INTERNAL, "internal")

enum error_kind {
#define X(name, text) ERROR_##name,
    ERROR_KINDS(X)
#undef X
};

struct error {
    enum error_kind kind;
    bool retryable;         /* the same request may succeed if it is sent again */
    int64_t retry_after_ms; /* what the server asked for; -1 = it did not say */
    int status;             /* HTTP status, 0 = none */
    char message[1024];     /* valid UTF-8, cut on a character border */
};

#define ERROR_INIT {.retry_after_ms = -1}

/* Fills *error and returns false, so that a failing function can `return error_set(…)`.
 * `error` may be NULL.  Clears retryable, retry_after_ms and status. */
bool error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* error_set() for a failed allocation: kind internal, "out of memory". */
bool error_memory(struct error *error);

/* Puts "FORMAT: " before the message that is there: the caller's view of what failed. */
void error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void error_clear(struct error *error);

/* "rate_limit"; never NULL. */
const char *error_kind_name(enum error_kind kind);

#endif
