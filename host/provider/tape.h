/*
 * tape - who is told of requests and responses as they are on the wire, so that they can be
 * written down and done again (host/record).  The thread that runs the turn loop.
 */
#ifndef PROVIDER_TAPE_H
#define PROVIDER_TAPE_H

#include "provider/http_error.h"
#include "provider/provider.h"

struct wire_tape {
    /* A request that is about to be sent.  Each of `headers` is a whole line, one with the key. */
    void (*request)(void *self, const char *url, const struct curl_slist *headers,
                    const struct text *body);
    /* Bytes of its response, as http_response_receive() gets them. */
    void (*received)(void *self, const char *data, size_t length);
    /* The response is over, but for stream_finish().  `whole`: http_response_conclude() decided
     * how it ended; else the transfer did, and stream->error tells. */
    void (*response)(void *self, int status, const struct http_hints *hints, bool whole,
                     const struct stream *stream);
    void *self;
};

/* What a client writes requests and reads responses with.  Borrowed. */
struct client_facts {
    const struct profile *profile;
    const char *host; /* as messages name it */
};

#endif
