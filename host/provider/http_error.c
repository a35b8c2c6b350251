#include "provider/http_error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "provider/wire_error.h"

/* ---- headers ---- */

void http_hints_init(struct http_hints *hints)
{
    *hints = (struct http_hints){.retry_after_ms = -1, .should_retry = -1};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number times `unit`, or -1 when the text is anything else.  (strtod() would look
 * for the decimal point of the user's language.) */
static int64_t parse_decimal(const char *text, int64_t unit)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t whole = 0;
    int64_t part = 0;
    if (!is_digit(*text))
        return -1;
    for (; is_digit(*text); text++)
        whole = whole < most ? whole * 10 + (*text - '0') : most;
    if (*text == '.')
        for (int64_t scale = unit / 10; is_digit(*++text); scale /= 10)
            part += scale * (*text - '0');
    return *text ? -1 : whole * unit + part;
}

/* Seconds, perhaps with a fraction, or a date; a past date is now. */
static int64_t parse_retry_after(const struct curl_api *api, const char *value)
{
    int64_t wait_ms = parse_decimal(value, 1000);
    if (wait_ms >= 0)
        return wait_ms;
    int64_t when = api->getdate(value, NULL);
    if (when < 0)
        return -1;
    int64_t now = time(NULL);
    return when > now ? (when - now) * 1000 : 0;
}

static int parse_flag(const char *value)
{
    if (strcasecmp(value, "true") == 0)
        return 1;
    return strcasecmp(value, "false") == 0 ? 0 : -1;
}

static void read_hint(struct http_hints *hints, const struct curl_api *api, const char *name,
                      const char *value)
{
    if (strcasecmp(name, "retry-after-ms") == 0) {
        int64_t wait_ms = parse_decimal(value, 1);
        hints->exact = wait_ms >= 0;
        if (hints->exact)
            hints->retry_after_ms = wait_ms;
    } else if (strcasecmp(name, "retry-after") == 0 && !hints->exact) {
        hints->retry_after_ms = parse_retry_after(api, value);
    } else if (strcasecmp(name, "x-should-retry") == 0) {
        hints->should_retry = parse_flag(value);
    } else if (strcasecmp(name, "location") == 0) {
        snprintf(hints->location, sizeof(hints->location), "%s", value);
    }
}

void http_hints_read(struct http_hints *hints, const struct curl_api *api, const char *line,
                     size_t length)
{
    char copy[512];
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0)
        http_hints_init(hints);
    while (length && (unsigned char)line[length - 1] <= ' ')
        length--;
    const char *colon = memchr(line, ':', length);
    if (!colon || length >= sizeof(copy))
        return;
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *value = copy + (colon - line);
    *value++ = '\0';
    read_hint(hints, api, copy, value + strspn(value, " \t"));
}

/* ---- what went wrong ---- */

void http_error_from_status(struct error *error, const char *host, int status,
                            const struct http_hints *hints, const struct text *body)
{
    if (status < 400 && hints->location[0]) {
        error_set(error, ERROR_CONFIG, "'%s' redirects to '%s'; name that in the base URL", host,
                  hints->location);
        error->status = status;
    } else {
        wire_error_from_body(error, status, text_cstr(body), body->length);
    }
    error->retry_after_ms = hints->retry_after_ms;
    if (hints->should_retry >= 0)
        error->retryable = hints->should_retry;
}

static const struct fault {
    CURLcode code;
    enum error_kind kind;
    bool retryable;
    const char *what;
    const char *cure;
} faults[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERROR_NETWORK, true, "its name is not known",
     "check the base URL and the network"},
    {CURLE_COULDNT_RESOLVE_PROXY, ERROR_NETWORK, true, "the proxy's name is not known",
     "check the proxy variables, such as https_proxy"},
    {CURLE_COULDNT_CONNECT, ERROR_NETWORK, true, "it takes no connections",
     "check the base URL and that the server runs"},
    {CURLE_OPERATION_TIMEDOUT, ERROR_TIMEOUT, true, "no connection in time",
     "--connect-timeout sets the limit"},
    {CURLE_PEER_FAILED_VERIFICATION, ERROR_NETWORK, false, "its certificate is not trusted",
     "behind a proxy that inspects TLS, name its CA file in SSL_CERT_FILE or CURL_CA_BUNDLE"},
    {CURLE_SSL_CACERT_BADFILE, ERROR_CONFIG, false, "the CA certificates cannot be read",
     "check SSL_CERT_FILE, SSL_CERT_DIR and CURL_CA_BUNDLE"},
    {CURLE_SSL_CONNECT_ERROR, ERROR_NETWORK, true, "the TLS handshake failed",
     "check that an https server is there"},
    {CURLE_UNSUPPORTED_PROTOCOL, ERROR_CONFIG, false, "the protocol is not supported",
     "use an http or https base URL"},
    {CURLE_URL_MALFORMAT, ERROR_CONFIG, false, "the base URL is malformed", "correct it"},
    {CURLE_OUT_OF_MEMORY, ERROR_INTERNAL, false, "out of memory", "nothing was received"},
};

static const struct fault other_fault = {.kind = ERROR_NETWORK,
                                         .retryable = true,
                                         .what = "the connection broke before a response came",
                                         .cure = "try again"};

static const struct fault *find_fault(CURLcode code)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        if (faults[i].code == code)
            return &faults[i];
    return &other_fault;
}

void http_error_from_curl(struct error *error, const char *host, CURLcode code, const char *detail)
{
    const struct fault *fault = find_fault(code);
    error_set(error, fault->kind, "cannot reach '%s': %s (%s); %s", host, fault->what, detail,
              fault->cure);
    error->retryable = fault->retryable;
}
