#include "service/http_answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "service/http_request.h"

enum { MAX_HEAD_BYTES = 256 << 10 };

/* ---- a head ---- */

/* `text` is that of `count` headers, as add_header() wrote it. */
static void point_into(mortise_http_header *headers, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        headers[i].name = text;
        headers[i].value = text + strlen(text) + 1;
        text = headers[i].value + strlen(headers[i].value) + 1;
    }
}

static const char *find_header(const mortise_http_header *headers, size_t count, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(headers[i].name, name) == 0)
            found = headers[i].value;
    return found;
}

/* ---- as it comes ---- */

static void trim(const char **text, size_t *length)
{
    while (*length && strchr(" \t\r\n", (*text)[*length - 1]))
        --*length;
    while (*length && strchr(" \t", **text)) {
        ++*text;
        --*length;
    }
}

static void add_header(struct http_answer *answer, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    if (!colon)
        return; /* the line end behind the last, or no header */
    const char *value = colon + 1;
    size_t value_length = length - (size_t)(value - line);
    trim(&value, &value_length);
    utf8_append_clean(&answer->head, line, (size_t)(colon - line));
    text_putc(&answer->head, '\0');
    utf8_append_clean(&answer->head, value, value_length);
    text_putc(&answer->head, '\0');
    answer->header_count++;
}

/* A status line starts anew: only the last response counts. */
static void begin_head(struct http_answer *answer, const char *line, size_t length)
{
    const char *blank = memchr(line, ' ', length);
    size_t at = blank ? (size_t)(blank - line) : length;
    text_reset(&answer->head);
    answer->header_count = 0;
    answer->status = 0;
    while (++at < length && line[at] >= '0' && line[at] <= '9' && answer->status < 1000)
        answer->status = answer->status * 10 + (uint32_t)(line[at] - '0');
}

/* Another response follows: after "100 Continue", and where libcurl follows a redirect. */
static bool is_on_the_way(const struct http_answer *answer, const mortise_http_header *headers)
{
    if (answer->status < 200)
        return true;
    if (answer->status / 100 != 3 || !http_request_follows(answer->request))
        return false;
    const char *place = find_header(headers, answer->header_count, "Location");
    return place && *place;
}

/* Trailers end with an empty line too, and come after the body. */
static void end_head(struct http_answer *answer)
{
    const mortise_http_request *request = answer->request;
    if (!request->answered || answer->is_told)
        return;
    mortise_http_header *headers = calloc(answer->header_count + 1, sizeof(*headers));
    if (!headers) {
        answer->stop = HTTP_NO_MEMORY;
        return;
    }
    point_into(headers, answer->header_count, text_cstr(&answer->head));
    if (!is_on_the_way(answer, headers)) {
        answer->is_told = true;
        request->answered(request->received_data, answer->status, headers, answer->header_count);
    }
    free(headers);
}

static bool is_end(const char *line, size_t length)
{
    return length && (*line == '\r' || *line == '\n');
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct http_answer *answer = context;
    size_t length = size * count;
    if (length > 5 && strncasecmp(line, "HTTP/", 5) == 0)
        begin_head(answer, line, length);
    else
        add_header(answer, line, length);
    if (answer->head.failed)
        answer->stop = HTTP_NO_MEMORY;
    else if (answer->head.length > MAX_HEAD_BYTES)
        answer->stop = HTTP_HEAD_TOO_LARGE;
    else if (is_end(line, length))
        end_head(answer);
    return answer->stop == HTTP_GOES_ON ? length : 0;
}

static void keep(struct http_answer *answer, const char *data, size_t length)
{
    const mortise_http_request *request = answer->request;
    if (request->received) {
        if (!request->received(request->received_data, data, length))
            answer->stop = HTTP_STOPPED;
        return;
    }
    text_append(&answer->body, data, length);
    if (answer->body.failed)
        answer->stop = HTTP_NO_MEMORY;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct http_answer *answer = context;
    size_t length = size * count;
    if (length > answer->request->max_bytes - answer->body_length) {
        answer->stop = HTTP_TOO_LARGE;
    } else if (length) {
        answer->body_length += length;
        keep(answer, data, length);
    }
    return answer->stop == HTTP_GOES_ON ? length : 0;
}

bool http_answer_apply(struct http_answer *answer, const struct curl_api *api, CURL *easy)
{
    return api->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_HEADERDATA, answer) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_WRITEDATA, answer) == CURLE_OK;
}

void http_answer_release(struct http_answer *answer)
{
    text_release(&answer->body);
    text_release(&answer->head);
}

/* ---- for the tool ---- */

/* NULL: no memory. */
static const mortise_http_header *make_headers(const struct http_answer *answer,
                                               struct caller *caller)
{
    const char *text = caller_copy(caller, text_cstr(&answer->head), answer->head.length);
    mortise_http_header *headers =
        caller_alloc(caller, (answer->header_count + 1) * sizeof(*headers));
    if (!text || !headers)
        return NULL;
    point_into(headers, answer->header_count, text);
    return headers;
}

mortise_status http_answer_hand_over(const struct http_answer *answer, struct caller *caller,
                                     const struct curl_api *api, CURL *easy,
                                     mortise_http_response *response)
{
    long status = 0;
    const char *url = NULL;
    api->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    api->easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
    mortise_http_response given = {
        .size = response->size,
        .status = (uint32_t)status,
        .headers = make_headers(answer, caller),
        .header_count = answer->header_count,
        .url = caller_copy(caller, url ? url : "", url ? strlen(url) : 0),
        .body = caller_copy(caller, text_cstr(&answer->body), answer->body.length),
        .body_length = answer->body.length,
    };
    if (!given.headers || !given.url || !given.body)
        return caller_no_memory(caller);
    given.content_type = find_header(given.headers, given.header_count, "Content-Type");
    memcpy(response, &given, given.size < sizeof(given) ? given.size : sizeof(given));
    return MORTISE_OK;
}
