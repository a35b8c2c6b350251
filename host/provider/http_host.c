#include "provider/http_host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/secret.h"

/* "127.1.2.3", "[::1]", "localhost" or a name below it, with or without a port. */
static bool is_loopback(const char *host)
{
    char name[256];
    struct in_addr address;
    if (strncmp(host, "[::1]", 5) == 0)
        return true;
    size_t length = strcspn(host, ":");
    if (length >= sizeof(name))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (inet_pton(AF_INET, name, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    const char *dot = strrchr(name, '.');
    return strcasecmp(dot ? dot + 1 : name, "localhost") == 0;
}

void http_put_segment(struct text *out, const char *name)
{
    for (; *name; name++)
        if (isalnum((unsigned char)*name) || strchr("-._~", *name))
            text_putc(out, *name);
        else
            text_printf(out, "%%%02X", (unsigned)(unsigned char)*name);
}

void http_host_path(const struct profile *profile, const char *model, const char *query,
                    struct text *out)
{
    static const char place[] = "{model}";
    const char *path = profile->path ? profile->path : profile->wire->path;
    const char *at;
    for (; (at = strstr(path, place)); path = at + strlen(place)) {
        text_append(out, path, (size_t)(at - path));
        http_put_segment(out, model);
    }
    text_puts(out, path);
    if (query)
        text_printf(out, "%c%s", strchr(text_cstr(out), '?') ? '&' : '?', query);
}

static bool set_url(struct http_host *host, const char *base_url, const char *path)
{
    const char *start = strstr(base_url, "://");
    start = start ? start + 3 : base_url;
    size_t length = strcspn(start, "/");
    const char *at = memrchr(start, '@', length);
    if (at) {
        const char *password = memchr(start, ':', (size_t)(at - start));
        const char *secret = password ? password + 1 : start;
        if (!secret_add_encoded(secret, (size_t)(at - secret)))
            return false;
        length -= (size_t)(at + 1 - start);
        start = at + 1;
    }
    text_append(&host->name, start, length);
    text_printf(&host->url, "%s%s", base_url, path);
    host->is_loopback = is_loopback(text_cstr(&host->name));
    return !host->name.failed && !host->url.failed;
}

bool http_host_init(struct http_host *host, const char *base_url, const char *path)
{
    *host = (struct http_host){0};
    return set_url(host, base_url, path) && http_certificates_find(&host->certificates);
}

static bool add_header(struct http_host *host, const char *name, const char *value)
{
    struct text line = TEXT_INIT;
    text_puts(&line, name);
    text_puts(&line, value);
    struct curl_slist *grown =
        line.failed ? NULL : host->api->slist_append(host->headers, line.data);
    if (line.data)
        explicit_bzero(line.data, line.length);
    text_release(&line);
    if (grown)
        host->headers = grown;
    return grown != NULL;
}

static bool has_header(const char *const *lines, const char *line)
{
    size_t length = strcspn(line, ":") + 1;
    for (size_t i = 0; lines && lines[i]; i++)
        if (strncasecmp(lines[i], line, length) == 0)
            return true;
    return false;
}

/* Those of `lines` that are not among `others`. */
static bool add_headers(struct http_host *host, const char *const *lines, const char *const *others)
{
    bool added = true;
    for (size_t i = 0; added && lines && lines[i]; i++)
        if (!has_header(others, lines[i]))
            added = add_header(host, lines[i], "");
    return added;
}

bool http_host_add_headers(struct http_host *host, const struct curl_api *api,
                           const struct profile *profile, const char *const *headers,
                           const char *key)
{
    const struct wire *wire = profile->wire;
    host->api = api;
    bool added = add_header(host, "Content-Type: ", HTTP_CONTENT_TYPE) &&
                 add_header(host, "Accept: ",
                            wire->open_message
                                ? "application/vnd.amazon.eventstream, application/json"
                                : "text/event-stream, application/json") &&
                 add_header(host, "Accept-Encoding: ", "identity") &&
                 add_header(host, "Expect:", "");
    return added && add_headers(host, wire->headers, headers) && add_headers(host, headers, NULL) &&
           (!key ||
            add_header(host, profile->key_header ? profile->key_header : wire->key_header, key));
}

bool http_host_copy_headers(const struct http_host *host, struct curl_slist **list)
{
    for (const struct curl_slist *line = host->headers; line; line = line->next) {
        struct curl_slist *grown = host->api->slist_append(*list, line->data);
        if (!grown)
            return false;
        *list = grown;
    }
    return true;
}

void http_headers_free(const struct curl_api *api, struct curl_slist *list)
{
    for (struct curl_slist *line = list; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    if (list)
        api->slist_free_all(list);
}

bool http_host_apply(const struct http_host *host, CURL *easy)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = host->api->easy_setopt;
    set(easy, CURLOPT_PIPEWAIT, 1L); /* an older library may not know it; it is not vital */
    if (host->is_loopback)
        set(easy, CURLOPT_NOPROXY, "*");
    return http_easy_apply(host->api, &host->certificates, easy) &&
           set(easy, CURLOPT_URL, host->url.data) == CURLE_OK &&
           set(easy, CURLOPT_HTTPHEADER, host->headers) == CURLE_OK &&
           set(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
}

void http_host_release(struct http_host *host)
{
    text_release(&host->name);
    text_release(&host->url);
    http_certificates_release(&host->certificates);
    http_headers_free(host->api, host->headers);
}
