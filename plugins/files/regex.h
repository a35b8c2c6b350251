/*
 * regex - a regular expression of PCRE2, with limits that no pattern gets past.
 *
 * It is compiled to machine code where that is allowed.  Before each place where a match could
 * begin the clock and the call's cancellation are looked at, and from one place it backtracks only
 * so often.  One thread.
 */
#ifndef FILES_REGEX_H
#define FILES_REGEX_H

#include <mortise/tool.h>

struct regex;

enum regex_end {
    REGEX_NONE,
    REGEX_MATCH,
    REGEX_TOO_MUCH, /* it backtracks too often */
    REGEX_TIME,     /* the time for the whole search is over */
    REGEX_CANCELLED,
    REGEX_NO_MEMORY
};

struct regex_options {
    bool literal, ignore_case;
    bool multiline;  /* ^ and $ match at every line, the dot matches line ends */
    int64_t time_ms; /* for all that is searched, from now */
};

/* NULL: `why` (of `size` bytes) says what is wrong with the pattern, for the model. */
struct regex *regex_new(mortise_call *call, const char *pattern,
                        const struct regex_options *options, char *why, size_t size);
void regex_free(struct regex *regex);

/* The first match in `data` from `at` on. */
enum regex_end regex_find(struct regex *regex, const char *data, size_t length, size_t at,
                          size_t *from, size_t *to);

#endif
