#include "remote/asked_http.h"

#include <stdlib.h>

#define HEADERS_MAX 1000
#define ANSWER_MAX  (PARCEL_MESSAGE_MAX - ((size_t)1 << 20))

/* ---- while it is made ---- */

static bool hand_on(struct asked_http *asked)
{
    if (!asked->is_enough)
        asked->is_enough = !asked->hand_on(asked);
    return !asked->is_enough;
}

static void put_headers(struct text *out, const mortise_http_header *headers, size_t count)
{
    parcel_put_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        parcel_put_string(out, headers[i].name);
        parcel_put_string(out, headers[i].value);
    }
}

static void hand_on_head(void *data, uint32_t status, const mortise_http_header *headers,
                         size_t count)
{
    struct asked_http *asked = data;
    parcel_begin(asked->out, PARCEL_ANSWERED);
    parcel_put_u32(asked->out, status);
    put_headers(asked->out, headers, count);
    hand_on(asked);
}

static bool hand_on_piece(void *data, const void *bytes, size_t length)
{
    struct asked_http *asked = data;
    parcel_begin(asked->out, PARCEL_RECEIVED);
    parcel_put_bytes(asked->out, bytes, length);
    return hand_on(asked);
}

/* ---- what is asked ---- */

static mortise_http_header *read_headers(struct parcel *message, size_t *count)
{
    *count = parcel_u32(message);
    message->bad |= *count > HEADERS_MAX;
    mortise_http_header *headers = message->bad ? NULL : calloc(*count + 1, sizeof(*headers));
    message->bad |= !headers;
    for (size_t i = 0; i < *count && !message->bad; i++) {
        headers[i].name = parcel_needed(message);
        headers[i].value = parcel_needed(message);
    }
    return headers;
}

/* The message's own bytes are gone once a piece was handed on, so those of the request are copied. */
bool asked_http_read(struct asked_http *asked, struct parcel *message)
{
    mortise_http_request *request = &asked->request;
    text_append(&asked->copy, message->data, message->left);
    if (asked->copy.failed)
        return false;
    struct parcel own = {
        .type = message->type, .data = asked->copy.data, .left = asked->copy.length};
    request->size = sizeof(*request);
    request->flags = parcel_u32(&own);
    request->method = parcel_string(&own);
    request->url = parcel_string(&own);
    request->headers = read_headers(&own, &request->header_count);
    request->body = parcel_bytes(&own, &request->body_length);
    request->timeout_ms = parcel_i64(&own);
    request->max_bytes = (size_t)parcel_u64(&own);
    request->max_redirects = parcel_u32(&own);
    request->received = parcel_flag(&own) ? hand_on_piece : NULL;
    request->answered = parcel_flag(&own) ? hand_on_head : NULL;
    request->received_data = asked;
    asked->has_stop = parcel_flag(&own);
    return parcel_ends(&own);
}

void asked_http_release(struct asked_http *asked)
{
    free((void *)(uintptr_t)asked->request.headers);
    text_release(&asked->copy);
}

/* ---- the answer ---- */

static void put_failure(struct text *out, mortise_status status, const char *problem)
{
    parcel_begin(out, PARCEL_ANSWER);
    parcel_put_u32(out, (uint32_t)status);
    parcel_put_string(out, problem);
}

void asked_http_answer(const struct asked_http *asked, mortise_status status,
                       const mortise_http_response *response)
{
    struct text *out = asked->out;
    put_failure(out, status, response->problem);
    if (status != MORTISE_OK)
        return;
    parcel_put_u32(out, response->status);
    put_headers(out, response->headers, response->header_count);
    parcel_put_string(out, response->content_type);
    parcel_put_string(out, response->url);
    parcel_put_bytes(out, response->body, response->body_length);
    if (out->failed)
        put_failure(out, MORTISE_NO_MEMORY, "out of memory");
    else if (out->length > ANSWER_MAX)
        put_failure(out, MORTISE_FAILED,
                    "the answer is larger than what can be handed to a process of its own: take "
                    "it in pieces");
}
