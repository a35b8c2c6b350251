/*
 * http_patience - how long a server may be silent while a response is waited for.
 *
 * Bytes are counted as they are on the wire, both ways.  While it connects libcurl counts the time;
 * then there is one limit until the body begins, and another one for silence within it.
 */
#ifndef PROVIDER_HTTP_PATIENCE_H
#define PROVIDER_HTTP_PATIENCE_H

#include <stdint.h>

#include "provider/curl_api.h"

struct http_patience {
    int64_t first_byte_ms; /* the limits; 0: for ever */
    int64_t idle_ms;

    /* Of the transfer at hand. */
    curl_off_t sent_bytes;
    curl_off_t received_bytes; /* of the body */
    int64_t moved_ms;          /* when one of them last grew */
};

/* A transfer begins; the limits stay. */
void http_patience_begin(struct http_patience *patience);
/* Looks whether bytes went either way since the last look. */
void http_patience_look(struct http_patience *patience, const struct curl_api *api, CURL *easy);
/* The time until now was not the server's. */
void http_patience_renew(struct http_patience *patience);
/* How long silence is borne at this point; 0: for ever. */
int64_t http_patience_limit_ms(const struct http_patience *patience, const struct curl_api *api,
                               CURL *easy);
/* Until that or the deadline (-1: none) is reached, whichever comes first: from 0 to a minute. */
int http_patience_left_ms(const struct http_patience *patience, const struct curl_api *api,
                          CURL *easy, int64_t deadline_ms);

#endif
