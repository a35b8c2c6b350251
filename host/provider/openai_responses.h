/* openai_responses - the two halves of the OpenAI Responses format: writing and reading. */
#ifndef PROVIDER_OPENAI_RESPONSES_H
#define PROVIDER_OPENAI_RESPONSES_H

#include "provider/provider.h"

/* See struct wire. */
bool openai_responses_write(struct text *body, const struct profile *profile, const char *model,
                            const struct request *request, struct error *error);

#endif
