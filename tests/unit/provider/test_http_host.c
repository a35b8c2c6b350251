/* Where a server is (FAULTS 47), and what its requests are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <strings.h>

#include "base/secret.h"
#include "provider/http_host.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct curl_api *api;

static int load(void **state)
{
    (void)state;
    api = curl_api(NULL);
    return api ? 0 : -1;
}

static bool init(struct http_host *host, const char *base_url, struct error *error)
{
    return http_host_init(
        host, api, &(struct http_host_settings){.base_url = base_url, .path = "/chat"}, error);
}

static void test_names(void **state)
{
    static const struct {
        const char *base_url, *name, *socket, *url;
    } cases[] = {
        {"http://127.0.0.1:80/v1", "127.0.0.1:80", "", "http://127.0.0.1:80/v1/chat"},
        {"http://[::1]:8/v1", "[::1]:8", "", "http://[::1]:8/v1/chat"},
        {"https://api.openai.com/v1", "api.openai.com", "", "https://api.openai.com/v1/chat"},
        {"http://me:pass-word@10.0.0.1:8/v1", "10.0.0.1:8", "",
         "http://me:pass-word@10.0.0.1:8/v1/chat"},
        {"http+unix://%2Frun%2Fmodel.sock/v1", "/run/model.sock", "/run/model.sock",
         "http://localhost/v1/chat"},
        {"HTTP+UNIX://%2frun%2fa%20b%25%c3%a9", "/run/a b%\xC3\xA9", "/run/a b%\xC3\xA9",
         "http://localhost/chat"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct http_host host;
        assert_true(init(&host, cases[i].base_url, &error));
        assert_string_equal(text_cstr(&host.name), cases[i].name);
        assert_string_equal(text_cstr(&host.socket), cases[i].socket);
        assert_string_equal(text_cstr(&host.url), cases[i].url);
        http_host_release(&host);
    }
}

static void test_this_machine(void **state)
{
    static const struct {
        const char *url;
        bool is_here;
    } cases[] = {
        {"http://127.0.0.1:80/v1", true},
        {"http://127.9.9.9", true},
        {"http://localhost:1/x", true},
        {"http://LOCALHOST", true},
        {"http://api.localhost:8", true},
        {"http://[::1]:8/v1", true},
        {"http://me:pass@127.0.0.1/v1", true},
        {"http+unix://%2Frun%2Fx/v1", true},
        {"https://api.openai.com/v1", false},
        {"http://127.evil.example", false},
        {"http://localhost.example", false},
        {"http://notlocalhost", false},
        {"http://[::2]:8", false},
        {"http://10.0.0.1", false},
        {"http://127.0.0.1@10.0.0.1/", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(http_is_here(cases[i].url), cases[i].is_here);
}

static void test_what_names_no_socket(void **state)
{
    static const struct {
        const char *base_url, *tells;
    } cases[] = {
        {"http+unix://run/v1", "%2F"},          {"http+unix://run%2Fx", "%2F"},
        {"http+unix://%2Frun%/v1", "'%'"},      {"http+unix://%2Frun%2", "'%'"},
        {"http+unix://%2Frun%zz", "'%'"},       {"http+unix://%2Fa%00b", "'%'"},
        {"http+unix://%2Fa%0Ab/v1", "'%'"},
        {"http+unix://%2F0123456789012345678901234567890123456789012345678901234567890123456789"
         "012345678901234567890123456789012345678/v1",
         "longer"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct http_host host;
        assert_false(init(&host, cases[i].base_url, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, cases[i].tells));
        http_host_release(&host);
    }
}

/* 107 bytes and the end are what Linux takes. */
static void test_the_longest_path_of_a_socket(void **state)
{
    struct error error = ERROR_INIT;
    struct http_host host;
    char url[160] = "http+unix://%2F";
    (void)state;
    memset(url + strlen(url), 'x', 106);
    assert_true(init(&host, url, &error));
    assert_int_equal(host.socket.length, 107);
    http_host_release(&host);
}

static void test_a_password_in_the_url_is_secret(void **state)
{
    struct error error = ERROR_INIT;
    struct http_host host;
    char line[] = "http://me:pass-word@10.0.0.1:8/v1  ";
    (void)state;
    secret_clear();
    assert_true(init(&host, "http://me:pass-word@10.0.0.1:8/v1", &error));
    secret_redact_buffer(line, sizeof(line));
    assert_null(strstr(line, "pass-word"));
    http_host_release(&host);
}

static void test_a_key_needs_its_certificate(void **state)
{
    struct error error = ERROR_INIT;
    struct http_host host;
    (void)state;
    const struct http_host_settings settings = {
        .base_url = "https://host", .path = "/", .network = {.client_key = "/key"}};
    assert_false(http_host_init(&host, api, &settings, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    http_host_release(&host);
}

/* Each allocation fails once; what was made before it is given back. */
static void test_no_memory(void **state)
{
    static const struct network_settings network = {.proxy = "http://somebody:pass-word@p:1",
                                                    .ca_file = "/ca",
                                                    .client_cert = "/cert",
                                                    .client_key = "/key"};
    static const char *const urls[] = {"https://me:pass-word@host/v1", "http+unix://%2Frun%2Fx/v1"};
    (void)state;
    for (size_t i = 0; i < COUNT(urls); i++) {
        bool failed = true;
        for (int allowed = 0; failed; allowed++) {
            struct error error = ERROR_INIT;
            struct http_host host;
            const struct http_host_settings settings = {
                .base_url = urls[i], .path = "/chat", .network = network};
            secret_clear();
            fail_after(allowed);
            bool ok = http_host_init(&host, api, &settings, &error);
            failed = fail_never();
            assert_int_equal(ok, !failed);
            if (failed)
                assert_int_equal(error.kind, ERROR_INTERNAL);
            http_host_release(&host);
        }
    }
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const struct profile profile;
        const char *model, *query, *path;
    } cases[] = {
        {{.wire = &wire_anthropic}, "m/x", NULL, "/messages"},
        {{.wire = &wire_gemini},
         "gemini-2.5_a~b",
         NULL,
         "/models/gemini-2.5_a~b:streamGenerateContent?alt=sse"},
        {{.wire = &wire_gemini},
         "a/../b?c=d#e\xFF ",
         "key=1&x=2",
         "/models/a%2F..%2Fb%3Fc%3Dd%23e%FF%20:streamGenerateContent?alt=sse&key=1&x=2"},
        {{.wire = &wire_openai_chat},
         "m",
         "api-version=2024-10-21",
         "/chat/completions?api-version=2024-10-21"},
        {{.wire = &wire_openai_chat, .path = "/deployments/{model}/chat"},
         "a b",
         "v=1",
         "/deployments/a%20b/chat?v=1"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text path = TEXT_INIT;
        http_host_path(&cases[i].profile, cases[i].model, cases[i].query, &path);
        assert_string_equal(text_cstr(&path), cases[i].path);
        text_release(&path);
    }
}

/* How often a header of this name is among those of each request. */
static size_t count_headers(const struct http_host *host, const char *name)
{
    size_t count = 0;
    for (const struct curl_slist *line = host->headers; line; line = line->next)
        count += strncasecmp(line->data, name, strlen(name)) == 0 && line->data[strlen(name)] == ':';
    return count;
}

/* A header that the user names stands in for one of the format's, and for the one with the key. */
static void test_headers_of_the_user(void **state)
{
    static const char *const headers[] = {"anthropic-VERSION: x", "X-Team: tools", NULL};
    static const char *const with_key[] = {"authorization: Basic abc", NULL};
    struct error error = ERROR_INIT;
    struct http_host host;
    (void)state;
    assert_true(init(&host, "https://host/v1", &error));
    const struct profile anthropic = {.name = "a", .wire = &wire_anthropic};
    assert_true(http_host_add_headers(&host, &anthropic, headers, "key"));
    assert_int_equal(count_headers(&host, "anthropic-version"), 1);
    assert_int_equal(count_headers(&host, "X-Team"), 1);
    assert_int_equal(count_headers(&host, "x-api-key"), 1);
    http_host_release(&host);

    assert_true(init(&host, "https://host/v1", &error));
    const struct profile openai = {.name = "o", .wire = &wire_openai_chat};
    assert_true(http_host_add_headers(&host, &openai, with_key, "key"));
    assert_int_equal(count_headers(&host, "Authorization"), 1);
    for (const struct curl_slist *line = host.headers; line; line = line->next)
        assert_null(strstr(line->data, "key"));
    http_host_release(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_what_names_no_socket),
        cmocka_unit_test(test_the_longest_path_of_a_socket),
        cmocka_unit_test(test_a_password_in_the_url_is_secret),
        cmocka_unit_test(test_a_key_needs_its_certificate),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_headers_of_the_user),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
