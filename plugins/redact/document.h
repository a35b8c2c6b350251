/* document - takes the secrets out of texts that may be JSON, which stay the JSON they were. */
#ifndef REDACT_DOCUMENT_H
#define REDACT_DOCUMENT_H

#include "secrets.h"

/* As secrets_redact(), for any text.  In JSON the strings are read, also those that hold JSON
 * again, and only those with secrets are written anew. */
bool document_redact(const struct secrets *secrets, const char *text, size_t length,
                     struct buffer *out);

/* The same for an item of the conversation, which is JSON that the host wrote: only what people,
 * models and tools said in it is looked at. */
bool document_redact_item(const struct secrets *secrets, const char *json, size_t length,
                          struct buffer *out);

#endif
