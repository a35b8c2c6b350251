/* openai_chat - the two halves of the Chat Completions format: writing and reading. */
#ifndef PROVIDER_OPENAI_CHAT_H
#define PROVIDER_OPENAI_CHAT_H

#include "provider/provider.h"

/* See struct wire. */
bool openai_chat_write(struct text *body, const struct profile *profile, const char *model,
                       const struct request *request, struct error *error);

#endif
