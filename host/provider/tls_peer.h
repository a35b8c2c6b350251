/*
 * tls_peer - what a TLS server said of itself before a connection failed: whose certificate it
 * showed, who issued the one that is not trusted, and whether it asked for one of ours.
 *
 * libcurl tells none of it, so the OpenSSL that it uses is asked meanwhile.  With another TLS
 * library all stays empty.
 */
#ifndef PROVIDER_TLS_PEER_H
#define PROVIDER_TLS_PEER_H

#include <stdbool.h>

#include "provider/curl_api.h"

struct tls_peer {
    char subject[256]; /* "/O=Some Company/CN=server", or "" */
    char issuer[256];
    bool wants_certificate;
};

/* Watches the connections of the handle; the peer must outlive them.  It is as the last one left
 * it: the caller empties it. */
void tls_peer_watch(struct tls_peer *peer, const struct curl_api *api, CURL *easy);

#endif
