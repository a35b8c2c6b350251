#include "provider/tls_peer.h"

#include <pthread.h>

#include "base/library.h"

/* The place in an SSL_CTX that OpenSSL leaves to applications. */
enum { OURS = 0 };

/* OpenSSL's types, of which nothing but pointers is used. */
typedef void SSL, SSL_CTX, X509, X509_NAME, X509_STORE_CTX;
typedef int verifier(int trusted, X509_STORE_CTX *check);
typedef int chooser(SSL *connection, void *peer);

struct openssl {
    void (*set_verify)(SSL_CTX *, int mode, verifier *);
    int (*get_verify_mode)(const SSL_CTX *);
    void (*set_chooser)(SSL_CTX *, chooser *, void *peer);
    int (*set_data)(SSL_CTX *, int index, void *data);
    void *(*get_data)(const SSL_CTX *, int index);
    SSL_CTX *(*context_of)(const SSL *);
    int (*connection_index)(void);
    void *(*check_data)(const X509_STORE_CTX *, int index);
    X509 *(*certificate)(const X509_STORE_CTX *);
    int (*depth)(const X509_STORE_CTX *);
    X509_NAME *(*subject)(const X509 *);
    X509_NAME *(*issuer)(const X509 *);
    char *(*write_name)(const X509_NAME *, char *, int size);
};

static const struct library_function functions[] = {
    {"SSL_CTX_set_verify", offsetof(struct openssl, set_verify)},
    {"SSL_CTX_get_verify_mode", offsetof(struct openssl, get_verify_mode)},
    {"SSL_CTX_set_cert_cb", offsetof(struct openssl, set_chooser)},
    {"SSL_CTX_set_ex_data", offsetof(struct openssl, set_data)},
    {"SSL_CTX_get_ex_data", offsetof(struct openssl, get_data)},
    {"SSL_get_SSL_CTX", offsetof(struct openssl, context_of)},
    {"SSL_get_ex_data_X509_STORE_CTX_idx", offsetof(struct openssl, connection_index)},
    {"X509_STORE_CTX_get_ex_data", offsetof(struct openssl, check_data)},
    {"X509_STORE_CTX_get_current_cert", offsetof(struct openssl, certificate)},
    {"X509_STORE_CTX_get_error_depth", offsetof(struct openssl, depth)},
    {"X509_get_subject_name", offsetof(struct openssl, subject)},
    {"X509_get_issuer_name", offsetof(struct openssl, issuer)},
    {"X509_NAME_oneline", offsetof(struct openssl, write_name)},
};

static struct openssl openssl;
static bool found;
static pthread_once_t find_once = PTHREAD_ONCE_INIT;

/* In libcurl and the libraries that it was linked with, so that it is the OpenSSL which it uses. */
static void find(void)
{
    static const struct library library = {.file = "libcurl.so.4",
                                           .functions = functions,
                                           .count = sizeof(functions) / sizeof(functions[0])};
    found = library_load(&library, &openssl, NULL);
}

/* Called for each certificate of the chain, the server's own last.  Changes no decision. */
static int on_verify(int trusted, X509_STORE_CTX *check)
{
    const SSL *connection = openssl.check_data(check, openssl.connection_index());
    struct tls_peer *peer = openssl.get_data(openssl.context_of(connection), OURS);
    const X509 *certificate = openssl.certificate(check);
    if (!certificate)
        return trusted;
    if (!trusted)
        openssl.write_name(openssl.issuer(certificate), peer->issuer, sizeof(peer->issuer));
    if (openssl.depth(check) == 0)
        openssl.write_name(openssl.subject(certificate), peer->subject, sizeof(peer->subject));
    return trusted;
}

/* Called when the server asks for a certificate.  The one that was named, if one was, stays. */
static int on_choose(SSL *connection, void *peer)
{
    (void)connection;
    ((struct tls_peer *)peer)->wants_certificate = true;
    return 1;
}

static CURLcode on_context(CURL *easy, void *context, void *peer)
{
    (void)easy;
    openssl.set_chooser(context, on_choose, peer);
    if (openssl.set_data(context, OURS, peer))
        openssl.set_verify(context, openssl.get_verify_mode(context), on_verify);
    return CURLE_OK;
}

void tls_peer_watch(struct tls_peer *peer, const struct curl_api *api, CURL *easy)
{
    pthread_once(&find_once, find);
    if (!found)
        return;
    api->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context);
    api->easy_setopt(easy, CURLOPT_SSL_CTX_DATA, peer);
}
