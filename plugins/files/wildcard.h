/*
 * wildcard - patterns of file names: * ? [a-z] [!a-z] and a backslash within a name, ** for any
 * number of folders, {a,b} for either.  Any thread.
 *
 * Matching takes at most the product of both lengths, whatever the pattern.
 */
#ifndef FILES_WILDCARD_H
#define FILES_WILDCARD_H

#include <stdbool.h>
#include <stddef.h>

/* One pattern, without braces, against a path without a slash in front. */
bool wildcard_match(const char *pattern, const char *path);

/* A pattern with its braces written out.  One without a slash is for names, in any folder. */
struct wildcards {
    char **patterns; /* NULL-terminated */
    size_t count;
};

/* NULL, or why it is none: words for the model. */
const char *wildcards_init(struct wildcards *wildcards, const char *pattern);
void wildcards_release(struct wildcards *wildcards);
bool wildcards_match(const struct wildcards *wildcards, const char *path);

#endif
