#include "provider/http_response.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"

#define DOCUMENT_MOST_BYTES (64u << 20)
#define ERROR_MOST_BYTES    (1u << 20)
#define MARK                "\xEF\xBB\xBF"
#define MARK_SIZE           (sizeof(MARK) - 1)

/* ---- what went wrong ---- */

bool http_response_has_failed(const struct http_response *response)
{
    return response->stream->error.kind != ERROR_NONE;
}

void http_response_fail(struct http_response *response, enum error_kind kind, bool retryable,
                        const char *format, ...)
{
    struct error error = ERROR_INIT;
    char message[sizeof(error.message)];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    error_set(&error, kind, "%s", message);
    error.retryable = retryable;
    stream_fail(response->stream, &error);
}

void http_response_fail_memory(struct http_response *response)
{
    http_response_fail(response, ERROR_INTERNAL, false, "out of memory");
}

/* ---- bytes ---- */

/* What the body is, from its first byte that is no blank and no byte order mark.  Those are
 * taken away.  A message begins with a zero, and nothing else does. */
static enum http_body sniff(const struct wire *wire, struct text *text)
{
    size_t at = 0;
    if (wire->open_message && !text->data[0])
        return HTTP_BODY_MESSAGES;
    size_t head = text->length < MARK_SIZE ? text->length : MARK_SIZE;
    if (memcmp(text->data, MARK, head) == 0)
        at = head;
    while (at < text->length && strchr(" \t\r\n", text->data[at]))
        at++;
    if (at == text->length) {
        if (at >= MARK_SIZE) /* else it may be a part of the mark */
            text_reset(text);
        return HTTP_BODY_UNKNOWN;
    }
    text->length -= at;
    memmove(text->data, text->data + at, text->length + 1);
    switch (text->data[0]) {
    case '{':
    case '[':
        return HTTP_BODY_DOCUMENT;
    case '<':
        return HTTP_BODY_PAGE;
    default:
        return HTTP_BODY_EVENTS;
    }
}

static void on_event(void *context, const char *data, size_t length)
{
    struct http_response *response = context;
    if (!response->stream->ended)
        response->wire->decoder_event(response->decoder, data, length);
}

static void on_message(void *context, const struct event_stream_message *message)
{
    struct http_response *response = context;
    if (response->stream->ended)
        return;
    text_reset(&response->event);
    response->wire->open_message(message, response->stream, &response->event);
    if (response->event.failed)
        http_response_fail_memory(response);
    else if (response->event.length)
        on_event(response, response->event.data, response->event.length);
}

static bool is_cut(const struct http_response *response)
{
    return response->body == HTTP_BODY_EVENTS || response->body == HTTP_BODY_MESSAGES;
}

/* Of a body that is cut into events. */
static void feed(struct http_response *response, const char *data, size_t length)
{
    struct error error = ERROR_INIT;
    if (!(response->body == HTTP_BODY_EVENTS
              ? sse_feed(&response->sse, data, length, &error)
              : event_stream_feed(&response->messages, data, length, &error)))
        stream_fail(response->stream, &error);
}

static void collect(struct http_response *response, const char *data, size_t length)
{
    struct text *received = &response->received;
    if (response->body == HTTP_BODY_ERROR || response->body == HTTP_BODY_PAGE) {
        size_t room = ERROR_MOST_BYTES - received->length;
        text_append(received, data, length < room ? length : room);
        return;
    }
    if (length > DOCUMENT_MOST_BYTES - received->length) {
        http_response_fail(response, ERROR_SERVER, false,
                           "'%s' sent a document of more than %u MiB", response->host,
                           DOCUMENT_MOST_BYTES >> 20);
        return;
    }
    text_append(received, data, length);
    if (received->failed)
        http_response_fail_memory(response);
}

/* The bytes of all events together: an answer without an end does end. */
static bool count(struct http_response *response, size_t length)
{
    response->total_bytes += length;
    if (!response->most_bytes || response->total_bytes <= response->most_bytes)
        return true;
    http_response_fail(response, ERROR_SERVER, false,
                       "'%s' sent a response of more than %zu bytes; --response-limit sets the "
                       "limit",
                       response->host, response->most_bytes);
    return false;
}

void http_response_receive(struct http_response *response, int status, const char *data,
                           size_t length)
{
    if (!length || response->stream->ended || !count(response, length))
        return;
    if (response->body == HTTP_BODY_UNKNOWN && status >= 300)
        response->body = HTTP_BODY_ERROR;
    if (is_cut(response)) {
        feed(response, data, length);
        return;
    }
    collect(response, data, length);
    if (response->body != HTTP_BODY_UNKNOWN || response->received.failed)
        return;
    response->body = sniff(response->wire, &response->received);
    if (is_cut(response)) {
        feed(response, response->received.data, response->received.length);
        text_reset(&response->received);
    }
}

static bool is_prose_enough(const struct http_response *response)
{
    bool is_prose = response->body == HTTP_BODY_ERROR || response->body == HTTP_BODY_PAGE;
    return is_prose && response->received.length == ERROR_MOST_BYTES;
}

bool http_response_is_enough(const struct http_response *response)
{
    return response->stream->ended || is_prose_enough(response);
}

bool http_response_is_refused(const struct http_response *response)
{
    return http_response_has_failed(response) || is_prose_enough(response);
}

/* ---- one response ---- */

bool http_response_begin(struct http_response *response, const struct wire *wire, const char *host,
                         struct stream *stream)
{
    text_reset(&response->received);
    response->wire = wire;
    response->host = host;
    response->stream = stream;
    response->body = HTTP_BODY_UNKNOWN;
    response->total_bytes = 0;
    sse_init(&response->sse, on_event, response);
    event_stream_init(&response->messages, on_message, response);
    response->decoder = wire->decoder_new(stream);
    if (!response->decoder)
        http_response_fail_memory(response);
    return !http_response_has_failed(response);
}

static void complete(struct http_response *response)
{
    struct error error = ERROR_INIT;
    const struct text *received = &response->received;
    switch (response->body) {
    case HTTP_BODY_EVENTS:
        if (!response->stream->ended && !sse_end(&response->sse, &error))
            stream_fail(response->stream, &error);
        break;
    case HTTP_BODY_MESSAGES:
        break; /* one that is not whole is none */
    case HTTP_BODY_DOCUMENT:
        response->wire->decoder_whole(response->decoder, received->data, received->length);
        break;
    case HTTP_BODY_PAGE:
        http_response_fail(response, ERROR_BAD_REQUEST, false,
                           "'%s' answered with a web page; check the base URL", response->host);
        break;
    case HTTP_BODY_UNKNOWN:
    case HTTP_BODY_ERROR:
        http_response_fail(response, ERROR_STREAM_TRUNCATED, true, "'%s' sent an empty response",
                           response->host);
        break;
    }
    if (!http_response_has_failed(response))
        response->wire->decoder_end(response->decoder);
}

void http_response_conclude(struct http_response *response, int status,
                            const struct http_hints *hints)
{
    struct error error = ERROR_INIT;
    if (http_response_has_failed(response))
        return;
    if (status < 300) {
        complete(response);
        return;
    }
    http_error_from_status(&error, response->host, status, hints, &response->received);
    if (response->wire->advise)
        response->wire->advise(&error);
    stream_fail(response->stream, &error);
}

void http_response_end(struct http_response *response)
{
    struct error *error = &response->stream->error;
    if (response->decoder)
        response->wire->decoder_free(response->decoder);
    response->decoder = NULL;
    sse_release(&response->sse);
    event_stream_release(&response->messages);
    secret_redact_buffer(error->message, sizeof(error->message));
    stream_finish(response->stream);
    response->stream = NULL;
}

void http_response_release(struct http_response *response)
{
    text_release(&response->received);
    text_release(&response->event);
}
