/*
 * pattern_syntax - a regular expression of ECMA-262 in the words of PCRE2.
 *
 * Most is the same.  What is not, and what becomes of it:
 *   \s \S              spaces of Unicode too (not a negated \S inside of [])
 *   [[:a]              a "[" inside of [] is a character
 *   \p{Letter}         long names of general categories: the short ones
 *   \uD83D\uDC32       a surrogate pair: one character
 */
#ifndef SCHEMA_PATTERN_SYNTAX_H
#define SCHEMA_PATTERN_SYNTAX_H

#include <stddef.h>

#include "base/text.h"

/* Appends the expression to `out`. */
void pattern_translate(const char *regex, size_t length, struct text *out);

/* The byte of `regex` that byte `offset` of its translation comes from. */
size_t pattern_origin(const char *regex, size_t length, size_t offset);

#endif
