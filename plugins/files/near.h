/*
 * near - what a text that does not occur in a file was perhaps meant to be.  Any thread.
 */
#ifndef FILES_NEAR_H
#define FILES_NEAR_H

#include "text.h"

/* Appends to an error what is most like `old` in the text, with its lines and what differs. */
void near_describe(struct text *out, const char *data, size_t length, const char *old);

#endif
