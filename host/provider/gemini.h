/* gemini - what the halves of the Gemini format share: writing and reading. */
#ifndef PROVIDER_GEMINI_H
#define PROVIDER_GEMINI_H

#include "provider/provider.h"

/* See struct wire. */
bool gemini_write(struct text *body, const struct profile *profile, const char *model,
                  const struct request *request, struct error *error);

/* A tool's name, quoted.  One that begins as no name may here goes as "functions.NAME", which a
 * call of it is known by. */
void gemini_put_name(struct text *out, const char *name);
/* See struct wire: with that front it may be too long. */
bool gemini_takes_name(const char *name);
/* The 3 of "gemini-3-pro-preview"; 0 when the name tells none. */
unsigned gemini_generation(const char *model);

#endif
