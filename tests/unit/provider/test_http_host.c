/* Where a server is, and whose certificates are believed (FAULTS 25, 26, 47). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "provider/http_host.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int without_variables(void **state)
{
    (void)state;
    unsetenv("CURL_CA_BUNDLE");
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    secret_clear();
    return 0;
}

static void test_names_and_loopback(void **state)
{
    static const struct {
        const char *base_url, *name;
        bool is_loopback;
    } cases[] = {
        {"http://127.0.0.1:80/v1", "127.0.0.1:80", true},
        {"http://127.9.9.9", "127.9.9.9", true},
        {"http://localhost:1/x", "localhost:1", true},
        {"http://LOCALHOST", "LOCALHOST", true},
        {"http://api.localhost:8", "api.localhost:8", true},
        {"http://[::1]:8/v1", "[::1]:8", true},
        {"https://api.openai.com/v1", "api.openai.com", false},
        {"http://127.evil.example", "127.evil.example", false},
        {"http://localhost.example", "localhost.example", false},
        {"http://notlocalhost", "notlocalhost", false},
        {"http://[::2]:8", "[::2]:8", false},
        {"http://10.0.0.1", "10.0.0.1", false},
        {"http://me:pass-word@10.0.0.1:8/v1", "10.0.0.1:8", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_host host;
        assert_true(http_host_init(&host, cases[i].base_url, "/chat"));
        assert_string_equal(text_cstr(&host.name), cases[i].name);
        assert_int_equal(host.is_loopback, cases[i].is_loopback);
        size_t length = strlen(cases[i].base_url);
        assert_memory_equal(host.url.data, cases[i].base_url, length);
        assert_string_equal(host.url.data + length, "/chat");
        http_host_release(&host);
    }
}

static void test_a_password_in_the_url_is_secret(void **state)
{
    struct http_host host;
    char line[] = "http://me:pass-word@10.0.0.1:8/v1  ";
    (void)state;
    assert_true(http_host_init(&host, "http://me:pass-word@10.0.0.1:8/v1", "/chat"));
    secret_redact_buffer(line, sizeof(line));
    assert_null(strstr(line, "pass-word"));
    http_host_release(&host);
}

static void test_certificates_come_from_the_environment(void **state)
{
    static const struct {
        const char *bundle, *file, *directory;
        const char *used_file, *used_directory;
    } cases[] = {
        {"/a", NULL, NULL, "/a", ""}, {NULL, "/b", NULL, "/b", ""},   {"/a", "/b", NULL, "/a", ""},
        {NULL, NULL, "/c", "", "/c"}, {NULL, "/b", "/c", "/b", "/c"}, {"", "/b", "", "/b", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_host host;
        without_variables(NULL);
        if (cases[i].bundle)
            setenv("CURL_CA_BUNDLE", cases[i].bundle, 1);
        if (cases[i].file)
            setenv("SSL_CERT_FILE", cases[i].file, 1);
        if (cases[i].directory)
            setenv("SSL_CERT_DIR", cases[i].directory, 1);
        assert_true(http_host_init(&host, "https://host", "/"));
        assert_string_equal(text_cstr(&host.certificates.file), cases[i].used_file);
        assert_string_equal(text_cstr(&host.certificates.directory), cases[i].used_directory);
        http_host_release(&host);
    }
}

/* Never both of them: libcurl would read the whole bundle for every connection. */
static void test_a_directory_before_a_bundle(void **state)
{
    struct http_host host;
    (void)state;
    assert_true(http_host_init(&host, "https://host", "/"));
    assert_false(host.certificates.file.length && host.certificates.directory.length);
    http_host_release(&host);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_names_and_loopback, without_variables),
        cmocka_unit_test(test_paths),
        cmocka_unit_test_setup(test_a_password_in_the_url_is_secret, without_variables),
        cmocka_unit_test_setup(test_certificates_come_from_the_environment, without_variables),
        cmocka_unit_test_setup(test_a_directory_before_a_bundle, without_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
