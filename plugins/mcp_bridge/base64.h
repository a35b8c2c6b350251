/*
 * base64 - bytes as text, as RFC 4648 has it.
 */
#ifndef BASE64_H
#define BASE64_H

#include "buffer.h"

/* Appends what stands for the bytes. */
void base64_encode(struct buffer *out, const char *bytes, size_t length);
/* The bytes, malloc'ed; NULL: it is no base64, or there was no memory.  White space is passed over,
 * padding may be missing, and the alphabet for URLs is taken too. */
char *base64_decode(const char *text, size_t length, size_t *out_length);

#endif
