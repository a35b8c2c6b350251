/* gemini - what the halves of the Gemini format share: writing and reading. */
#ifndef PROVIDER_GEMINI_H
#define PROVIDER_GEMINI_H

#include "provider/provider.h"

/* See struct wire. */
bool gemini_write(struct text *body, const char *provider, const char *model,
                  const struct request *request, struct error *error);

/* The 3 of "gemini-3-pro-preview"; 0 when the name tells none. */
unsigned gemini_generation(const char *model);

#endif
