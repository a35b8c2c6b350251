#include "service/http_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

enum { CONNECTIONS = 4 }; /* in each handle */

bool http_pool_init(struct http_pool *pool, const struct network_settings *settings)
{
    pthread_mutex_init(&pool->lock, NULL);
    pool->proxy = settings->proxy ? strdup(settings->proxy) : NULL;
    pool->ca_file = settings->ca_file ? strdup(settings->ca_file) : NULL;
    return (pool->proxy || !settings->proxy) && (pool->ca_file || !settings->ca_file);
}

void http_pool_release(struct http_pool *pool)
{
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < pool->idle[kind].count; i++)
            pool->api->multi_cleanup(pool->idle[kind].items[i]);
    http_network_release(&pool->network);
    secret_free(pool->proxy); /* it may hold a password */
    free(pool->ca_file);
    pthread_mutex_destroy(&pool->lock);
}

static bool load_locked(struct http_pool *pool, struct error *error)
{
    if (pool->api)
        return true;
    const struct curl_api *api = curl_api(error);
    if (!api)
        return false;
    const struct network_settings settings = {.proxy = pool->proxy, .ca_file = pool->ca_file};
    if (!http_network_init(&pool->network, api, &settings, error)) {
        http_network_release(&pool->network);
        return false;
    }
    pool->api = api;
    return true;
}

static CURLM *make(const struct curl_api *api, struct error *error)
{
    CURLM *multi = api->multi_init();
    if (multi)
        api->multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS);
    else
        error_memory(error);
    return multi;
}

CURLM *http_pool_borrow(struct http_pool *pool, bool public_only, struct error *error)
{
    struct http_idle *idle = &pool->idle[public_only];
    CURLM *multi = NULL;
    pthread_mutex_lock(&pool->lock);
    bool loaded = load_locked(pool, error);
    if (loaded && idle->count)
        multi = idle->items[--idle->count];
    pthread_mutex_unlock(&pool->lock);
    return multi || !loaded ? multi : make(pool->api, error);
}

void http_pool_give_back(struct http_pool *pool, bool public_only, CURLM *multi)
{
    struct http_idle *idle = &pool->idle[public_only];
    pthread_mutex_lock(&pool->lock);
    bool kept = idle->count < HTTP_POOL_IDLE;
    if (kept)
        idle->items[idle->count++] = multi;
    pthread_mutex_unlock(&pool->lock);
    if (!kept)
        pool->api->multi_cleanup(multi);
}
