#include "provider/http.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "provider/curl_api.h"
#include "provider/http_error.h"
#include "provider/http_host.h"
#include "provider/sse.h"

#define DOCUMENT_MOST_BYTES (64u << 20)
#define ERROR_MOST_BYTES    (1u << 20)
#define MARK                "\xEF\xBB\xBF"
#define MARK_SIZE           (sizeof(MARK) - 1)

/* What a body turned out to be: what it begins with decides, servers mislabel it. */
enum body { BODY_UNKNOWN, BODY_EVENTS, BODY_DOCUMENT, BODY_PAGE, BODY_ERROR };

struct http_client {
    struct client client; /* first: ops get a pointer to it */
    const struct curl_api *api;
    const struct wire *wire;
    CURLM *multi; /* holds the connection from one request to the next */
    CURL *easy;
    struct http_host host;
    int64_t connect_timeout_ms;
    int64_t first_byte_timeout_ms;
    int64_t idle_timeout_ms;

    struct text request_body;
    char detail[CURL_ERROR_SIZE];

    /* Of the attempt at hand.  `stream` is NULL between attempts, when what a transfer that
     * is still attached brings is thrown away. */
    struct stream *stream;
    struct wire_decoder *decoder;
    struct sse sse;
    enum body body;
    struct text received; /* of a body that is not cut into events */
    struct http_hints hints;
    bool fresh;    /* something was received since the last stream_settled() */
    bool attached; /* `easy` is in `multi` */
    curl_off_t sent_bytes;
    curl_off_t received_bytes;
    int64_t moved_ms; /* when one of them last grew */
};

static struct http_client *of(struct client *client)
{
    return (struct http_client *)((char *)client - offsetof(struct http_client, client));
}

/* ---- the response ---- */

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct http_client *client = context;
    http_hints_read(&client->hints, client->api, data, size * count);
    return size * count;
}

static const char *host_name(const struct http_client *client)
{
    return text_cstr(&client->host.name);
}

static bool has_failed(const struct http_client *client)
{
    return client->stream->error.kind != ERROR_NONE;
}

__attribute__((format(printf, 4, 5))) static void
fail(struct http_client *client, enum error_kind kind, bool retryable, const char *format, ...)
{
    struct error error = ERROR_INIT;
    char message[sizeof(error.message)];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    error_set(&error, kind, "%s", message);
    error.retryable = retryable;
    stream_fail(client->stream, &error);
}

static void fail_memory(struct http_client *client)
{
    fail(client, ERROR_INTERNAL, false, "out of memory");
}

static int status_of(const struct http_client *client)
{
    long status = 0;
    client->api->easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* What the body is, from its first byte that is no blank and no byte order mark.  Those are
 * taken away. */
static enum body sniff(struct text *text)
{
    size_t at = 0;
    size_t head = text->length < MARK_SIZE ? text->length : MARK_SIZE;
    if (memcmp(text->data, MARK, head) == 0)
        at = head;
    while (at < text->length && strchr(" \t\r\n", text->data[at]))
        at++;
    if (at == text->length) {
        if (at >= MARK_SIZE) /* else it may be a part of the mark */
            text_reset(text);
        return BODY_UNKNOWN;
    }
    text->length -= at;
    memmove(text->data, text->data + at, text->length + 1);
    switch (text->data[0]) {
    case '{':
    case '[':
        return BODY_DOCUMENT;
    case '<':
        return BODY_PAGE;
    default:
        return BODY_EVENTS;
    }
}

static void on_event(void *context, const char *data, size_t length)
{
    struct http_client *client = context;
    if (!client->stream->ended)
        client->wire->decoder_event(client->decoder, data, length);
}

static void feed(struct http_client *client, const char *data, size_t length)
{
    struct error error = ERROR_INIT;
    if (!sse_feed(&client->sse, data, length, &error))
        stream_fail(client->stream, &error);
}

static void collect(struct http_client *client, const char *data, size_t length)
{
    struct text *received = &client->received;
    if (client->body == BODY_ERROR || client->body == BODY_PAGE) {
        size_t room = ERROR_MOST_BYTES - received->length;
        text_append(received, data, length < room ? length : room);
        return;
    }
    if (length > DOCUMENT_MOST_BYTES - received->length) {
        fail(client, ERROR_SERVER, false, "'%s' sent a document of more than %u MiB",
             host_name(client), DOCUMENT_MOST_BYTES >> 20);
        return;
    }
    text_append(received, data, length);
    if (received->failed)
        fail_memory(client);
}

static void receive(struct http_client *client, const char *data, size_t length)
{
    if (client->body == BODY_UNKNOWN && status_of(client) >= 300)
        client->body = BODY_ERROR;
    if (client->body == BODY_EVENTS) {
        feed(client, data, length);
        return;
    }
    collect(client, data, length);
    if (client->body != BODY_UNKNOWN || client->received.failed)
        return;
    client->body = sniff(&client->received);
    if (client->body == BODY_EVENTS) {
        feed(client, client->received.data, client->received.length);
        text_reset(&client->received);
    }
}

/* What comes behind the end is taken off the socket all the same: the connection can be used
 * again once the response was read to its last byte. */
static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct http_client *client = context;
    size_t length = size * count;
    if (length && client->stream && !client->stream->ended) {
        client->fresh = true;
        receive(client, data, length);
    }
    return length;
}

/* ---- what went wrong ---- */

/* No whole response came. */
static void fail_transfer(struct http_client *client, CURLcode code)
{
    struct error error = ERROR_INIT;
    const char *detail = client->detail[0] ? client->detail : client->api->easy_strerror(code);
    if (client->received_bytes || status_of(client)) {
        fail(client, ERROR_STREAM_TRUNCATED, true, "'%s' broke the response off: %s",
             host_name(client), detail);
        return;
    }
    http_error_from_curl(&error, host_name(client), code, detail);
    stream_fail(client->stream, &error);
}

/* ---- one transfer ---- */

static bool set_options(struct http_client *client)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = client->api->easy_setopt;
    CURL *easy = client->easy;
    client->api->easy_reset(easy);
    if (client->connect_timeout_ms > 0)
        set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)client->connect_timeout_ms);
    return http_host_apply(&client->host, easy) &&
           set(easy, CURLOPT_ERRORBUFFER, client->detail) == CURLE_OK &&
           set(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           set(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)client->request_body.length) ==
               CURLE_OK &&
           set(easy, CURLOPT_POSTFIELDS, client->request_body.data) == CURLE_OK &&
           set(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           set(easy, CURLOPT_HEADERDATA, client) == CURLE_OK &&
           set(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           set(easy, CURLOPT_WRITEDATA, client) == CURLE_OK;
}

static void detach(struct http_client *client)
{
    if (client->attached)
        client->api->multi_remove_handle(client->multi, client->easy);
    client->attached = false;
}

/* An attempt ends with the last event, mostly a moment before the last byte.  By now that
 * has come too, and the connection stays; otherwise it is closed here. */
static void finish_previous(struct http_client *client)
{
    int running;
    if (client->attached)
        client->api->multi_perform(client->multi, &running);
    detach(client);
}

static bool write_request(struct http_client *client, const struct request *request)
{
    struct error error = ERROR_INIT;
    struct text *body = &client->request_body;
    text_reset(body);
    if (!client->wire->write(body, client->client.provider, client->client.model, request, &error))
        stream_fail(client->stream, &error);
    else if (body->failed)
        fail_memory(client);
    return !has_failed(client);
}

static bool begin(struct http_client *client, const struct request *request, struct stream *stream)
{
    finish_previous(client);
    client->stream = stream;
    client->body = BODY_UNKNOWN;
    http_hints_init(&client->hints);
    client->fresh = false;
    client->detail[0] = '\0';
    client->sent_bytes = client->received_bytes = 0;
    client->moved_ms = clock_ms();
    text_reset(&client->received);
    sse_init(&client->sse, on_event, client);
    client->decoder = client->wire->decoder_new(stream);
    if (!client->decoder)
        fail_memory(client);
    if (has_failed(client) || !write_request(client, request))
        return false;
    client->attached = set_options(client) &&
                       client->api->multi_add_handle(client->multi, client->easy) == CURLM_OK;
    if (!client->attached)
        fail_memory(client);
    else
        log_debug("POST %s, %zu bytes", client->host.url.data, client->request_body.length);
    return client->attached;
}

static void end(struct http_client *client)
{
    if (client->decoder)
        client->wire->decoder_free(client->decoder);
    client->decoder = NULL;
    sse_release(&client->sse);
    secret_redact_buffer(client->stream->error.message, sizeof(client->stream->error.message));
    stream_finish(client->stream);
    client->stream = NULL;
}

/* Whether bytes went either way since the last look, counted as they are on the wire. */
static void observe(struct http_client *client)
{
    curl_off_t sent = 0;
    curl_off_t received = 0;
    client->api->easy_getinfo(client->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    client->api->easy_getinfo(client->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (sent == client->sent_bytes && received == client->received_bytes)
        return;
    client->sent_bytes = sent;
    client->received_bytes = received;
    client->moved_ms = clock_ms();
}

/* A front end may take its time to show what came; that is not the server's silence. */
static void settle(struct http_client *client)
{
    if (!client->fresh)
        return;
    client->fresh = false;
    stream_settled(client->stream);
    client->moved_ms = clock_ms();
}

/* How long silence is borne at this point; 0 = for ever.  While it connects libcurl counts. */
static int64_t patience_ms(const struct http_client *client)
{
    if (!client->sent_bytes)
        return 0;
    return client->received_bytes ? client->idle_timeout_ms : client->first_byte_timeout_ms;
}

/* Milliseconds until the first of the limits, from 0 to a minute. */
static int time_left(const struct http_client *client, int64_t deadline_ms)
{
    int64_t now = clock_ms();
    int64_t left = 60000;
    int64_t patience = patience_ms(client);
    if (patience > 0 && client->moved_ms + patience - now < left)
        left = client->moved_ms + patience - now;
    if (deadline_ms >= 0 && deadline_ms - now < left)
        left = deadline_ms - now;
    return left > 0 ? (int)left : 0;
}

/* Silence is no error when the response was complete but for the end of its bytes. */
static void fail_timeout(struct http_client *client, int64_t deadline_ms)
{
    double seconds = (double)patience_ms(client) / 1000;
    if (deadline_ms >= 0 && clock_ms() >= deadline_ms)
        fail(client, ERROR_TIMEOUT, false, "the time limit of the run was reached");
    else if (!client->received_bytes)
        fail(client, ERROR_TIMEOUT, true,
             "'%s' sent nothing for %g s; --first-byte-timeout sets the limit", host_name(client),
             seconds);
    else if (client->stream->stop == STOP_UNKNOWN)
        fail(client, ERROR_TIMEOUT, true,
             "'%s' sent nothing more for %g s; --idle-timeout sets the limit", host_name(client),
             seconds);
}

/* Whether what may still come is of no interest. */
static bool is_enough(const struct http_client *client)
{
    bool is_prose = client->body == BODY_ERROR || client->body == BODY_PAGE;
    return client->stream->ended || (is_prose && client->received.length == ERROR_MOST_BYTES);
}

/* Whether libcurl is done with the transfer; *code tells how it ended. */
static bool is_done(struct http_client *client, CURLcode *code)
{
    int left;
    CURLMsg *message = client->api->multi_info_read(client->multi, &left);
    if (!message || message->msg != CURLMSG_DONE)
        return false;
    *code = message->data.result;
    return true;
}

/* Until the response is over, in one way or the other. */
static CURLcode transfer(struct http_client *client, struct cancel *cancel, int64_t deadline_ms)
{
    struct curl_waitfd wait = {.fd = cancel_fd(cancel), .events = CURL_WAIT_POLLIN};
    CURLcode code = CURLE_OK;
    int running;
    while (client->api->multi_perform(client->multi, &running) == CURLM_OK) {
        observe(client);
        settle(client);
        if (is_enough(client) || is_done(client, &code))
            return code;
        int left_ms = time_left(client, deadline_ms);
        if (cancel_requested(cancel))
            fail(client, ERROR_CANCELLED, false, "cancelled");
        else if (!left_ms)
            fail_timeout(client, deadline_ms);
        else if (client->api->multi_poll(client->multi, &wait, wait.fd >= 0, left_ms, NULL) ==
                 CURLM_OK)
            continue;
        else
            break;
        return CURLE_OK;
    }
    return CURLE_OUT_OF_MEMORY;
}

/* The bytes are complete, or as many as are needed. */
static void complete(struct http_client *client)
{
    struct error error = ERROR_INIT;
    const struct text *received = &client->received;
    switch (client->body) {
    case BODY_EVENTS:
        if (!client->stream->ended && !sse_end(&client->sse, &error))
            stream_fail(client->stream, &error);
        break;
    case BODY_DOCUMENT:
        client->wire->decoder_whole(client->decoder, received->data, received->length);
        break;
    case BODY_PAGE:
        fail(client, ERROR_BAD_REQUEST, false, "'%s' answered with a web page; check the base URL",
             host_name(client));
        break;
    case BODY_UNKNOWN:
    case BODY_ERROR:
        fail(client, ERROR_STREAM_TRUNCATED, true, "'%s' sent an empty response",
             host_name(client));
        break;
    }
    if (!has_failed(client))
        client->wire->decoder_end(client->decoder);
}

static void conclude(struct http_client *client, CURLcode code)
{
    struct error error = ERROR_INIT;
    int status = status_of(client);
    log_debug("HTTP status %d, %lld bytes of body", status, (long long)client->received_bytes);
    if (has_failed(client))
        return;
    if (status >= 300) {
        http_error_from_status(&error, host_name(client), status, &client->hints,
                               &client->received);
        stream_fail(client->stream, &error);
    } else if (code != CURLE_OK && client->stream->stop == STOP_UNKNOWN) {
        fail_transfer(client, code);
    } else {
        complete(client);
    }
}

static void http_attempt(struct client *base, const struct request *request, struct stream *stream,
                         struct cancel *cancel, int64_t deadline_ms)
{
    struct http_client *client = of(base);
    if (begin(client, request, stream))
        conclude(client, transfer(client, cancel, deadline_ms));
    end(client);
}

static void http_prepare(struct client *base, const struct request *request)
{
    struct http_client *client = of(base);
    struct error error;
    finish_previous(client); /* it still holds the body */
    text_reset(&client->request_body);
    if (!client->wire->write(&client->request_body, base->provider, base->model, request, &error))
        log_debug("the request cannot be written: %s", error.message);
}

/* ---- the client ---- */

static void http_free(struct client *base)
{
    struct http_client *client = of(base);
    const struct curl_api *api = client->api;
    detach(client);
    if (client->easy)
        api->easy_cleanup(client->easy);
    if (client->multi)
        api->multi_cleanup(client->multi);
    http_host_release(&client->host);
    text_release(&client->request_body);
    text_release(&client->received);
    free(client->client.provider);
    free(client->client.model);
    free(client);
}

static const struct client_ops http_ops = {
    .attempt = http_attempt, .free = http_free, .prepare = http_prepare};

static bool find_host(struct http_client *client, const struct http_settings *settings)
{
    struct text path = TEXT_INIT;
    http_host_path(settings->wire, settings->model, &path);
    bool found =
        !path.failed && http_host_init(&client->host, settings->base_url, text_cstr(&path));
    text_release(&path);
    return found;
}

static bool set_up(struct http_client *client, const struct http_settings *settings)
{
    const struct curl_api *api = client->api;
    client->client.provider = strdup(settings->provider);
    client->client.model = strdup(settings->model);
    client->multi = api->multi_init();
    client->easy = api->easy_init();
    return client->client.provider && client->client.model && client->multi && client->easy &&
           find_host(client, settings) &&
           http_host_add_headers(&client->host, api, settings->wire, settings->key);
}

struct client *http_client_new(const struct http_settings *settings, struct error *error)
{
    const struct curl_api *api = curl_api(error);
    if (!api)
        return NULL;
    struct http_client *client = calloc(1, sizeof(*client));
    if (!client) {
        error_memory(error);
        return NULL;
    }
    client->client.ops = &http_ops;
    client->client.max_attempts = settings->max_attempts;
    client->client.unsupported = settings->wire->unsupported;
    client->api = api;
    client->wire = settings->wire;
    client->connect_timeout_ms = settings->connect_timeout_ms;
    client->first_byte_timeout_ms = settings->first_byte_timeout_ms;
    client->idle_timeout_ms = settings->idle_timeout_ms;
    if (set_up(client, settings))
        return &client->client;
    error_memory(error);
    http_free(&client->client);
    return NULL;
}
