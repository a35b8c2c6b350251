#include <mortise/test.h>

#include "web_search.c"

struct server {
    mortise_http_response answer;
    char url[4096], key[100];
};

static mortise_status serve(void *data, const mortise_http_request *request,
                            mortise_http_response *response)
{
    struct server *server = data;
    snprintf(server->url, sizeof(server->url), "%s", request->url);
    server->key[0] = '\0';
    for (size_t i = 1; i < request->header_count; i++)
        snprintf(server->key, sizeof(server->key), "%s: %s", request->headers[i].name,
                 request->headers[i].value);
    mortise_test_true(request->flags == 0 && request->max_redirects == 0);
    *response = server->answer;
    return MORTISE_OK;
}

static const mortise_test_result *search(mortise_test *test, const char *query, int64_t count)
{
    return mortise_test_run(test, &web_search_tool,
                            &(web_search_args){.query = query, .maxResults = count});
}

static const char answer[] =
    "{\"query\":\"x\",\"results\":[{\"url\":\"https://a.example/\",\"title\":\"A \\\"one\\\"\","
    "\"content\":\"First.\",\"engine\":\"e\",\"score\":1.5},"
    "{\"url\":\"javascript:alert(1)\",\"title\":\"no\"},7,null,{\"title\":\"no address\"},"
    "{\"url\":\"httpx://no\"},"
    "{\"url\":\"http://b.example/\",\"title\":null,\"content\":3}],\"suggestions\":[]}";

static void finds(void) /* R13 */
{
    struct server server = {.answer = {.body = answer}};
    mortise_test *test = mortise_test_open_with(
        &(mortise_test_setup){.config = "{\"endpoint\":\"https://s.example/search\"}",
                              .http = serve,
                              .http_data = &server});
    mortise_test_json(
        search(test, "tea & milk?\xE8\x8C\xB6", 5),
        "[{\"title\":\"A \\\"one\\\"\",\"url\":\"https://a.example/\",\"snippet\":\"First.\"},"
        "{\"title\":\"\",\"url\":\"http://b.example/\",\"snippet\":\"\"}]");
    mortise_test_same(server.url,
                      "https://s.example/search?q=tea%20%26%20milk%3F%E8%8C%B6&format=json");
    mortise_test_same(server.key, "");
    mortise_test_json(
        search(test, "x", 1),
        "[{\"title\":\"A \\\"one\\\"\",\"url\":\"https://a.example/\",\"snippet\":\"First.\"}]");
    server.answer.body = "{\"results\":[],\"unresponsive_engines\":[]}";
    mortise_test_json(search(test, "x", 5), "[]");
    server.answer.body = "{\"results\":[],\"unresponsive_engines\":[[\"e\",\"CAPTCHA\"]]}";
    mortise_test_error(search(test, "x", 5), MORTISE_UNAVAILABLE,
                       "did not answer the search server");
    char long_url[4096];
    snprintf(long_url, sizeof(long_url), "{\"results\":[{\"url\":\"https://a.example/%02100d\"}]}",
             1);
    server.answer.body = long_url;
    mortise_test_json(search(test, "x", 5), "[]"); /* and none that leads elsewhere */
    mortise_test_close(test);
}

static void tells_what_is_wrong(void)
{
    static const struct {
        uint32_t status;
        mortise_category category;
        const char *body, *part;
    } cases[] = {
        {429, MORTISE_RATE_LIMITED, "", "too many requests"},
        {403, MORTISE_INTERNAL, "", "JSON switched off"},
        {401, MORTISE_INTERNAL, "", "key"},
        {302, MORTISE_INTERNAL, "", "moved"},
        {502, MORTISE_UNAVAILABLE, "", "502"},
        {200, MORTISE_INTERNAL, "<html>", "did not answer as SearXNG"},
        {200, MORTISE_INTERNAL, "{\"results\":{}}", "did not answer as SearXNG"},
        {200, MORTISE_INTERNAL, "", "did not answer as SearXNG"},
    };
    struct server server = {.answer = {.body = ""}};
    mortise_test *test = mortise_test_open_with(&(mortise_test_setup){
        .config =
            "{\"endpoint\":\"http://127.0.0.1:1/search?language=en\",\"key_header\":\"X-Key\"}",
        .secrets = (const char *const[]){"api_key", "k-1", NULL},
        .http = serve,
        .http_data = &server});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        server.answer = (mortise_http_response){.status = cases[i].status, .body = cases[i].body};
        mortise_test_error(search(test, "x", 5), cases[i].category, cases[i].part);
    }
    mortise_test_same(server.url, "http://127.0.0.1:1/search?language=en&q=x&format=json");
    mortise_test_same(server.key, "X-Key: k-1");
    mortise_test_close(test);
    test = mortise_test_open(NULL);
    mortise_test_error(search(test, "x", 5), MORTISE_UNAVAILABLE, "no search server is configured");
    mortise_test_close(test);
}

static void has_sound_settings(void)
{
    mortise_test_refused("{\"endpoint\":\"ftp://x\"}", "search server");
    mortise_test_refused("{\"endpoint\":\"\"}", "search server");
    mortise_test_refused("{\"endpoint\":\"http://x/#y\"}", "search server");
    mortise_test_refused("{\"endpoint\":[]}", "search server");
    mortise_test_refused("{\"key_header\":\"A: b\"}", "name of a header");
}

int main(void)
{
    finds();
    tells_what_is_wrong();
    has_sound_settings();
    return mortise_test_status();
}
