/*
 * kind - what a file is, by its first bytes.  Any thread.
 */
#ifndef FILES_KIND_H
#define FILES_KIND_H

#include <stdbool.h>
#include <stddef.h>

struct kind {
    const char *mime_type; /* NULL: text, as far as can be told */
    bool is_shown;         /* an image or a document that a model may be able to see */
    const char *advice;    /* what to do with it instead, or NULL */
};

struct kind kind_of(const char *data, size_t length);

/* Whether a search leaves it out: it has a NUL among the first bytes, as no text has. */
bool kind_is_binary(const char *data, size_t length);

#endif
