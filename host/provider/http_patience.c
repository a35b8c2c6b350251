#include "provider/http_patience.h"

#include <stdbool.h>

#include "base/clock.h"

#define LONGEST_WAIT_MS 60000

void http_patience_begin(struct http_patience *patience)
{
    patience->sent_bytes = patience->received_bytes = 0;
    patience->moved_ms = clock_ms();
}

void http_patience_look(struct http_patience *patience, const struct curl_api *api, CURL *easy)
{
    curl_off_t sent = 0;
    curl_off_t received = 0;
    api->easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    api->easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (sent == patience->sent_bytes && received == patience->received_bytes)
        return;
    patience->sent_bytes = sent;
    patience->received_bytes = received;
    patience->moved_ms = clock_ms();
}

void http_patience_renew(struct http_patience *patience)
{
    patience->moved_ms = clock_ms();
}

/* A server may take connections and then no byte of a request, as one that speaks HTTP/2 can. */
static bool is_connected(const struct curl_api *api, CURL *easy)
{
    curl_off_t microseconds = 0;
    api->easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
    return microseconds > 0;
}

int64_t http_patience_limit_ms(const struct http_patience *patience, const struct curl_api *api,
                               CURL *easy)
{
    if (!patience->sent_bytes && !is_connected(api, easy))
        return 0;
    return patience->received_bytes ? patience->idle_ms : patience->first_byte_ms;
}

int http_patience_left_ms(const struct http_patience *patience, const struct curl_api *api,
                          CURL *easy, int64_t deadline_ms)
{
    int64_t now = clock_ms();
    int64_t left = LONGEST_WAIT_MS;
    int64_t limit = http_patience_limit_ms(patience, api, easy);
    if (limit > 0 && patience->moved_ms + limit - now < left)
        left = patience->moved_ms + limit - now;
    if (deadline_ms >= 0 && deadline_ms - now < left)
        left = deadline_ms - now;
    return left > 0 ? (int)left : 0;
}
