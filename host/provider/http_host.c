#include "provider/http_host.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/hex.h"
#include "base/secret.h"
#include "provider/http_failure.h"

#define ON_SOCKET "http+unix://"

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

/* ---- where it is ---- */

/* Between "//" and the next '/', behind a user name. */
static const char *find_name(const char *url, size_t *length)
{
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    *length = strcspn(start, "/");
    const char *at = memrchr(start, '@', *length);
    if (at)
        *length -= (size_t)(at + 1 - start);
    return at ? at + 1 : start;
}

static bool is_on_socket(const char *url)
{
    return strncasecmp(url, ON_SOCKET, strlen(ON_SOCKET)) == 0;
}

/* A socket, "127.1.2.3", "[::1]", "localhost" or a name below it, with or without a port. */
bool http_is_here(const char *url)
{
    char name[256];
    struct in_addr address;
    size_t length;
    const char *host = find_name(url, &length);
    if (is_on_socket(url) || strncmp(host, "[::1]", 5) == 0)
        return true;
    length = strcspn(host, ":/");
    if (length >= sizeof(name))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    if (inet_pton(AF_INET, name, &address) == 1)
        return ntohl(address.s_addr) >> 24 == 127;
    const char *dot = strrchr(name, '.');
    return strcasecmp(dot ? dot + 1 : name, "localhost") == 0;
}

/* "http+unix://PATH/…", PATH with its slashes as %2F, becomes the path and a URL that has a host
 * for the header of that name. */
static bool set_socket(struct http_host *host, const char *path, size_t length,
                       struct error *error)
{
    for (size_t i = 0; i < length; i++) {
        int byte = path[i] == '%' ? hex_byte(path + i + 1) : (unsigned char)path[i];
        if (byte < ' ')
            return error_set(error, ERROR_CONFIG,
                             "the base URL names a socket by a path with a '%%' that no character "
                             "is behind");
        text_putc(&host->socket, (char)byte);
        i += path[i] == '%' ? 2 : 0;
    }
    if (host->socket.failed)
        return error_memory(error);
    if (*text_cstr(&host->socket) != '/')
        return error_set(error, ERROR_CONFIG,
                         "the base URL names a socket by no whole path; write its slashes as "
                         "%%2F, as in 'http+unix://%%2Frun%%2Fmodel.sock/v1'");
    if (host->socket.length >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return error_set(error, ERROR_CONFIG,
                         "the path of the socket '%s' is longer than the system takes (%zu bytes)",
                         text_cstr(&host->socket),
                         sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
    text_append(&host->name, host->socket.data, host->socket.length);
    text_puts(&host->url, "http://localhost");
    return true;
}

/* The name of the host for messages, without the user and the password before it. */
static bool set_name(struct http_host *host, const char *url)
{
    size_t length;
    const char *name = find_name(url, &length);
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    if (name > start) {
        const char *end = name - 1;
        const char *password = memchr(start, ':', (size_t)(end - start));
        const char *secret = password ? password + 1 : start;
        if (!secret_add_encoded(secret, (size_t)(end - secret)))
            return false;
    }
    text_append(&host->name, name, length);
    return true;
}

static bool set_url(struct http_host *host, const struct http_host_settings *settings,
                    struct error *error)
{
    const char *base = settings->base_url;
    if (is_on_socket(base)) {
        const char *path = base + strlen(ON_SOCKET);
        size_t length = strcspn(path, "/");
        if (!set_socket(host, path, length, error))
            return false;
        base = path + length;
    } else if (!set_name(host, base)) {
        return error_memory(error);
    }
    text_printf(&host->url, "%s%s", base, settings->path);
    return !(host->name.failed || host->url.failed || host->socket.failed) || error_memory(error);
}

static bool set_client_certificate(struct http_host *host, const struct network_settings *network,
                                   struct error *error)
{
    if (network->client_key && !network->client_cert)
        return error_set(error, ERROR_CONFIG, "--client-key needs --client-cert");
    text_puts(&host->client_cert, network->client_cert ? network->client_cert : "");
    text_puts(&host->client_key, network->client_key ? network->client_key : "");
    return !(host->client_cert.failed || host->client_key.failed) || error_memory(error);
}

bool http_host_init(struct http_host *host, const struct curl_api *api,
                    const struct http_host_settings *settings, struct error *error)
{
    *host = (struct http_host){.api = api};
    return set_url(host, settings, error) &&
           set_client_certificate(host, &settings->network, error) &&
           http_network_init(&host->network, api, &settings->network, error);
}

/* ---- what is said ---- */

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

bool http_host_add_headers(struct http_host *host, const struct profile *profile,
                           const char *const *headers, const char *key)
{
    const struct wire *wire = profile->wire;
    const char *of_key = profile->key_header ? profile->key_header : wire->key_header;
    bool added = add_header(host, "Content-Type: ", HTTP_CONTENT_TYPE) &&
                 add_header(host, "Accept: ",
                            wire->open_message
                                ? "application/vnd.amazon.eventstream, application/json"
                                : "text/event-stream, application/json") &&
                 add_header(host, "Accept-Encoding: ", "identity") &&
                 add_header(host, "Expect:", "");
    return added && add_headers(host, wire->headers, headers) && add_headers(host, headers, NULL) &&
           (!key || has_header(headers, of_key) || add_header(host, of_key, key));
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

/* libcurl would ask for the passphrase of a key on the terminal unless it has one. */
static bool apply_client_certificate(const struct http_host *host, CURL *easy)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = host->api->easy_setopt;
    const struct text *key = host->client_key.length ? &host->client_key : &host->client_cert;
    return !host->client_cert.length ||
           (set(easy, CURLOPT_SSLCERT, host->client_cert.data) == CURLE_OK &&
            set(easy, CURLOPT_SSLKEY, key->data) == CURLE_OK &&
            set(easy, CURLOPT_KEYPASSWD, "") == CURLE_OK);
}

bool http_host_apply(struct http_host *host, CURL *easy)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = host->api->easy_setopt;
    host->peer = (struct tls_peer){.wants_certificate = false};
    tls_peer_watch(&host->peer, host->api, easy);
    set(easy, CURLOPT_PIPEWAIT, 1L); /* an older library may not know it; it is not vital */
    return http_easy_apply(&host->network, easy) && apply_client_certificate(host, easy) &&
           (!host->socket.length ||
            set(easy, CURLOPT_UNIX_SOCKET_PATH, host->socket.data) == CURLE_OK) &&
           set(easy, CURLOPT_URL, host->url.data) == CURLE_OK &&
           set(easy, CURLOPT_HTTPHEADER, host->headers) == CURLE_OK &&
           set(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
}

/* ---- what went wrong ---- */

static long get_long(const struct http_host *host, CURL *easy, CURLINFO info)
{
    long value = 0;
    host->api->easy_getinfo(easy, info, &value);
    return value;
}

/* A proxy answers for itself before there is a tunnel, or instead of the server if it is asked for
 * the whole URL. */
void http_host_tell_failure(const struct http_host *host, CURL *easy, CURLcode code,
                            const char *detail, struct error *error)
{
    struct http_proxy proxy;
    http_proxy_find(&proxy, &host->network, text_cstr(&host->url));
    const struct http_failure failure = {
        .host = text_cstr(&host->name),
        .code = code,
        .detail = *detail ? detail : host->api->easy_strerror(code),
        .system_error = get_long(host, easy, CURLINFO_OS_ERRNO),
        .proxy_status = get_long(host, easy, code == CURLE_OK ? CURLINFO_RESPONSE_CODE
                                                              : CURLINFO_HTTP_CONNECTCODE),
        .is_socket = host->socket.length > 0,
        .has_client_certificate = host->client_cert.length > 0,
        .ca_from = host->network.ca_from,
        .proxy = &proxy,
        .peer = &host->peer,
    };
    http_failure_tell(&failure, error);
    http_proxy_release(&proxy);
}

void http_host_release(struct http_host *host)
{
    text_release(&host->name);
    text_release(&host->url);
    text_release(&host->socket);
    text_release(&host->client_cert);
    text_release(&host->client_key);
    http_network_release(&host->network);
    http_headers_free(host->api, host->headers);
}
