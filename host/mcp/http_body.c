#include "mcp/http_body.h"

/* What may come beside the body, in all, and say nothing: extensions of chunks, and trailers. */
#define EXTRA_MAX  16384
#define DIGITS_MAX 8

enum state {
    PLAIN, /* `left` bytes, and that is all */
    SIZE,
    EXTENSION, /* behind the size, up to the end of the line */
    SIZE_FEED, /* the line feed that ends it */
    CHUNK,
    CHUNK_RETURN,
    CHUNK_FEED,
    TRAILER, /* at the beginning of a line of the trailer */
    TRAILER_LINE,
    TRAILER_FEED,
    LAST_FEED,
    ENDED
};

int http_body_begin(struct http_body *body, uint64_t length, bool is_chunked, size_t max)
{
    text_reset(&body->text);
    body->max = max;
    body->left = is_chunked ? 0 : length;
    body->state = is_chunked ? SIZE : length ? PLAIN : ENDED;
    body->digits = 0;
    body->extra = 0;
    if (!is_chunked && length > max)
        return 413;
    return body->state == ENDED ? HTTP_BODY_DONE : HTTP_BODY_MORE;
}

void http_body_release(struct http_body *body)
{
    text_release(&body->text);
}

/* As much as is there of what is left. */
static size_t take_bytes(struct http_body *body, const char *data, size_t length)
{
    size_t some = length < body->left ? length : (size_t)body->left;
    text_append(&body->text, data, some);
    body->left -= some;
    return some;
}

static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static int go_on(struct http_body *body, char byte, char expected, unsigned state)
{
    body->state = state;
    return byte == expected ? 0 : 400;
}

static int take_size(struct http_body *body, char byte)
{
    int value = value_of(byte);
    if (value < 0) {
        if (!body->digits || (byte != '\r' && byte != ';'))
            return 400;
        body->state = byte == '\r' ? SIZE_FEED : EXTENSION;
        return body->left > body->max - body->text.length ? 413 : 0;
    }
    if (body->digits++ == DIGITS_MAX)
        return 413;
    body->left = body->left * 16 + (uint64_t)value;
    return 0;
}

/* Within a line that tells us nothing: a bare line feed could be its end for another reader. */
static int skip(struct http_body *body, char byte, unsigned feed)
{
    if (byte == '\r')
        body->state = feed;
    return byte == '\n' || byte == '\0' ? 400 : 0;
}

/* A byte between the chunks. */
static int take_byte(struct http_body *body, char byte)
{
    switch ((enum state)body->state) {
    case SIZE:
        return take_size(body, byte);
    case EXTENSION:
        body->extra++;
        return skip(body, byte, SIZE_FEED);
    case SIZE_FEED:
        body->digits = 0;
        return go_on(body, byte, '\n', body->left ? CHUNK : TRAILER);
    case CHUNK_RETURN:
        return go_on(body, byte, '\r', CHUNK_FEED);
    case CHUNK_FEED:
        return go_on(body, byte, '\n', SIZE);
    case TRAILER:
    case TRAILER_LINE:
        body->extra++;
        if (body->state == TRAILER && byte == '\r')
            return go_on(body, byte, '\r', LAST_FEED);
        body->state = TRAILER_LINE;
        return skip(body, byte, TRAILER_FEED);
    case TRAILER_FEED:
        return go_on(body, byte, '\n', TRAILER);
    case LAST_FEED:
        return go_on(body, byte, '\n', ENDED);
    case PLAIN:
    case CHUNK:
    case ENDED:
        break;
    }
    return 0;
}

int http_body_take(struct http_body *body, const char *data, size_t length, size_t *used)
{
    int status = 0;
    *used = 0;
    while (!status && *used < length && body->state != ENDED) {
        if (body->state != PLAIN && body->state != CHUNK) {
            status = take_byte(body, data[(*used)++]);
        } else {
            *used += take_bytes(body, data + *used, length - *used);
            if (!body->left)
                body->state = body->state == PLAIN ? ENDED : CHUNK_RETURN;
        }
        if (body->extra > EXTRA_MAX)
            status = 400;
    }
    if (body->text.failed)
        return 503;
    return status ? status : body->state == ENDED ? HTTP_BODY_DONE : HTTP_BODY_MORE;
}
