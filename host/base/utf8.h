/*
 * utf8 - text becomes valid where it crosses a border (tool results, network, files).
 *
 * All functions carry lengths.  "Valid" is what RFC 3629 says: no overlong forms, no
 * surrogates, nothing above U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* How many leading bytes are valid; `length` when all are. */
size_t utf8_valid(const char *data, size_t length);

/* The characters (code points) of valid text. */
size_t utf8_count(const char *data, size_t length);

/* Appends `data` with every bad byte and every NUL replaced by U+FFFD. */
void utf8_append_clean(struct text *out, const char *data, size_t length);

/* The largest n <= max that does not split a character of the (valid) text. */
size_t utf8_cut(const char *data, size_t length, size_t max);
/* The smallest n >= min that starts a character: for keeping a tail. */
size_t utf8_cut_tail(const char *data, size_t length, size_t min);

/* Appends what may be shown on a terminal: clean as above, C0, C1 and DEL left out but
 * for newline and tab, and bidirectional overrides (U+202A-202E, U+2066-2069) left out. */
void utf8_append_visible(struct text *out, const char *data, size_t length);
/* The same on one line: newlines and tabs become blanks. */
void utf8_append_line(struct text *out, const char *data, size_t length);

#endif
