/* http_body - the body of a request of HTTP/1 as it comes in, with its length or in chunks. */
#ifndef MCP_HTTP_BODY_H
#define MCP_HTTP_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct http_body {
    struct text text; /* what came so far */
    size_t max;
    uint64_t left;   /* of the body, or of the chunk */
    unsigned state;  /* private */
    unsigned digits; /* of the chunk's size */
    size_t extra;    /* bytes beside the body: extensions of chunks, trailers */
};

enum { HTTP_BODY_MORE = 0, HTTP_BODY_DONE = 1 }; /* else the status to refuse it with */

/* Begins one of `length` bytes, or one that comes in chunks.  Keeps the memory of the one before.
 */
int http_body_begin(struct http_body *body, uint64_t length, bool is_chunked, size_t max);
/* Takes *used of the bytes; those behind the end of the body are left. */
int http_body_take(struct http_body *body, const char *data, size_t length, size_t *used);
void http_body_release(struct http_body *body);

#endif
