/* anthropic - the two halves of the Anthropic Messages format: writing and reading. */
#ifndef PROVIDER_ANTHROPIC_H
#define PROVIDER_ANTHROPIC_H

#include "provider/provider.h"

/* See struct wire. */
bool anthropic_write(struct text *body, const struct profile *profile, const char *model,
                     const struct request *request, struct error *error);
/* The same for Amazon Bedrock, where the path names the model and says that it is streamed. */
bool bedrock_write(struct text *body, const struct profile *profile, const char *model,
                   const struct request *request, struct error *error);

#endif
