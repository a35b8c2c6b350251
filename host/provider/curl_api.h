/*
 * curl_api - libcurl through a table of functions, loaded on first need.
 *
 * Loading it costs more than everything else that a command does at start, so commands
 * that need no network never pay for it.  Thread-safe.
 */
#ifndef PROVIDER_CURL_API_H
#define PROVIDER_CURL_API_H

#include <curl/curl.h>

#include "base/error.h"

struct curl_api {
    CURLcode (*global_init)(long);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    const char *(*easy_strerror)(CURLcode);
    void (*easy_reset)(CURL *);
    void (*easy_cleanup)(CURL *);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
    CURLMcode (*multi_add_handle)(CURLM *, CURL *);
    CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
    CURLMcode (*multi_perform)(CURLM *, int *);
    CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned, int, int *);
    CURLMsg *(*multi_info_read)(CURLM *, int *);
    CURLMcode (*multi_cleanup)(CURLM *);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
    time_t (*getdate)(const char *, const time_t *);
    CURLU *(*url)(void);
    CURLUcode (*url_set)(CURLU *, CURLUPart, const char *, unsigned);
    CURLUcode (*url_get)(CURLU *, CURLUPart, char **, unsigned);
    void (*url_cleanup)(CURLU *);
    void (*free)(void *);
};

/* Starts loading on a thread of its own, to be ready when curl_api() is called. */
void curl_api_preload(void);
/* NULL with *error (kind config) that names the package to install. */
const struct curl_api *curl_api(struct error *error);

#endif
