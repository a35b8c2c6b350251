/* Whose certificates are believed, and which proxy is asked (FAULTS 25, 26). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "provider/http_network.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HERE         "localhost,127.0.0.1,127.0.0.0/8,::1"

static const struct curl_api *api;

static int load(void **state)
{
    (void)state;
    api = curl_api(NULL);
    return api ? 0 : -1;
}

static int without_variables(void **state)
{
    static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR",
                                        "http_proxy",     "https_proxy",   "HTTPS_PROXY",
                                        "all_proxy",      "ALL_PROXY",     "no_proxy",
                                        "NO_PROXY",       "HTTP_PROXY"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    secret_clear();
    return 0;
}

static void init(struct http_network *network, const struct network_settings *settings)
{
    struct error error = ERROR_INIT;
    if (!http_network_init(network, api, settings, &error))
        fail_msg("%s", error.message);
}

static void test_who_names_the_certificates(void **state)
{
    static const struct {
        const char *option, *bundle, *file, *directory;
        const char *used_file, *used_directory, *from;
    } cases[] = {
        {NULL, "/a", NULL, NULL, "/a", "", "CURL_CA_BUNDLE"},
        {NULL, NULL, "/b", NULL, "/b", "", "SSL_CERT_FILE"},
        {NULL, "/a", "/b", NULL, "/a", "", "CURL_CA_BUNDLE"},
        {NULL, NULL, NULL, "/c", "", "/c", "SSL_CERT_DIR"},
        {NULL, NULL, "/b", "/c", "/b", "/c", "SSL_CERT_FILE"},
        {NULL, "", "/b", "", "/b", "", "SSL_CERT_FILE"},
        {"/o", "/a", "/b", "/c", "/o", "", "--ca-file"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_network network;
        without_variables(NULL);
        if (cases[i].bundle)
            setenv("CURL_CA_BUNDLE", cases[i].bundle, 1);
        if (cases[i].file)
            setenv("SSL_CERT_FILE", cases[i].file, 1);
        if (cases[i].directory)
            setenv("SSL_CERT_DIR", cases[i].directory, 1);
        init(&network, &(struct network_settings){.ca_file = cases[i].option});
        assert_string_equal(text_cstr(&network.ca_file), cases[i].used_file);
        assert_string_equal(text_cstr(&network.ca_directory), cases[i].used_directory);
        assert_string_equal(network.ca_from, cases[i].from);
        http_network_release(&network);
    }
}

/* Never both of them: libcurl would read the whole bundle for every connection. */
static void test_a_directory_before_a_bundle(void **state)
{
    struct http_network network;
    (void)state;
    init(&network, &(struct network_settings){.proxy = NULL});
    assert_false(network.ca_file.length && network.ca_directory.length);
    assert_null(network.ca_from);
    http_network_release(&network);
}

static void test_which_proxy(void **state)
{
    static const struct {
        const char *option, *http, *https, *HTTPS, *all;
        const char *url, *from, *name;
        bool has_user;
    } cases[] = {
        {NULL, NULL, NULL, NULL, NULL, "https://h/", NULL, "", false},
        {NULL, "http://p:1", NULL, NULL, NULL, "http://h/", "http_proxy", "p:1", false},
        {NULL, "http://p:1", NULL, NULL, NULL, "https://h/", NULL, "", false},
        {NULL, NULL, "p:2", "p:3", "p:4", "HTTPS://h/", "https_proxy", "p:2", false},
        {NULL, NULL, NULL, "ada:x@p:3", "p:4", "https://h/", "HTTPS_PROXY", "p:3", true},
        {NULL, NULL, "", "", "socks5h://p", "https://h/", "ALL_PROXY", "p", false},
        {NULL, NULL, NULL, NULL, "p:4", "http://h/", "ALL_PROXY", "p:4", false},
        {"http://[::1]:5", "p:1", "p:2", "p:3", "p:4", "https://h/", "--proxy", "[::1]:5", false},
        {"none", "p:1", "p:2", "p:3", "p:4", "https://h/", NULL, "", false},
        {"", "p:1", "p:2", "p:3", "p:4", "http://h/", NULL, "", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_network network;
        struct http_proxy proxy;
        without_variables(NULL);
        setenv("HTTP_PROXY", "evil:1", 1);
        const char *const values[] = {cases[i].http, cases[i].https, cases[i].HTTPS, cases[i].all};
        static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                            "ALL_PROXY"};
        for (size_t j = 0; j < COUNT(names); j++)
            if (values[j])
                setenv(names[j], values[j], 1);
        init(&network, &(struct network_settings){.proxy = cases[i].option});
        http_proxy_find(&proxy, &network, cases[i].url);
        if (cases[i].from)
            assert_string_equal(proxy.from, cases[i].from);
        else
            assert_null(proxy.from);
        assert_string_equal(text_cstr(&proxy.name), cases[i].name);
        assert_int_equal(proxy.has_user, cases[i].has_user);
        http_proxy_release(&proxy);
        http_network_release(&network);
    }
}

static void test_this_machine_needs_no_proxy(void **state)
{
    static const struct {
        const char *lower, *upper, *used;
    } cases[] = {
        {NULL, NULL, HERE},
        {NULL, "a.test,10.0.0.0/8", "a.test,10.0.0.0/8," HERE},
        {"b.test", "a.test", "b.test," HERE},
        {"", "a.test", "a.test," HERE},
        {"*", NULL, "*"}, /* with anything behind it libcurl would not know it */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_network network;
        without_variables(NULL);
        if (cases[i].lower)
            setenv("no_proxy", cases[i].lower, 1);
        if (cases[i].upper)
            setenv("NO_PROXY", cases[i].upper, 1);
        init(&network, &(struct network_settings){.proxy = NULL});
        assert_string_equal(text_cstr(&network.no_proxy), cases[i].used);
        http_network_release(&network);
    }
}

/* As they are written, and as they are sent.  A user name is often that of a folder too, which tools
 * must be able to tell; where there is no password it is what lets one in. */
static void test_passwords_of_proxies_are_secret(void **state)
{
    static const char *const proxies[] = {
        "http://somebody:pass%2Dword@p:1", "somebody:pass%2Dword@p:1", "http://pass%2Dword@p:1",
        "socks5h://somebody:pass%2Dword@p", "ht!tp://somebody:pass%2Dword@p:1"};
    const size_t good = COUNT(proxies) - 1;
    (void)state;
    for (size_t i = 0; i < COUNT(proxies) * 2; i++) {
        bool by_option = i % 2;
        const char *proxy = proxies[i / 2];
        struct http_network network;
        struct error error = ERROR_INIT;
        struct text line = TEXT_INIT;
        without_variables(NULL);
        if (!by_option)
            setenv("ALL_PROXY", proxy, 1);
        bool ok = http_network_init(
            &network, api, &(struct network_settings){.proxy = by_option ? proxy : NULL}, &error);
        assert_int_equal(ok, !by_option || i / 2 < good);
        text_printf(&line, "/home/somebody %s %s", ok ? proxy : "", error.message);
        if (ok && i / 2 < good)
            text_puts(&line, " pass-word");
        secret_redact(&line);
        assert_non_null(strstr(line.data, "/home/somebody"));
        assert_null(strstr(line.data, "word"));
        text_release(&line);
        http_network_release(&network);
    }
}

static void test_what_is_no_proxy(void **state)
{
    static const char *const bad[] = {"ftp://p:1", "http://p:99999999", "http://",
                                      "a b",       "file:///x"};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct http_network network;
        struct error error = ERROR_INIT;
        assert_false(
            http_network_init(&network, api, &(struct network_settings){.proxy = bad[i]}, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, "--proxy"));
        http_network_release(&network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_who_names_the_certificates, without_variables),
        cmocka_unit_test_setup(test_a_directory_before_a_bundle, without_variables),
        cmocka_unit_test_setup(test_which_proxy, without_variables),
        cmocka_unit_test_setup(test_this_machine_needs_no_proxy, without_variables),
        cmocka_unit_test_setup(test_passwords_of_proxies_are_secret, without_variables),
        cmocka_unit_test_setup(test_what_is_no_proxy, without_variables),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
