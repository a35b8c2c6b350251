#include "provider/http_get.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/secret.h"
#include "provider/curl_api.h"
#include "provider/http_error.h"
#include "provider/http_host.h"

/* The longest list that is known has less than a megabyte. */
enum { MAX_BODY_BYTES = 16 << 20 };

struct http_get {
    const struct curl_api *api;
    CURL *easy; /* holds the connection */
    struct http_host host;
    struct text query;
    int64_t connect_timeout_ms;
    int64_t timeout_ms;

    /* Of the GET at hand. */
    struct text url;
    struct text body;
    struct http_hints hints;
    time_t date;
    size_t header_bytes;
    bool too_long;
    char detail[CURL_ERROR_SIZE];
};

/* ---- what comes ---- */

static void read_date(struct http_get *get, const char *line, size_t length)
{
    static const char name[] = "date:";
    char value[64];
    size_t start = sizeof(name) - 1;
    if (length <= start || strncasecmp(line, name, start) != 0 || length - start >= sizeof(value))
        return;
    memcpy(value, line + start, length - start);
    value[length - start] = '\0';
    get->date = get->api->getdate(value, NULL);
}

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
    struct http_get *get = context;
    size_t length = size * count;
    get->header_bytes += length;
    if (get->header_bytes > HTTP_HEADERS_MOST_BYTES)
        return 0;
    http_hints_read(&get->hints, get->api, data, length);
    read_date(get, data, length);
    return length;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct http_get *get = context;
    size_t length = size * count;
    get->too_long = length > MAX_BODY_BYTES - get->body.length;
    if (!get->too_long)
        text_append(&get->body, data, length);
    return get->too_long || get->body.failed ? 0 : length;
}

/* ---- one GET ---- */

static bool set_options(struct http_get *get)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = get->api->easy_setopt;
    CURL *easy = get->easy;
    get->api->easy_reset(easy);
    if (get->connect_timeout_ms > 0)
        set(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)get->connect_timeout_ms);
    return http_host_apply(&get->host, easy) && set(easy, CURLOPT_URL, get->url.data) == CURLE_OK &&
           set(easy, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
           set(easy, CURLOPT_TIMEOUT_MS, (long)get->timeout_ms) == CURLE_OK &&
           set(easy, CURLOPT_ERRORBUFFER, get->detail) == CURLE_OK &&
           set(easy, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           set(easy, CURLOPT_HEADERDATA, get) == CURLE_OK &&
           set(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           set(easy, CURLOPT_WRITEDATA, get) == CURLE_OK;
}

/* The server was reached, and then took longer than this may take. */
static bool is_slow(const struct http_get *get, CURLcode code)
{
    double connected = 0;
    get->api->easy_getinfo(get->easy, CURLINFO_PRETRANSFER_TIME, &connected);
    return code == CURLE_OPERATION_TIMEDOUT && connected > 0;
}

static bool judge(const struct http_get *get, CURLcode code, struct error *error)
{
    const char *host = http_get_host(get);
    const char *detail = get->detail[0] ? get->detail : get->api->easy_strerror(code);
    long status = 0;
    get->api->easy_getinfo(get->easy, CURLINFO_RESPONSE_CODE, &status);
    log_debug("HTTP status %ld, %zu bytes of body", status, get->body.length);
    if (get->body.failed)
        return error_memory(error);
    if (get->header_bytes > HTTP_HEADERS_MOST_BYTES)
        error_set(error, ERROR_SERVER, "'%s' sent more than %u KiB of headers", host,
                  HTTP_HEADERS_MOST_BYTES >> 10);
    else if (get->too_long)
        error_set(error, ERROR_SERVER, "'%s' sent more than %d MiB", host, MAX_BODY_BYTES >> 20);
    else if (http_easy_is_header_too_long(get->api, get->easy, code))
        error_set(error, ERROR_SERVER, "'%s' sent a header line that is too long to be read", host);
    else if (is_slow(get, code))
        error_set(error, ERROR_TIMEOUT, "'%s' did not answer within %g s", host,
                  (double)get->timeout_ms / 1000);
    else if (code != CURLE_OK && status)
        error_set(error, ERROR_STREAM_TRUNCATED, "'%s' broke the response off: %s", host, detail);
    else if (code != CURLE_OK || status == 407)
        http_host_tell_failure(&get->host, get->easy, code, get->detail, error);
    else if (status < 200 || status >= 300)
        http_error_from_status(error, host, (int)status, &get->hints, &get->body);
    else
        return true;
    return false;
}

static bool begin(struct http_get *get, const char *path)
{
    text_reset(&get->url);
    text_reset(&get->body);
    text_append(&get->url, get->host.url.data, get->host.url.length);
    text_puts(&get->url, path);
    if (get->query.length)
        text_printf(&get->url, "%c%s", strchr(path, '?') ? '&' : '?', get->query.data);
    http_hints_init(&get->hints);
    get->date = -1;
    get->header_bytes = 0;
    get->too_long = false;
    get->detail[0] = '\0';
    return !get->url.failed && set_options(get);
}

bool http_get_fetch(struct http_get *get, const char *path, struct text *body, struct error *error)
{
    if (!begin(get, path))
        return error_memory(error);
    log_debug("GET %s", get->url.data);
    if (!judge(get, get->api->easy_perform(get->easy), error)) {
        secret_redact_buffer(error->message, sizeof(error->message));
        return false;
    }
    text_append(body, get->body.data, get->body.length);
    return !body->failed || error_memory(error);
}

/* ---- */

void http_get_free(struct http_get *get)
{
    if (!get)
        return;
    if (get->easy)
        get->api->easy_cleanup(get->easy);
    http_host_release(&get->host);
    text_release(&get->query);
    text_release(&get->url);
    text_release(&get->body);
    free(get);
}

static bool set_up(struct http_get *get, const struct http_get_settings *settings,
                   struct error *error)
{
    get->connect_timeout_ms = settings->connect_timeout_ms;
    get->timeout_ms = settings->timeout_ms;
    text_puts(&get->query, settings->query ? settings->query : "");
    get->easy = get->api->easy_init();
    const struct http_host_settings host = {
        .base_url = settings->base_url, .path = "", .network = settings->network};
    if (!get->easy || get->query.failed)
        return error_memory(error);
    return http_host_init(&get->host, get->api, &host, error) &&
           (http_host_add_headers(&get->host, settings->profile, settings->headers,
                                  settings->key) ||
            error_memory(error));
}

struct http_get *http_get_new(const struct http_get_settings *settings, struct error *error)
{
    const struct curl_api *api = curl_api(error);
    if (!api)
        return NULL;
    struct http_get *get = calloc(1, sizeof(*get));
    if (!get) {
        error_memory(error);
        return NULL;
    }
    get->api = api;
    if (set_up(get, settings, error))
        return get;
    http_get_free(get);
    return NULL;
}

const char *http_get_host(const struct http_get *get)
{
    return text_cstr(&get->host.name);
}

time_t http_get_date(const struct http_get *get)
{
    return get->date;
}
