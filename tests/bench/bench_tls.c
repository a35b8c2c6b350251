#include "bench_tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

static void need(int done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "bench_tls: cannot %s\n", what);
    exit(1);
}

static void add_extension(X509 *certificate, int kind, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);
    need(extension && X509_add_ext(certificate, extension, -1), "extend the certificate");
    X509_EXTENSION_free(extension);
}

/* One that signs itself: the client has it among those that it trusts. */
static X509 *make_certificate(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    need(certificate && X509_set_version(certificate, 2) &&
             ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
             X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) &&
             X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600) &&
             X509_set_pubkey(certificate, key),
         "make a certificate");
    X509_NAME *name = X509_get_subject_name(certificate);
    need(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"bench", -1,
                                    -1, 0) &&
             X509_set_issuer_name(certificate, name),
         "name the certificate");
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1");
    need(X509_sign(certificate, key, EVP_sha256()) > 0, "sign the certificate");
    return certificate;
}

static void write_certificate(X509 *certificate, const char *folder)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%08lx.0", folder, X509_subject_name_hash(certificate));
    FILE *file = fopen(path, "w");
    need(file && PEM_write_X509(file, certificate) && fclose(file) == 0, "write the certificate");
}

SSL_CTX *bench_tls_new(const char *folder)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    need(key != NULL, "make a key");
    X509 *certificate = make_certificate(key);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    need(context && SSL_CTX_use_certificate(context, certificate) &&
             SSL_CTX_use_PrivateKey(context, key),
         "use the certificate");
    write_certificate(certificate, folder);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

SSL *bench_tls_accept(SSL_CTX *context, int fd)
{
    SSL *tls = SSL_new(context);
    if (tls && SSL_set_fd(tls, fd) && SSL_accept(tls) == 1)
        return tls;
    SSL_free(tls);
    return NULL;
}
