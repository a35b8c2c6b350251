/* bedrock - what Amazon Bedrock puts around the events and errors of the models that it hosts. */
#ifndef PROVIDER_BEDROCK_H
#define PROVIDER_BEDROCK_H

#include "provider/event_stream.h"
#include "provider/provider.h"

/* See struct wire. */
void bedrock_open_message(const struct event_stream_message *message, struct stream *stream,
                          struct text *event);
void bedrock_advise(struct error *error);

#endif
