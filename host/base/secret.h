/*
 * secret - values that must never be shown: API keys and what is like them.
 *
 * Whoever reads a key registers it here; whatever leaves the process as text for people
 * (log, errors, events, recordings) passes through secret_redact().  Thread-safe.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Values shorter than 6 bytes are ignored: they would redact ordinary words.
 * False when there is no memory; the caller then must not use the value. */
bool secret_add(const char *value, size_t length);
/* A value as it is written in a URL: so, and as it is meant. */
bool secret_add_encoded(const char *value, size_t length);
/* Replaces each registered value, and its JSON-escaped, percent-encoded and base64 forms,
 * by "[redacted]".  Without memory for that the text is emptied and has failed. */
void secret_redact(struct text *text);
/* The same for a NUL-terminated buffer; a value that would not fit is cut, not shown. */
void secret_redact_buffer(char *buffer, size_t size);
/* Wipes and frees all. */
void secret_clear(void);
/* Wipes and frees a string that holds one; NULL is fine. */
void secret_free(char *value);

/*
 * Keeps this process's memory to itself: a crash writes no core, and no other process of the user
 * may look into it, its environment or its descriptors.  What libraries copied of a key, and the
 * variables that it came from, are nowhere that could be left out of a core page by page.  A child
 * that is executed is not concerned, neither is root.
 */
void secret_hide_memory(void);
bool secret_memory_is_hidden(void);

#endif
