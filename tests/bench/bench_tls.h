/*
 * bench_tls - the server's side of TLS, with a certificate made at start for 127.0.0.1.
 */
#ifndef BENCH_TLS_H
#define BENCH_TLS_H

#include <openssl/ssl.h>

/* Writes the certificate into the folder, under the name by which libcurl finds it there
 * (CURLOPT_CAPATH).  Ends the program when that cannot be done. */
SSL_CTX *bench_tls_new(const char *folder);
/* Shakes hands on a connected socket; NULL: that failed. */
SSL *bench_tls_accept(SSL_CTX *context, int fd);

#endif
