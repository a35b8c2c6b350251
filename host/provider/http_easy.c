#include "provider/http_easy.h"

/* Also behind a redirect: a server must not send anybody to a file. */
static bool set_protocols(const struct curl_api *api, CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    if (api->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
        api->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK)
        return true;
#endif
/* An older library knows the numbers only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const long protocols = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    return api->easy_setopt(easy, CURLOPT_PROTOCOLS, protocols) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, protocols) == CURLE_OK;
#pragma GCC diagnostic pop
}

bool http_easy_apply(const struct http_network *network, CURL *easy)
{
    const struct curl_api *api = network->api;
    CURLcode (*set)(CURL *, CURLoption, ...) = api->easy_setopt;
    /* An older library may not know some of these; none is vital. */
    set(easy, CURLOPT_TCP_NODELAY, 1L);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    set(easy, CURLOPT_QUICK_EXIT, 1L); /* a cancel does not wait for a name server */
#endif
    return http_network_apply(network, easy) && set_protocols(api, easy) &&
           /* Decodes; what is asked for may be in the headers. */
           set(easy, CURLOPT_ACCEPT_ENCODING, "") == CURLE_OK &&
           set(easy, CURLOPT_USERAGENT, "mortise/" MORTISE_VERSION) == CURLE_OK &&
           set(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}

/* An older library says that it has no memory, a newer one has a code of its own. */
bool http_easy_is_header_too_long(const struct curl_api *api, CURL *easy, CURLcode code)
{
    enum { TOO_LARGE = 100 }; /* CURLE_TOO_LARGE, which older headers do not have */
    curl_off_t microseconds = 0;
    curl_off_t received = 0;
    if (code != CURLE_OUT_OF_MEMORY && (int)code != TOO_LARGE)
        return false;
    api->easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &microseconds);
    api->easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return microseconds > 0 && !received;
}
