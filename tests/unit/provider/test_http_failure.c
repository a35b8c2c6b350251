/* Why no response came: each reason has its own words and its next step (FAULTS 25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "provider/http_failure.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct error tell(struct http_failure failure, const char *proxy_from, const char *proxy)
{
    struct error error = ERROR_INIT;
    struct http_proxy via = {.from = proxy_from};
    static const struct tls_peer nobody;
    text_puts(&via.name, proxy);
    failure.host = failure.host ? failure.host : "host:81";
    failure.detail = failure.detail ? failure.detail : "what it said";
    failure.proxy = &via;
    failure.peer = failure.peer ? failure.peer : &nobody;
    http_failure_tell(&failure, &error);
    http_proxy_release(&via);
    return error;
}

static void check(const struct error *error, enum error_kind kind, bool retryable,
                  const char *tells)
{
    assert_int_equal(error->kind, kind);
    assert_int_equal(error->retryable, retryable);
    if (!strstr(error->message, tells))
        fail_msg("'%s' is not in: %s", tells, error->message);
}

static void test_codes(void **state)
{
    static const struct {
        CURLcode code;
        enum error_kind kind;
        bool retryable;
        const char *tells;
    } cases[] = {
        {CURLE_COULDNT_CONNECT, ERROR_NETWORK, true, "server runs"},
        {CURLE_COULDNT_RESOLVE_HOST, ERROR_NETWORK, true, "base URL"},
        {CURLE_OPERATION_TIMEDOUT, ERROR_TIMEOUT, true, "--connect-timeout"},
        {CURLE_PEER_FAILED_VERIFICATION, ERROR_NETWORK, false, "SSL_CERT_FILE"},
        {CURLE_SSL_CERTPROBLEM, ERROR_CONFIG, false, "--client-key"},
        {CURLE_SSL_CLIENTCERT, ERROR_CONFIG, false, "--client-cert"},
        {CURLE_GOT_NOTHING, ERROR_NETWORK, true, "broke"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = tell((struct http_failure){.code = cases[i].code}, NULL, "");
        check(&error, cases[i].kind, cases[i].retryable, cases[i].tells);
        assert_non_null(strstr(error.message, "'host:81'"));
        assert_non_null(strstr(error.message, "what it said"));
    }
}

/* The words of OpenSSL 1.1, OpenSSL 3 and libcurl. */
static void test_certificates(void **state)
{
    static const struct tls_peer peer = {.subject = "/CN=server", .issuer = "/O=Corp/CN=Its CA"};
    static const struct {
        const char *detail, *what, *who, *cure;
    } cases[] = {
        {"SSL certificate problem: certificate has expired", "has expired", "/CN=server", "clock"},
        {"SSL certificate problem: certificate is not yet valid", "not valid yet", "/CN=server",
         "clock"},
        {"SSL certificate problem: self-signed certificate", "self-signed", "Its CA", "--ca-file"},
        {"SSL certificate problem: self signed certificate", "self-signed", "Its CA", "--ca-file"},
        {"SSL certificate problem: self-signed certificate in certificate chain", "from a CA",
         "Its CA", "inspects TLS"},
        {"SSL certificate problem: unable to get local issuer certificate", "from a CA", "Its CA",
         "inspects TLS"},
        {"SSL: no alternative certificate subject name matches target host name 'x'",
         "another name", "/CN=server", "base URL"},
        {"server certificate verification failed", "not trusted", "Its CA", "--ca-file"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_failure failure = {
            .code = CURLE_PEER_FAILED_VERIFICATION, .detail = cases[i].detail, .peer = &peer};
        struct error error = tell(failure, NULL, "");
        check(&error, ERROR_NETWORK, false, cases[i].what);
        check(&error, ERROR_NETWORK, false, cases[i].who);
        check(&error, ERROR_NETWORK, false, cases[i].cure);
        failure.peer = NULL; /* another TLS library */
        error = tell(failure, NULL, "");
        check(&error, ERROR_NETWORK, false, cases[i].what);
        assert_null(strstr(error.message, "''"));
    }
}

static void test_ca_files_are_named(void **state)
{
    (void)state;
    struct error error =
        tell((struct http_failure){.code = CURLE_SSL_CACERT_BADFILE, .ca_from = "--ca-file"}, NULL,
             "");
    check(&error, ERROR_CONFIG, false, "--ca-file");
    error = tell((struct http_failure){.code = CURLE_SSL_CACERT_BADFILE}, NULL, "");
    check(&error, ERROR_CONFIG, false, "libcurl's installation");
}

/* What the server says of our certificate, and what it does without a word. */
static void test_client_certificates(void **state)
{
    static const struct tls_peer asked = {.wants_certificate = true};
    static const struct {
        const char *detail;
        CURLcode code;
        bool asks, has;
        enum error_kind kind;
        bool retryable;
        const char *tells;
    } cases[] = {
        {"tlsv13 alert certificate required", CURLE_RECV_ERROR, true, false, ERROR_CONFIG, false,
         "wants a client certificate"},
        {"tlsv1 alert unknown ca", CURLE_RECV_ERROR, true, true, ERROR_CONFIG, false,
         "does not accept"},
        {"sslv3 alert handshake failure", CURLE_SSL_CONNECT_ERROR, true, false, ERROR_CONFIG, false,
         "wants a client certificate"},
        {"sslv3 alert handshake failure", CURLE_SSL_CONNECT_ERROR, false, false, ERROR_NETWORK,
         true, "TLS handshake failed"},
        {"Connection reset by peer", CURLE_RECV_ERROR, true, false, ERROR_NETWORK, true,
         "asked for a client certificate and broke"},
        {"Connection reset by peer", CURLE_RECV_ERROR, false, false, ERROR_NETWORK, true,
         "broke before a response"},
        {"Connection timed out", CURLE_OPERATION_TIMEDOUT, true, false, ERROR_TIMEOUT, true,
         "--connect-timeout"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = tell((struct http_failure){.code = cases[i].code,
                                                        .detail = cases[i].detail,
                                                        .has_client_certificate = cases[i].has,
                                                        .peer = cases[i].asks ? &asked : NULL},
                                  NULL, "");
        check(&error, cases[i].kind, cases[i].retryable, cases[i].tells);
    }
}

/* The proxy is blamed for what it did, and for nothing else. */
static void test_proxies(void **state)
{
    static const struct {
        CURLcode code;
        long status;
        const char *detail;
        enum error_kind kind;
        bool retryable;
        const char *tells;
    } cases[] = {
        {CURLE_COULDNT_CONNECT, 0, "Failed to connect to proxy port 3128 after 0 ms", ERROR_NETWORK,
         true, "through the proxy 'proxy:3128' of https_proxy: it takes no connections"},
        {CURLE_COULDNT_CONNECT, 0, "Failed to connect to proxy.test port 81 after 0 ms",
         ERROR_NETWORK, true, "'host:81': it takes no connections"},
        {CURLE_OPERATION_TIMEDOUT, 0, "Proxy CONNECT aborted due to timeout", ERROR_TIMEOUT, true,
         "of https_proxy: no connection in time"},
        {CURLE_OPERATION_TIMEDOUT, 0, "Connection timed out", ERROR_TIMEOUT, true,
         "'host:81': no connection in time"},
        {CURLE_COULDNT_RESOLVE_PROXY, 0, "Could not resolve proxy: proxy", ERROR_NETWORK, true,
         "of https_proxy: its name is not known"},
        {CURLE_RECV_ERROR, 403, "CONNECT tunnel failed, response 403", ERROR_NETWORK, false,
         "(HTTP 403)"},
        {CURLE_RECV_ERROR, 502, "CONNECT tunnel failed, response 502", ERROR_NETWORK, true,
         "(HTTP 502)"},
        {CURLE_RECV_ERROR, 407, "CONNECT tunnel failed, response 407", ERROR_CONFIG, false,
         "wants a user name and a password"},
        {CURLE_OK, 407, "No error", ERROR_CONFIG, false, "wants a user name and a password"},
        {CURLE_RECV_ERROR, 200, "Connection reset", ERROR_NETWORK, true,
         "'host:81': the connection"},
        {CURLE_PROXY, 0, "User was rejected by the SOCKS5 server (1 1).", ERROR_CONFIG, false,
         "wants a user name and a password"},
        {CURLE_PROXY, 0, "Can't complete SOCKS5 connection", ERROR_NETWORK, true, "NO_PROXY"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = tell((struct http_failure){.code = cases[i].code,
                                                        .detail = cases[i].detail,
                                                        .proxy_status = cases[i].status},
                                  "https_proxy", "proxy:3128");
        check(&error, cases[i].kind, cases[i].retryable, cases[i].tells);
    }
}

static void test_what_quotes_a_proxy_is_not_shown(void **state)
{
    (void)state;
    struct error error = tell((struct http_failure){.code = CURLE_COULDNT_CONNECT,
                                                    .detail = "Unsupported proxy 'x://a:b@c'"},
                              "ALL_PROXY", "");
    check(&error, ERROR_CONFIG, false, "of ALL_PROXY: that is no URL of a proxy");
    assert_null(strstr(error.message, "a:b"));
}

static void test_a_proxys_status_without_a_proxy(void **state)
{
    (void)state;
    struct error error =
        tell((struct http_failure){.code = CURLE_OK, .proxy_status = 407}, NULL, "");
    check(&error, ERROR_NETWORK, false, "407");
}

static void test_sockets(void **state)
{
    static const struct {
        long reason;
        bool retryable;
        const char *tells;
    } cases[] = {{ENOENT, false, "server runs"},
                 {0, false, "server runs"},
                 {ECONNREFUSED, true, "server runs"},
                 {EACCES, false, "its owner"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = tell((struct http_failure){.host = "/run/x",
                                                        .code = CURLE_COULDNT_CONNECT,
                                                        .system_error = cases[i].reason,
                                                        .is_socket = true},
                                  "https_proxy", "localhost");
        check(&error, ERROR_NETWORK, cases[i].retryable, cases[i].tells);
        assert_non_null(strstr(error.message, "the socket '/run/x'"));
        assert_null(strstr(error.message, "what it said")); /* of a host that nobody named */
    }
}

static void test_no_http(void **state)
{
    (void)state;
    struct error error = tell((struct http_failure){.code = CURLE_UNSUPPORTED_PROTOCOL,
                                                    .detail = "Received HTTP/0.9 when not allowed"},
                              NULL, "");
    check(&error, ERROR_NETWORK, false, "does not speak HTTP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_ca_files_are_named),
        cmocka_unit_test(test_client_certificates),
        cmocka_unit_test(test_proxies),
        cmocka_unit_test(test_what_quotes_a_proxy_is_not_shown),
        cmocka_unit_test(test_a_proxys_status_without_a_proxy),
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_no_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
