#include "provider/http_failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct fault {
    CURLcode code;
    enum error_kind kind;
    bool retryable;
    const char *what;
    const char *cure;
};

static bool says(const struct http_failure *failure, const char *words)
{
    return strstr(failure->detail, words) != NULL;
}

/* "cannot reach 'host': WHAT (libcurl's words); CURE" */
static void tell(struct error *error, const struct http_failure *failure, const struct fault *fault)
{
    error_set(error, fault->kind, "cannot reach '%s': %s (%s); %s", failure->host, fault->what,
              failure->detail, fault->cure);
    error->retryable = fault->retryable;
}

/* ---- sockets of this machine ---- */

static bool tell_socket(struct error *error, const struct http_failure *failure)
{
    if (!failure->is_socket || failure->code != CURLE_COULDNT_CONNECT)
        return false;
    int reason = failure->system_error ? (int)failure->system_error : ENOENT;
    error_set(error, ERROR_NETWORK, "cannot reach the socket '%s': %s; %s", failure->host,
              strerror(reason),
              reason == EACCES ? "its owner must let you write to it"
                               : "check the base URL and that the server runs");
    error->retryable = reason != ENOENT && reason != EACCES;
    return true;
}

/* ---- the server's certificate ---- */

#define TRUST_IT                                                                                   \
    "if it is to be trusted, name its CA's certificate in --ca-file or SSL_CERT_FILE (behind a "   \
    "proxy that inspects TLS, that of the proxy)"

/* By the libraries' words: OpenSSL's and GnuTLS'. */
static const struct {
    const char *words;
    const char *what;
    bool name_issuer; /* else whose it is */
    const char *cure;
} distrusts[] = {
    {"has expired", "its certificate has expired", false,
     "whoever runs the server must renew it; check this machine's clock too"},
    {"not yet valid", "its certificate is not valid yet", false, "check this machine's clock"},
    {"self-signed certificate in certificate chain",
     "its certificate comes from a CA that is not trusted", true, TRUST_IT},
    {"self signed certificate in certificate chain",
     "its certificate comes from a CA that is not trusted", true, TRUST_IT},
    {"self-signed certificate", "its certificate is self-signed and not trusted", true,
     "if it is to be trusted, save the certificate and name the file in --ca-file"},
    {"self signed certificate", "its certificate is self-signed and not trusted", true,
     "if it is to be trusted, save the certificate and name the file in --ca-file"},
    {"issuer", "its certificate comes from a CA that is not trusted", true, TRUST_IT},
    {"revoked", "its certificate was revoked", false, "whoever runs the server must renew it"},
    {"subject name", "its certificate is for another name", false,
     "write the name that is in the certificate into the base URL"},
};

/* "its certificate … : '/CN=…'" */
static void tell_distrust(struct error *error, const struct http_failure *failure)
{
    const char *what = "its certificate is not trusted", *cure = TRUST_IT;
    bool name_issuer = true;
    for (size_t i = 0; i < COUNT(distrusts); i++) {
        if (!says(failure, distrusts[i].words))
            continue;
        what = distrusts[i].what;
        name_issuer = distrusts[i].name_issuer;
        cure = distrusts[i].cure;
        break;
    }
    const char *who = name_issuer ? failure->peer->issuer : failure->peer->subject;
    if (*who)
        error_set(error, ERROR_NETWORK, "cannot reach '%s': %s: %s '%s' (%s); %s", failure->host,
                  what, name_issuer ? "it was issued by" : "it is that of", who, failure->detail,
                  cure);
    else
        error_set(error, ERROR_NETWORK, "cannot reach '%s': %s (%s); %s", failure->host, what,
                  failure->detail, cure);
}

static void tell_bad_ca_file(struct error *error, const struct http_failure *failure)
{
    error_set(error, ERROR_CONFIG,
              "cannot read the CA certificates that %s names (%s); it must be a file in PEM format",
              failure->ca_from ? failure->ca_from : "libcurl's installation", failure->detail);
}

/* ---- our certificate ---- */

static bool is_alert(const struct http_failure *failure)
{
    static const char *const alerts[] = {
        "certificate required",      "alert unknown ca",          "alert bad certificate",
        "alert certificate expired", "alert certificate revoked", "alert certificate unknown",
        "alert unsupported certificate"};
    bool found = failure->code == CURLE_SSL_CLIENTCERT;
    for (size_t i = 0; !found && i < COUNT(alerts); i++)
        found = says(failure, alerts[i]);
    return found || (failure->peer->wants_certificate && says(failure, "alert handshake failure"));
}

/* In TLS 1.3 the handshake is over for this side before the server looks at the certificate, and
 * what it then says is often lost with the connection. */
static bool is_break(const struct http_failure *failure)
{
    return failure->code == CURLE_SSL_CONNECT_ERROR || failure->code == CURLE_RECV_ERROR ||
           failure->code == CURLE_SEND_ERROR || failure->code == CURLE_GOT_NOTHING;
}

static bool tell_client_certificate(struct error *error, const struct http_failure *failure)
{
    static const struct fault wanted = {.kind = ERROR_CONFIG,
                                        .what = "it wants a client certificate",
                                        .cure = "name one with --client-cert and --client-key"};
    static const struct fault refused = {.kind = ERROR_CONFIG,
                                         .what = "it does not accept the client certificate",
                                         .cure = "check --client-cert and --client-key"};
    static const struct fault broken = {
        .kind = ERROR_NETWORK,
        .retryable = true,
        .what = "it asked for a client certificate and broke the connection",
        .cure = "check --client-cert and --client-key"};
    static const struct fault unreadable = {
        .kind = ERROR_CONFIG,
        .what = "the client certificate cannot be used",
        .cure = "--client-cert and --client-key name PEM files that belong together; the key may "
                "not be encrypted"};
    const struct fault *fault = NULL;
    if (failure->code == CURLE_SSL_CERTPROBLEM)
        fault = &unreadable;
    else if (is_alert(failure))
        fault = failure->has_client_certificate ? &refused : &wanted;
    else if (failure->peer->wants_certificate && is_break(failure))
        fault = &broken;
    if (fault)
        tell(error, failure, fault);
    return fault != NULL;
}

/* ---- the proxy ---- */

static bool wants_user(const struct http_failure *failure)
{
    return failure->proxy_status == 407 || says(failure, "was rejected by the SOCKS5 server") ||
           says(failure, "No authentication method was acceptable");
}

static bool is_no_proxy(const struct http_failure *failure)
{
    return says(failure, "nsupported proxy") && failure->proxy->from;
}

/* "Failed to connect to HOST port PORT …" */
static bool names_proxy(const struct http_failure *failure)
{
    const char *name = text_cstr(&failure->proxy->name);
    size_t length = strcspn(name, ":");
    const char *at = length ? strstr(failure->detail, "connect to ") : NULL;
    at = at ? at + strlen("connect to ") : NULL;
    return at && strncmp(at, name, length) == 0 && strncmp(at + length, " port ", 6) == 0;
}

/* Where it is certain that the proxy is meant, not the server. */
static bool is_proxys(const struct http_failure *failure)
{
    switch (failure->code) {
    case CURLE_PROXY:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return true;
    case CURLE_COULDNT_CONNECT:
        return names_proxy(failure) || is_no_proxy(failure);
    case CURLE_OPERATION_TIMEDOUT:
        return names_proxy(failure) || says(failure, "roxy CONNECT");
    default:
        return failure->proxy_status >= 300;
    }
}

/* `what` and `cure` of a fault. */
static struct fault proxy_fault(const struct http_failure *failure)
{
    if (is_no_proxy(failure))
        return (struct fault){.kind = ERROR_CONFIG,
                              .what = "that is no URL of a proxy",
                              .cure = "write http://HOST:PORT or socks5h://HOST:PORT there"};
    if (wants_user(failure) && failure->proxy->has_user)
        return (struct fault){.kind = ERROR_CONFIG,
                              .what = "it does not accept the user name and the password",
                              .cure = "check them there"};
    if (wants_user(failure))
        return (struct fault){.kind = ERROR_CONFIG,
                              .what = "it wants a user name and a password",
                              .cure = "write http://USER:PASSWORD@HOST:PORT there"};
    struct fault fault = {.kind = ERROR_NETWORK, .retryable = true, .cure = "check it there"};
    switch (failure->code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
        fault.what = "its name is not known";
        return fault;
    case CURLE_COULDNT_CONNECT:
        fault.what = "it takes no connections";
        return fault;
    case CURLE_OPERATION_TIMEDOUT:
        fault.kind = ERROR_TIMEOUT;
        fault.what = "no connection in time";
        fault.cure = "--connect-timeout sets the limit";
        return fault;
    default:
        fault.retryable = failure->proxy_status != 403;
        fault.what = "it does not connect";
        fault.cure =
            "it may not know or allow this server; NO_PROXY lists those that need no proxy";
        return fault;
    }
}

static bool tell_proxy(struct error *error, const struct http_failure *failure)
{
    const struct http_proxy *proxy = failure->proxy;
    if (!proxy->from || !is_proxys(failure))
        return false;
    char status[32];
    const char *detail = failure->detail;
    if (failure->proxy_status >= 300) {
        snprintf(status, sizeof(status), "HTTP %ld", failure->proxy_status);
        detail = status;
    } else if (is_no_proxy(failure)) {
        detail = "libcurl cannot use it"; /* its own words quote all of it */
    }
    struct fault fault = proxy_fault(failure);
    error_set(error, fault.kind, "cannot reach '%s' through the proxy '%s' of %s: %s (%s); %s",
              failure->host, text_cstr(&proxy->name), proxy->from, fault.what, detail, fault.cure);
    error->retryable = fault.retryable;
    return true;
}

/* Of a server that was asked without a proxy. */
static bool tell_status(struct error *error, const struct http_failure *failure)
{
    if (failure->proxy_status != 407 || failure->proxy->from)
        return false;
    error_set(error, ERROR_NETWORK,
              "'%s' answers as a proxy does that wants a user name and a password (HTTP 407); "
              "check the base URL",
              failure->host);
    return true;
}

/* ---- everything else ---- */

static const struct fault faults[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERROR_NETWORK, true, "its name is not known",
     "check the base URL and the network"},
    {CURLE_COULDNT_CONNECT, ERROR_NETWORK, true, "it takes no connections",
     "check the base URL and that the server runs"},
    {CURLE_OPERATION_TIMEDOUT, ERROR_TIMEOUT, true, "no connection in time",
     "--connect-timeout sets the limit"},
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

/* Of what came there was no status line. */
static const struct fault no_http = {.kind = ERROR_NETWORK,
                                     .what = "it does not speak HTTP",
                                     .cure = "check the base URL, also that its scheme is right"};

static const struct fault *find_fault(const struct http_failure *failure)
{
    if (says(failure, "HTTP/0.9"))
        return &no_http;
    for (size_t i = 0; i < COUNT(faults); i++)
        if (faults[i].code == failure->code)
            return &faults[i];
    return &other_fault;
}

void http_failure_tell(const struct http_failure *failure, struct error *error)
{
    if (tell_socket(error, failure) || tell_proxy(error, failure) || tell_status(error, failure) ||
        tell_client_certificate(error, failure))
        return;
    if (failure->code == CURLE_PEER_FAILED_VERIFICATION)
        tell_distrust(error, failure);
    else if (failure->code == CURLE_SSL_CACERT_BADFILE)
        tell_bad_ca_file(error, failure);
    else
        tell(error, failure, find_fault(failure));
}
