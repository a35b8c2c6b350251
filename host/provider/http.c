#include "provider/http.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "provider/aws_signer.h"
#include "provider/curl_api.h"
#include "provider/http_host.h"
#include "provider/http_patience.h"
#include "provider/http_response.h"
#include "provider/tape.h"

/* What is read behind the end of a response, so that its connection stays in use. */
#define SURPLUS_MOST_BYTES (64u << 10)

struct http_client {
    struct client client; /* first: ops get a pointer to it */
    const struct curl_api *api;
    const struct profile *profile;
    CURLM *multi; /* holds the connection from one request to the next */
    CURL *easy;
    struct http_host host;
    char *key_from; /* or NULL */
    bool has_key;
    struct aws_signer *signer; /* or NULL: the key is in the host's headers, or none is needed */
    int64_t connect_timeout_ms;

    struct text request_body;
    struct curl_slist *signed_headers; /* of a request that is signed: all of them */
    char detail[CURL_ERROR_SIZE];

    /* Of the attempt at hand.  Between attempts the response has no stream: what a transfer that
     * is still attached brings is thrown away. */
    struct http_response response;
    struct http_hints hints;
    bool fresh;    /* something was received since the last stream_settled() */
    bool whole;    /* http_response_conclude() was called */
    bool attached; /* `easy` is in `multi` */
    size_t header_bytes;
    size_t surplus_bytes;
    struct http_patience patience;
};

static struct http_client *of(struct client *client)
{
    return (struct http_client *)((char *)client - offsetof(struct http_client, client));
}

/* ---- the response ---- */

static const char *host_name(const struct http_client *client)
{
    return text_cstr(&client->host.name);
}

static int status_of(const struct http_client *client)
{
    long status = 0;
    client->api->easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* Another number than that of the bytes makes libcurl give up. */
static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct http_client *client = context;
    size_t length = size * count;
    client->header_bytes += length;
    if (client->header_bytes <= HTTP_HEADERS_MOST_BYTES) {
        http_hints_read(&client->hints, client->api, data, length);
        return length;
    }
    if (client->response.stream)
        http_response_fail(&client->response, ERROR_SERVER, false,
                           "'%s' sent more than %u KiB of headers", host_name(client),
                           HTTP_HEADERS_MOST_BYTES >> 10);
    return 0;
}

/* What comes behind the end is taken off the socket all the same: the connection can be used
 * again once the response was read to its last byte.  But not for ever, and a few packed bytes
 * may be a great many when they are unpacked. */
static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct http_client *client = context;
    size_t length = size * count;
    if (!client->response.stream || client->response.stream->ended) {
        client->surplus_bytes += length;
    } else if (length) {
        const struct wire_tape *tape = client->client.tape;
        client->fresh = true;
        if (tape)
            tape->received(tape->self, data, length);
        http_response_receive(&client->response, status_of(client), data, length);
        if (http_response_is_refused(&client->response))
            return 0;
    }
    return client->surplus_bytes <= SURPLUS_MOST_BYTES ? length : 0;
}

/* ---- what went wrong ---- */

/* Nothing of the server itself came. */
static void fail_to_reach(struct http_client *client, CURLcode code)
{
    struct error error = ERROR_INIT;
    http_host_tell_failure(&client->host, client->easy, code, client->detail, &error);
    stream_fail(client->response.stream, &error);
}

/* No whole response came. */
static void fail_transfer(struct http_client *client, CURLcode code)
{
    const char *detail = client->detail[0] ? client->detail : client->api->easy_strerror(code);
    if (http_easy_is_header_too_long(client->api, client->easy, code))
        http_response_fail(&client->response, ERROR_SERVER, false,
                           "'%s' sent a header line that is too long to be read",
                           host_name(client));
    else if (client->patience.received_bytes || status_of(client))
        http_response_fail(&client->response, ERROR_STREAM_TRUNCATED, true,
                           "'%s' broke the response off: %s", host_name(client), detail);
    else
        fail_to_reach(client, code);
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
           (!client->signer ||
            set(easy, CURLOPT_HTTPHEADER, client->signed_headers) == CURLE_OK) &&
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
    if (!client->profile->wire->write(body, client->profile, client->client.model, request, &error))
        stream_fail(client->response.stream, &error);
    else if (body->failed)
        http_response_fail_memory(&client->response);
    return !http_response_has_failed(&client->response);
}

/* Each attempt anew: a signature is good for some minutes only. */
static bool sign_request(struct http_client *client)
{
    struct error error = ERROR_INIT;
    const struct aws_signed_request request = {.url = client->host.url.data,
                                               .content_type = HTTP_CONTENT_TYPE,
                                               .body = &client->request_body};
    if (!client->signer)
        return true;
    http_headers_free(client->api, client->signed_headers);
    client->signed_headers = NULL;
    if (!http_host_copy_headers(&client->host, &client->signed_headers))
        http_response_fail_memory(&client->response);
    else if (!aws_signer_add(client->signer, &request, client->api, &client->signed_headers,
                             &error))
        stream_fail(client->response.stream, &error);
    return !http_response_has_failed(&client->response);
}

static bool begin(struct http_client *client, const struct request *request, struct stream *stream)
{
    finish_previous(client);
    http_hints_init(&client->hints);
    client->fresh = client->whole = false;
    client->detail[0] = '\0';
    client->header_bytes = client->surplus_bytes = 0;
    http_patience_begin(&client->patience);
    if (!http_response_begin(&client->response, client->profile->wire, host_name(client), stream) ||
        !write_request(client, request) || !sign_request(client))
        return false;
    client->attached = set_options(client) &&
                       client->api->multi_add_handle(client->multi, client->easy) == CURLM_OK;
    if (!client->attached) {
        http_response_fail_memory(&client->response);
        return false;
    }
    log_debug("POST %s, %zu bytes", client->host.url.data, client->request_body.length);
    const struct wire_tape *tape = client->client.tape;
    if (tape)
        tape->request(tape->self, client->host.url.data,
                      client->signer ? client->signed_headers : client->host.headers,
                      &client->request_body);
    return true;
}

/* A front end may take its time to show what came; that is not the server's silence. */
static void settle(struct http_client *client)
{
    if (!client->fresh)
        return;
    client->fresh = false;
    stream_settled(client->response.stream);
    http_patience_renew(&client->patience);
}

/* Silence is no error when the response was complete but for the end of its bytes. */
static void fail_timeout(struct http_client *client, int64_t deadline_ms)
{
    int64_t limit_ms = http_patience_limit_ms(&client->patience, client->api, client->easy);
    double seconds = (double)limit_ms / 1000;
    if (deadline_ms >= 0 && clock_ms() >= deadline_ms)
        http_response_fail(&client->response, ERROR_TIMEOUT, false,
                           "the time limit of the run was reached");
    else if (!client->patience.received_bytes)
        http_response_fail(&client->response, ERROR_TIMEOUT, true,
                           "'%s' sent nothing for %g s; --first-byte-timeout sets the limit",
                           host_name(client), seconds);
    else if (client->response.stream->stop == STOP_UNKNOWN)
        http_response_fail(&client->response, ERROR_TIMEOUT, true,
                           "'%s' sent nothing more for %g s; --idle-timeout sets the limit",
                           host_name(client), seconds);
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
        http_patience_look(&client->patience, client->api, client->easy);
        settle(client);
        if (http_response_is_enough(&client->response) || is_done(client, &code))
            return code;
        int left_ms =
            http_patience_left_ms(&client->patience, client->api, client->easy, deadline_ms);
        if (cancel_requested(cancel))
            http_response_fail(&client->response, ERROR_CANCELLED, false, "cancelled");
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

/* The server's words are about a key; the user needs to know which one. */
static void name_key(const struct http_client *client)
{
    struct error *error = &client->response.stream->error;
    bool is_about_key = error->status == 400 || error->status == 401; /* Google says 400 */
    if (error->kind != ERROR_AUTH || !client->key_from || client->signer)
        return;
    if (client->has_key && is_about_key)
        error_prefix(error, "the key in %s was refused", client->key_from);
    else if (!client->has_key)
        error_prefix(error, "no key was sent; set %s", client->key_from);
}

static void conclude(struct http_client *client, CURLcode code)
{
    struct http_response *response = &client->response;
    int status = status_of(client);
    log_debug("HTTP status %d, %lld bytes of body", status,
              (long long)client->patience.received_bytes);
    if (http_response_has_failed(response))
        return;
    bool is_whole = code == CURLE_OK || status >= 300 || response->stream->stop != STOP_UNKNOWN;
    client->whole = is_whole && status != 407;
    if (!is_whole)
        fail_transfer(client, code);
    else if (!client->whole) /* of a proxy that is asked for the whole URL */
        fail_to_reach(client, CURLE_OK);
    else
        http_response_conclude(response, status, &client->hints);
    name_key(client);
}

static void http_attempt(struct client *base, const struct request *request, struct stream *stream,
                         struct cancel *cancel, int64_t deadline_ms)
{
    struct http_client *client = of(base);
    if (begin(client, request, stream)) {
        conclude(client, transfer(client, cancel, deadline_ms));
        if (base->tape)
            base->tape->response(base->tape->self, status_of(client), &client->hints, client->whole,
                                 stream);
    }
    http_response_end(&client->response);
}

static void http_facts(const struct client *base, struct client_facts *facts)
{
    const struct http_client *client =
        (const struct http_client *)((const char *)base - offsetof(struct http_client, client));
    *facts = (struct client_facts){.profile = client->profile, .host = host_name(client)};
}

static void http_prepare(struct client *base, const struct request *request)
{
    struct http_client *client = of(base);
    struct error error;
    finish_previous(client); /* it still holds the body */
    text_reset(&client->request_body);
    if (!client->profile->wire->write(&client->request_body, client->profile, base->model, request,
                                      &error))
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
    http_headers_free(api, client->signed_headers);
    aws_signer_free(client->signer);
    http_host_release(&client->host);
    text_release(&client->request_body);
    http_response_release(&client->response);
    free(client->client.provider);
    free(client->client.model);
    free(client->key_from);
    free(client);
}

static const struct client_ops http_ops = {
    .attempt = http_attempt, .free = http_free, .prepare = http_prepare, .facts = http_facts};

static bool find_host(struct http_client *client, const struct http_settings *settings,
                      struct error *error)
{
    struct text path = TEXT_INIT;
    http_host_path(settings->profile, settings->model, settings->query, &path);
    bool found = path.failed ? error_memory(error)
                             : http_host_init(&client->host, client->api,
                                              &(struct http_host_settings){
                                                  .base_url = settings->base_url,
                                                  .path = text_cstr(&path),
                                                  .network = settings->network},
                                              error);
    text_release(&path);
    return found;
}

static bool set_up(struct http_client *client, const struct http_settings *settings,
                   struct error *error)
{
    const struct curl_api *api = client->api;
    client->client.provider = strdup(settings->profile->name);
    client->client.model = strdup(settings->model);
    client->has_key = settings->key != NULL;
    client->key_from = settings->key_from ? strdup(settings->key_from) : NULL;
    client->multi = api->multi_init();
    client->easy = api->easy_init();
    if (!client->client.provider || !client->client.model ||
        (settings->key_from && !client->key_from) || !client->multi || !client->easy)
        return error_memory(error);
    return find_host(client, settings, error) &&
           (http_host_add_headers(&client->host, settings->profile, settings->headers,
                                  settings->key) ||
            error_memory(error));
}

/* A key needs no signature. */
static bool find_signer(struct http_client *client, const struct http_settings *settings,
                        struct error *error)
{
    const struct profile *profile = settings->profile;
    if (settings->key || !profile->aws_service)
        return true;
    if (settings->query)
        return error_set(error, ERROR_CONFIG,
                         "requests to '%s' are signed, and cannot have a \"query\"", profile->name);
    client->signer = aws_signer_new(profile->aws_service, error);
    return client->signer != NULL;
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
    client->client.unsupported = profile_unsupported(settings->profile);
    client->api = api;
    client->profile = settings->profile;
    client->connect_timeout_ms = settings->connect_timeout_ms;
    client->patience.first_byte_ms = settings->first_byte_timeout_ms;
    client->patience.idle_ms = settings->idle_timeout_ms;
    client->response.most_bytes =
        settings->response_limit > 0 ? (size_t)settings->response_limit : 0;
    if (find_signer(client, settings, error) && set_up(client, settings, error))
        return &client->client;
    http_free(&client->client);
    return NULL;
}
