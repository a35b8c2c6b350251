/*
 * secrets - finds secrets in plain text and puts "[redacted]" in their places.
 *
 * What it writes depends on the text alone, and written a second time it stays the same: a
 * "[redacted]" that is already there is never part of a match.  Time grows with the length of
 * the text.  A set of secrets does not change once it is filled; then any thread may use it.
 */
#ifndef REDACT_SECRETS_H
#define REDACT_SECRETS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

#define REDACTED "[redacted]"
enum { SECRET_MIN_BYTES = 4 }; /* shorter ones are in every text */

struct literal {
    char *text;
    size_t length;
};

struct secrets {
    bool keys; /* well-known formats of keys */
    struct literal *literals;
    size_t literal_count;
    regex_t *patterns;
    size_t pattern_count;
    bool starts[256]; /* bytes that a literal or a key may begin with */
};

/* Adds a text as it is, and as it is written in a JSON string.  false: no memory. */
bool secrets_add_text(struct secrets *secrets, const char *text);
/* Adds a POSIX extended regular expression, which is matched within single lines.  NULL, or
 * what is wrong with it, in `why`. */
const char *secrets_add_pattern(struct secrets *secrets, const char *pattern, char *why,
                                size_t size);
void secrets_add_keys(struct secrets *secrets);
void secrets_release(struct secrets *secrets);

/* Whether there are secrets in `text`; then `out`, which is empty, gets the text without
 * them.  Or there was no memory: out->failed. */
bool secrets_redact(const struct secrets *secrets, const char *text, size_t length,
                    struct buffer *out);

#endif
