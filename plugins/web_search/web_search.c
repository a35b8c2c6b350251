/* Searches the web by a server that speaks SearXNG's JSON, which the configuration names. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URL_BYTES = 2048, SNIPPET_BYTES = 1000, ANSWER_BYTES = 4 << 20 };

struct web_search {
    const mortise_host *host;
    char endpoint[2048]; /* "": none is configured */
    char key_header[100];
};

MORTISE_TOOL(web_search, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_OPEN_WORLD,
    "Search the web. The result is a JSON list of pages with title, url and snippet, best first.",
    (string,  query,      "What to look for.", required, length(1, 1000)),
    (integer, maxResults, "How many results at most.", range(1, 10), fallback(5)));

/* ---- the request ---- */

/* As in application/x-www-form-urlencoded, but for the space, which every server knows as %20. */
static char *put_encoded(char *at, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    static const char digits[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (strchr(plain, byte)) {
            *at++ = (char)byte;
        } else {
            *at++ = '%';
            *at++ = digits[byte >> 4];
            *at++ = digits[byte & 15];
        }
    }
    return at;
}

/* ENDPOINT?q=…&format=json; NULL: no memory. */
static const char *make_url(mortise_call *call, const char *endpoint, const char *query)
{
    static const char end[] = "&format=json";
    size_t size = strlen(endpoint) + strlen(query) * 3 + sizeof("?q=") + sizeof(end);
    char *url = mortise_alloc(call, size);
    if (!url)
        return NULL;
    int used = snprintf(url, size, "%s%cq=", endpoint, strchr(endpoint, '?') ? '&' : '?');
    char *at = put_encoded(url + used, query);
    memcpy(at, end, sizeof(end));
    return url;
}

/* "Authorization: Bearer KEY", or the key alone in a header of another name; NULL: no memory. */
static const char *key_value(mortise_call *call, const struct web_search *self, const char *key)
{
    const char *scheme = strcmp(self->key_header, "Authorization") == 0 ? "Bearer " : "";
    size_t size = strlen(scheme) + strlen(key) + 1;
    char *value = mortise_alloc(call, size);
    if (value)
        snprintf(value, size, "%s%s", scheme, key);
    return value;
}

/* ---- the answer ---- */

static mortise_status fail_status(mortise_call *call, uint32_t status)
{
    if (status == 429)
        return mortise_fail_retry(call, MORTISE_RATE_LIMITED, "search.limit", 0,
                                  "the search server has had too many requests");
    if (status >= 500)
        return mortise_fail_as(call, MORTISE_UNAVAILABLE, "search.server",
                               "the search server has a problem (status %" PRIu32 ")", status);
    const char *hint =
        status == 401   ? ": the operator has to look at its key"
        : status == 403 ? ": it may have JSON switched off (SearXNG: search.formats), or want a key"
        : status >= 300 && status < 400
            ? ": it has moved, and the operator has to configure where to"
            : "";
    return mortise_fail_as(call, MORTISE_INTERNAL, "search.status",
                           "the search server refused with status %" PRIu32 "%s", status, hint);
}

/* A member as JSON text, of at most `limit` bytes; "" when it is absent or no text. */
static const char *quoted(mortise_call *call, const char *result, const char *key, size_t limit)
{
    const char *text = "";
    if (mortise_json_text(call, result, key, &text) != MORTISE_OK)
        return mortise_quote(call, "");
    size_t length = strlen(text);
    if (length <= limit)
        return mortise_quote(call, text);
    limit = mortise_cut(text, limit);
    char *cut = mortise_alloc(call, limit + 1);
    return mortise_quote(call, cut ? memcpy(cut, text, limit) : "");
}

/* An address that is cut leads elsewhere, so one that is too long is none. */
static bool is_address(mortise_call *call, const char *result)
{
    const char *url = "";
    return mortise_json_text(call, result, "url", &url) == MORTISE_OK &&
           (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) &&
           strlen(url) <= URL_BYTES;
}

/* Whether the server found nothing because those whom it asked did not answer it. */
static bool is_in_the_dark(const char *answer)
{
    const char *engines, *engine = NULL;
    return mortise_json_array(answer, "unresponsive_engines", &engines) == MORTISE_OK &&
           mortise_json_next(engines, &engine) == MORTISE_OK;
}

/* `results` of the answer, one by one. */
static mortise_status reply(mortise_call *call, const char *answer, const char *results,
                            int64_t most)
{
    const char *result = NULL, *parts[10];
    size_t size = sizeof("[]"), used = 1;
    int64_t count = 0;
    while (count < most && mortise_json_next(results, &result) == MORTISE_OK) {
        if (!is_address(call, result))
            continue;
        const char *url = quoted(call, result, "url", URL_BYTES);
        const char *title = quoted(call, result, "title", 300);
        const char *snippet = quoted(call, result, "content", SNIPPET_BYTES);
        size_t length = strlen(url) + strlen(title) + strlen(snippet) + 64;
        char *part = mortise_alloc(call, length);
        if (!part)
            return MORTISE_NO_MEMORY;
        size += (size_t)snprintf(part, length, "{\"title\":%s,\"url\":%s,\"snippet\":%s},", title,
                                 url, snippet);
        parts[count++] = part;
    }
    if (!count && is_in_the_dark(answer))
        return mortise_fail_as(call, MORTISE_UNAVAILABLE, "search.engines",
                               "nothing was found, since search engines did not answer the search "
                               "server: try again later, or with other words");
    char *list = mortise_alloc(call, size);
    if (!list)
        return MORTISE_NO_MEMORY;
    list[0] = '[';
    for (int64_t i = 0; i < count; i++) {
        size_t length = strlen(parts[i]) - (i == count - 1);
        memcpy(list + used, parts[i], length);
        used += length;
    }
    memcpy(list + used, "]", 2);
    return mortise_reply_json(call, "%s", list);
}

static mortise_status web_search(mortise_call *call, const web_search_args *args)
{
    const struct web_search *self = mortise_state(call);
    const mortise_http *http = mortise_http_of(call);
    const mortise_secrets *secrets = mortise_secrets_of(self->host);
    if (!self->endpoint[0])
        return mortise_fail_as(
            call, MORTISE_UNAVAILABLE, "search.endpoint",
            "no search server is configured, so nothing can be searched: the operator has to name "
            "one by {\"plugin-config\": {\"web_search\": {\"endpoint\": "
            "\"https://HOST/search\"}}}");
    if (!http)
        return mortise_fail(call, "there is no network here");
    const char *key = secrets ? secrets->get(self->host, "api_key") : NULL;
    mortise_http_header headers[2] = {{"Accept", "application/json"}};
    mortise_http_request request = {
        .size = sizeof(request),
        .url = make_url(call, self->endpoint, args->query),
        .headers = headers,
        .header_count = 1,
        .max_bytes = ANSWER_BYTES,
    };
    if (key)
        headers[request.header_count++] =
            (mortise_http_header){self->key_header, key_value(call, self, key)};
    if (!request.url || (key && !headers[1].value))
        return MORTISE_NO_MEMORY;
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = http->send(call, &request, &response);
    if (status < 0)
        return status;
    if (response.status != 200)
        return fail_status(call, response.status);
    const char *results;
    if (strlen(response.body) != response.body_length ||
        mortise_json_array(response.body, "results", &results) != MORTISE_OK)
        return mortise_fail_as(call, MORTISE_INTERNAL, "search.answer",
                               "the search server did not answer as SearXNG does, with a JSON "
                               "object that has \"results\"");
    return reply(call, response.body, results, args->maxResults);
}

/* ---- the plugin ---- */

static bool is_token(const char *text)
{
    return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-_")] == '\0';
}

static const char *problem(const mortise_host *host, struct web_search *self)
{
    mortise_status status =
        mortise_config_string(host, "endpoint", self->endpoint, sizeof(self->endpoint));
    bool is_url =
        strncmp(self->endpoint, "http://", 7) == 0 || strncmp(self->endpoint, "https://", 8) == 0;
    if (status == MORTISE_INVALID || (status == MORTISE_OK && !is_url) ||
        strpbrk(self->endpoint, "# \t\r\n"))
        return "\"endpoint\" is not the http or https address of a search server";
    status = mortise_config_string(host, "key_header", self->key_header, sizeof(self->key_header));
    if (status == MORTISE_INVALID || !is_token(self->key_header))
        return "\"key_header\" is not the name of a header";
    return NULL;
}

static void *web_search_open(const mortise_host *host)
{
    struct web_search *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    *self = (struct web_search){.host = host, .key_header = "Authorization"};
    const char *reason = problem(host, self);
    if (reason) {
        free(self);
        return mortise_refuse(host, "%s", reason);
    }
    return self;
}

MORTISE_PLUGIN(.name = "web_search", .version = "1.0.0", .tools = MORTISE_TOOLS(web_search),
               .open = web_search_open, .close = free);
