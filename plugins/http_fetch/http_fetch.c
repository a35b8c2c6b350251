/* Reads a page of the web: HTML as text, other texts as they are, images and PDFs attached. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "charset.h"
#include "html.h"

enum { REDIRECTS = 10, ERROR_CHARS = 500 };

struct http_fetch {
    struct html_library html;
    bool may_be_private;
    int64_t max_bytes, timeout_s;
};

MORTISE_TOOL(http_fetch, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_OPEN_WORLD,
    "Read a page or a file of the web by its address. Of HTML the text is given, with links as "
    "[text](address); other texts and JSON as they are; images and PDFs are attached.",
    (string,  url,       "An http or https address.", required, length(8, 8000)),
    (integer, max_chars, "How many characters of the text at most.", range(100, 60000),
                         fallback(20000)),
    (boolean, raw,       "Give HTML as it is, not its text."));

/* ---- what came ---- */

struct fetched {
    mortise_call *call;
    const mortise_http_response *response;
    const char *asked;
    char type[100]; /* without parameters, in lower case; "": not known */
    size_t max_chars;
    bool raw;
};

/* Like "text/html" of "Text/HTML; charset=utf-8". */
static void read_type(const char *header, char *out, size_t size)
{
    size_t used = 0;
    for (; header && *header && !strchr("; \t,", *header) && used < size - 1; header++)
        out[used++] = *header >= 'A' && *header <= 'Z' ? (char)(*header - 'A' + 'a') : *header;
    out[used] = '\0';
}

static bool begins(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

static bool is_html(const struct fetched *page)
{
    const char *body = page->response->body + strspn(page->response->body, " \t\r\n");
    if (page->type[0])
        return strcmp(page->type, "text/html") == 0 ||
               strcmp(page->type, "application/xhtml+xml") == 0;
    return begins(body, "<!doctype html") || begins(body, "<html");
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_text(const struct fetched *page)
{
    static const char *const types[] = {
        "application/json",   "application/xml",        "application/javascript",
        "application/x-sh",   "application/x-ndjson",   "application/yaml",
        "application/x-yaml", "application/ecmascript", "application/toml",
        "application/sql",    "application/graphql",    "application/x-www-form-urlencoded"};
    if (!page->type[0])
        return !memchr(page->response->body, '\0', page->response->body_length);
    if (begins(page->type, "text/") || ends_with(page->type, "+json") ||
        ends_with(page->type, "+xml"))
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(page->type, types[i]) == 0)
            return true;
    return false;
}

static bool is_attachable(const char *type)
{
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp",
                                        "application/pdf"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* ---- text ---- */

/* The bytes of the first `most` characters of valid UTF-8. */
static size_t bytes_of(const char *text, size_t length, size_t most)
{
    size_t at = 0;
    for (size_t chars = 0; at < length; at++)
        if (((unsigned char)text[at] & 0xC0) != 0x80 && chars++ == most)
            break;
    return at;
}

/* Whether it is elsewhere than asked; a host alone gets a slash by libcurl. */
static bool is_moved(const char *asked, const char *address)
{
    size_t length = strlen(asked);
    return address && (strncmp(address, asked, length) != 0 ||
                       (address[length] && strcmp(address + length, "/") != 0));
}

/* Where it is, when it was moved; its title; the text; and whether that is all. */
static mortise_status reply(const struct fetched *page, const char *title, const char *text,
                            size_t length, const char *end)
{
    const char *address = page->response->url;
    bool moved = is_moved(page->asked, address);
    size_t kept = bytes_of(text, length, page->max_chars);
    size_t size = kept + strlen(title) + (moved ? strlen(address) : 0) + strlen(end) + 200;
    char *out = mortise_alloc(page->call, size);
    if (!out)
        return MORTISE_NO_MEMORY;
    size_t used = 0;
    if (moved)
        used += (size_t)snprintf(out + used, size - used, "Address: %s\n", address);
    if (*title)
        used += (size_t)snprintf(out + used, size - used, "Title: %s\n", title);
    if (used)
        out[used++] = '\n';
    memcpy(out + used, text, kept);
    used += kept;
    if (kept < length)
        used += (size_t)snprintf(out + used, size - used,
                                 "\n[only the first %zu characters are shown: the text goes on]",
                                 page->max_chars);
    else if (!length && !*end)
        used += (size_t)snprintf(out + used, size - used, "%s",
                                 is_html(page) && !page->raw
                                     ? "[no text: the page may be made by a program in the "
                                       "browser; 'raw' gives it as it is]"
                                     : "[it is empty]");
    else
        used += (size_t)snprintf(out + used, size - used, "%s", end);
    return mortise_reply_text(page->call, out, used);
}

static bool goes_on(void *data)
{
    return !mortise_cancelled(data);
}

static mortise_status reply_html(const struct fetched *fetched, const char *text, size_t length)
{
    struct http_fetch *self = mortise_state(fetched->call);
    const char *problem = NULL, *base = fetched->response->url;
    struct page page;
    page_begin(&page, fetched->max_chars * 4 + 1024);
    enum html_end end = html_read(&self->html, &page, text, length, base ? base : fetched->asked,
                                  goes_on, fetched->call, &problem);
    mortise_status status = MORTISE_NO_MEMORY;
    if (end == HTML_READ || end == HTML_TOO_DEEP)
        status = reply(
            fetched, page.title, page.text ? page.text : "", page.length,
            end == HTML_READ ? "" : "\n[the page is nested too deeply: its rest is left out]");
    else if (end == HTML_STOPPED)
        status = MORTISE_CANCELLED;
    else if (end == HTML_NO_LIBRARY)
        status = mortise_fail_as(fetched->call, MORTISE_INTERNAL, "fetch.html",
                                 "HTML cannot be read here (%s): 'raw' gives it as it is", problem);
    page_release(&page);
    return status;
}

static mortise_status reply_text(const struct fetched *page)
{
    char charset[CHARSET_NAME];
    const mortise_http_response *response = page->response;
    size_t length = 0;
    charset_find(response->content_type, response->body, response->body_length, is_html(page),
                 charset);
    char *text = charset_convert(charset, response->body, response->body_length, &length);
    if (!text)
        return MORTISE_NO_MEMORY;
    mortise_status status = is_html(page) && !page->raw ? reply_html(page, text, length)
                                                        : reply(page, "", text, length, "");
    free(text);
    return status;
}

/* ---- what is no text ---- */

/* What follows the last slash of an address. */
static const char *file_name(mortise_call *call, const char *url)
{
    const char *path = strstr(url, "://");
    path = path ? strchr(path + 3, '/') : NULL;
    size_t length = path ? strcspn(path, "?#") : 0;
    while (length > 0 && memrchr(path, '/', length)) {
        const char *slash = memrchr(path, '/', length);
        length -= (size_t)(slash + 1 - path);
        path = slash + 1;
    }
    char *name = length > 0 && length <= 200 ? mortise_alloc(call, length + 1) : NULL;
    return name ? memcpy(name, path, length) : NULL;
}

static mortise_status attach(const struct fetched *page)
{
    const mortise_http_response *response = page->response;
    const char *name = file_name(page->call, response->url ? response->url : page->asked);
    mortise_status status =
        mortise_attach_bytes(page->call, page->type, name, response->body, response->body_length);
    return status < 0 ? status
                      : mortise_reply(page->call, "%s, %zu bytes, attached", page->type,
                                      response->body_length);
}

static mortise_status fail_status(const struct fetched *page)
{
    uint32_t code = page->response->status;
    mortise_category category = code == 404 || code == 410   ? MORTISE_MISSING
                                : code == 401 || code == 403 ? MORTISE_FORBIDDEN
                                : code == 429                ? MORTISE_RATE_LIMITED
                                : code >= 500                ? MORTISE_UNAVAILABLE
                                                             : MORTISE_INTERNAL;
    /* what a program is told, such as the name of a parameter that is missing */
    const char *body = is_text(page) && !is_html(page) ? page->response->body : "";
    size_t said = bytes_of(body, strlen(body), ERROR_CHARS);
    return mortise_fail_as(page->call, category, "fetch.status",
                           "the server answered with status %" PRIu32 "%s%s%.*s", code,
                           code == 404   ? ": there is no such page"
                           : code == 401 ? ": one has to log in there"
                           : code == 403 ? ": it does not give this page to programs, or to nobody"
                                         : "",
                           said ? "; it says: " : "", (int)said, body);
}

static mortise_status conclude(const struct fetched *page)
{
    if (page->response->status < 200 || page->response->status >= 300)
        return fail_status(page);
    if (is_attachable(page->type))
        return attach(page);
    if (is_text(page) || is_html(page))
        return reply_text(page);
    return mortise_fail_as(page->call, MORTISE_INTERNAL, "fetch.type",
                           "it has the type '%s' and %zu bytes: neither text, nor an image or PDF "
                           "that could be attached",
                           page->type[0] ? page->type : "unknown", page->response->body_length);
}

static mortise_status http_fetch(mortise_call *call, const http_fetch_args *args)
{
    const struct http_fetch *self = mortise_state(call);
    const mortise_http *http = mortise_http_of(call);
    static const mortise_http_header headers[] = {
        {"User-Agent", "mortise/1.0 (http_fetch)"},
        {"Accept", "text/html,text/plain,application/json,image/*;q=0.8,*/*;q=0.5"}};
    const mortise_http_request request = {
        .size = sizeof(request),
        .flags = self->may_be_private ? 0 : MORTISE_HTTP_PUBLIC_ONLY,
        .url = args->url,
        .headers = headers,
        .header_count = sizeof(headers) / sizeof(headers[0]),
        .timeout_ms = self->timeout_s * 1000,
        .max_bytes = (size_t)self->max_bytes,
        .max_redirects = REDIRECTS,
    };
    mortise_http_response response = {.size = sizeof(response)};
    if (!http)
        return mortise_fail(call, "there is no network here");
    if (!begins(args->url, "http://") && !begins(args->url, "https://"))
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "fetch.url",
                               "'url' must begin with http:// or https://");
    mortise_status status = http->send(call, &request, &response);
    if (status < 0)
        return status;
    struct fetched page = {
        .call = call,
        .response = &response,
        .asked = args->url,
        .max_chars = (size_t)args->max_chars,
        .raw = args->raw,
    };
    read_type(response.content_type, page.type, sizeof(page.type));
    return conclude(&page);
}

/* ---- the plugin ---- */

static bool read_number(const mortise_host *host, const char *key, int64_t low, int64_t high,
                        int64_t *out)
{
    mortise_status status = mortise_config_integer(host, key, out);
    if (status != MORTISE_INVALID && *out >= low && *out <= high)
        return true;
    mortise_refuse(host, "\"%s\" is not a number from %" PRId64 " to %" PRId64, key, low, high);
    return false;
}

static void http_fetch_close(void *state)
{
    struct http_fetch *self = state;
    html_library_end(&self->html);
    free(self);
}

static void *http_fetch_open(const mortise_host *host)
{
    struct http_fetch *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->max_bytes = 5 << 20;
    self->timeout_s = 30;
    html_library_begin(&self->html);
    bool ok = read_number(host, "max_bytes", 1024, 10 << 20, &self->max_bytes) &&
              read_number(host, "timeout_s", 1, 600, &self->timeout_s);
    if (ok && mortise_config_boolean(host, "private", &self->may_be_private) == MORTISE_INVALID) {
        mortise_refuse(host, "\"private\" is neither true nor false");
        ok = false;
    }
    if (ok)
        return self;
    http_fetch_close(self);
    return NULL;
}

MORTISE_PLUGIN(.name = "http_fetch", .version = "1.0.0", .tools = MORTISE_TOOLS(http_fetch),
               .open = http_fetch_open, .close = http_fetch_close);
