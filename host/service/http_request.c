#include "service/http_request.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "provider/http_host.h"

enum {
    DEFAULT_TIMEOUT_MS = 30000,
    LONGEST_TIMEOUT_MS = 24 * 60 * 60 * 1000,
    DEFAULT_MAX_BYTES = 10 << 20,
    MAX_URL_BYTES = 64 << 10,
    MAX_HEADERS = 1000,
    MAX_METHOD_BYTES = 32,
    MAX_REDIRECTS = 50
};

/* ---- what was passed in ---- */

/* A word of RFC 9110. */
static bool is_token(const char *text, size_t most)
{
    static const char characters[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz";
    size_t length = strspn(text, characters);
    return length > 0 && length <= most && !text[length];
}

static const char *check_url(const char *url)
{
    if (!url || !*url)
        return "it has no URL";
    if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
        return "only http:// and https:// can be asked";
    if (strnlen(url, MAX_URL_BYTES + 1) > MAX_URL_BYTES)
        return "its URL is longer than 64 KiB";
    for (const char *c = url; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return "its URL has a blank or a control character, which must be written as %XX";
    return NULL;
}

/* With a second length two servers on the way could see two requests. */
static bool is_the_hosts(const char *name)
{
    static const char *const names[] = {
        "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static const char *check_header(const mortise_http_header *header)
{
    if (!header->name || !is_token(header->name, SIZE_MAX))
        return "the name of a header has a character that it cannot have";
    if (is_the_hosts(header->name))
        return "the headers Content-Length, Transfer-Encoding, Connection, Upgrade, TE and "
               "Trailer are the host's own";
    for (const char *c = header->value ? header->value : ""; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
            return "the value of a header has a line end or a control character";
    return NULL;
}

static const char *check(const mortise_http_request *face)
{
    const char *problem = check_url(face->url);
    if (!problem && (face->flags & ~(uint32_t)MORTISE_HTTP_PUBLIC_ONLY))
        problem = "it has a flag that this host does not know";
    if (!problem && face->method && !is_token(face->method, MAX_METHOD_BYTES))
        problem = "its method is no word";
    if (!problem && face->body_length && !face->body)
        problem = "its body has a length and no bytes";
    if (!problem && face->header_count && !face->headers)
        problem = "its headers have a count and no place";
    if (!problem && face->header_count > MAX_HEADERS)
        problem = "it has more than 1000 headers";
    if (!problem && face->stop_fd > 0 && fcntl(face->stop_fd, F_GETFD) < 0)
        problem = "its stop_fd is no open descriptor";
    for (size_t i = 0; !problem && i < face->header_count; i++)
        problem = check_header(&face->headers[i]);
    return problem;
}

/* For messages. */
static void read_host(struct text *host, const char *url)
{
    size_t length;
    const char *name = http_find_name(url, &length);
    text_append(host, name, length < 256 ? length : 256);
}

static void set_defaults(mortise_http_request *face)
{
    if (!face->method)
        face->method = face->body ? "POST" : "GET";
    if (face->stop_fd < 0)
        face->stop_fd = 0;
    if (!face->timeout_ms)
        face->timeout_ms = DEFAULT_TIMEOUT_MS;
    if (face->timeout_ms > LONGEST_TIMEOUT_MS)
        face->timeout_ms = LONGEST_TIMEOUT_MS;
    if (!face->max_bytes)
        face->max_bytes = DEFAULT_MAX_BYTES;
    if (face->max_redirects > MAX_REDIRECTS)
        face->max_redirects = MAX_REDIRECTS;
}

const char *http_request_read(struct http_request *request, const mortise_http_request *given)
{
    *request = (struct http_request){0};
    if (!given || !MORTISE_HAS(given, mortise_http_request, url))
        return "it has no URL";
    size_t size = given->size < sizeof(request->face) ? given->size : sizeof(request->face);
    memcpy(&request->face, given, size);
    const char *problem = check(&request->face);
    if (problem)
        return problem;
    set_defaults(&request->face);
    read_host(&request->host, request->face.url);
    return NULL;
}

/* ---- for libcurl ---- */

static bool has_header(const mortise_http_request *face, const char *name)
{
    for (size_t i = 0; i < face->header_count; i++)
        if (strcasecmp(face->headers[i].name, name) == 0)
            return true;
    return false;
}

/* libcurl writes "Name;" as a header without a value, and leaves "Name:" out. */
static bool add_header(struct http_request *request, const struct curl_api *api,
                       const mortise_http_header *header)
{
    struct text name = TEXT_INIT;
    bool has_value = header->value && *header->value;
    text_printf(&name, "%s%s", header->name, has_value ? ": " : ";");
    bool ok = !name.failed &&
              http_headers_add(api, &request->lines, name.data, has_value ? header->value : "");
    text_release(&name);
    return ok;
}

/* Nothing that the tool did not say: no Expect, no type of a form. */
static bool add_headers(struct http_request *request, const struct curl_api *api)
{
    const mortise_http_request *face = &request->face;
    bool ok =
        (has_header(face, "Expect") || http_headers_add(api, &request->lines, "Expect:", "")) &&
        (has_header(face, "Content-Type") ||
         http_headers_add(api, &request->lines, "Content-Type:", ""));
    for (size_t i = 0; ok && i < face->header_count; i++)
        ok = add_header(request, api, &face->headers[i]);
    return ok;
}

static bool is_method(const mortise_http_request *face, const char *method)
{
    return strcmp(face->method, method) == 0;
}

static bool set_body(const mortise_http_request *face, const struct curl_api *api, CURL *easy)
{
    return api->easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)face->body_length) ==
               CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_POSTFIELDS, face->body ? face->body : "") == CURLE_OK;
}

/* A method that has a body says so, also when it is empty. */
static bool set_method(const mortise_http_request *face, const struct curl_api *api, CURL *easy)
{
    bool is_get = is_method(face, "GET"), is_post = is_method(face, "POST");
    bool has_body = face->body || is_post || is_method(face, "PUT") || is_method(face, "PATCH");
    if (has_body && !set_body(face, api, easy))
        return false;
    if (is_method(face, "HEAD") && !has_body)
        return api->easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
    if (is_post || (is_get && !has_body))
        return true;
    return api->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, face->method) == CURLE_OK;
}

/* Methods whose repetition elsewhere is well defined. */
bool http_request_follows(const mortise_http_request *face)
{
    return face->max_redirects > 0 &&
           (is_method(face, "GET") || is_method(face, "HEAD") || is_method(face, "POST"));
}

static bool set_redirects(const mortise_http_request *face, const struct curl_api *api, CURL *easy)
{
    long follows = http_request_follows(face);
    return api->easy_setopt(easy, CURLOPT_FOLLOWLOCATION, follows) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_MAXREDIRS, (long)face->max_redirects) == CURLE_OK;
}

bool http_request_apply(struct http_request *request, const struct curl_api *api, CURL *easy)
{
    const mortise_http_request *face = &request->face;
    return add_headers(request, api) &&
           api->easy_setopt(easy, CURLOPT_HTTPHEADER, request->lines) == CURLE_OK &&
           api->easy_setopt(easy, CURLOPT_URL, face->url) == CURLE_OK &&
           set_method(face, api, easy) && set_redirects(face, api, easy);
}

void http_request_release(struct http_request *request, const struct curl_api *api)
{
    http_headers_free(api, request->lines);
    text_release(&request->host);
}
