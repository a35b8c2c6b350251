/*
 * http_pool - connections that stay from one request of a tool to the next.
 *
 * A request borrows a multi handle with the connections in it.  Those that were made for public
 * addresses only are kept apart: a connection that is there is not checked again.  Thread-safe.
 */
#ifndef SERVICE_HTTP_POOL_H
#define SERVICE_HTTP_POOL_H

#include <pthread.h>
#include <stdbool.h>

#include "provider/http_easy.h"

enum { HTTP_POOL_IDLE = 4 }; /* of each kind */

struct http_pool {
    pthread_mutex_t lock;
    const struct curl_api *api; /* once it is loaded */
    char *proxy, *ca_file;      /* as the user says, or NULL */
    struct http_network network; /* once libcurl is loaded */
    struct http_idle {
        CURLM *items[HTTP_POOL_IDLE];
        size_t count;
    } idle[2];
};

/* False: no memory; release it all the same. */
bool http_pool_init(struct http_pool *pool, const struct network_settings *settings);
void http_pool_release(struct http_pool *pool);

/* Loads libcurl the first time.  NULL with *error. */
CURLM *http_pool_borrow(struct http_pool *pool, bool public_only, struct error *error);
/* Without any easy handle in it. */
void http_pool_give_back(struct http_pool *pool, bool public_only, CURLM *multi);

#endif
