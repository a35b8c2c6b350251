/*
 * pattern - the regular expressions of JSON Schema ("pattern", "patternProperties").
 *
 * ECMA-262's syntax in its Unicode mode, matched by PCRE2 (loaded when the first pattern is
 * compiled): unanchored, by code points, \d and \w are ASCII, "$" is only the very end.  What
 * both know means the same; some of what only PCRE2 knows, such as (?i), is not refused.
 *
 * A pattern is written by an author and its text by a model, so no text may make it run for
 * long: a match that needs too much time or memory is an error.
 *
 * Immutable once compiled: any number of threads may match one pattern at the same time.
 */
#ifndef SCHEMA_PATTERN_H
#define SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pattern;

/* What several matches may take together: about half a second of the thread's processor time.
 * Starts zeroed; stays with one thread. */
struct pattern_clock {
    unsigned ticks;
    int64_t end_ns; /* 0: the clock was not looked at yet */
};

/* NULL with *error: kind plugin, "the pattern '^(a' is not valid: missing closing parenthesis
 * at character 3"; config, when PCRE2 is not installed; internal, no memory. */
struct pattern *pattern_compile(const char *regex, size_t length, struct error *error);
void pattern_free(struct pattern *pattern); /* NULL is fine */

/* Whether the pattern occurs anywhere in the text, which must be valid UTF-8.  `clock` may be
 * NULL: then this match has one of its own.  False with *error: kind limit, it takes more work
 * than is allowed; or internal, no memory. */
bool pattern_matches(const struct pattern *pattern, const char *text, size_t length,
                     struct pattern_clock *clock, bool *matches, struct error *error);

#endif
