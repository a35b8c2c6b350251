/* Who may come in, by the head of the request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/http_address.h"
#include "mcp/http_check.h"

#define TOKEN "0123456789abcdef"

static struct http_policy policy(void)
{
    return (struct http_policy){.host = "127.0.0.1", .body_max = 1000};
}

/* The status for a request with this line, target and further fields. */
static int status_of(const struct http_policy *policy, const char *line, const char *fields)
{
    struct text text = TEXT_INIT;
    struct http_head head;
    struct http_refusal refusal = {0};
    const char *problem;
    text_printf(&text, "%s\r\n%s\r\n", line, fields);
    assert_int_equal(http_head_read(&head, text.data, text.length, &problem), 0);
    int status = http_check(policy, &head, &refusal) ? 0 : refusal.status;
    text_release(&text);
    return status;
}

#define POST "POST /mcp HTTP/1.1"
#define JSON "Content-Type: application/json\r\n"
#define HERE "Host: localhost:1\r\n" JSON

struct fields_case {
    const char *fields;
    int status;
};

static void check_all(const struct http_policy *policy, const struct fields_case *cases,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int status = status_of(policy, POST, cases[i].fields);
        if (status != cases[i].status)
            fail_msg("%d for %s", status, cases[i].fields);
    }
}

#define CHECK_ALL(policy, cases) check_all(policy, cases, sizeof(cases) / sizeof(*(cases)))

/* S39 */
static void test_host(void **state)
{
    (void)state;
    static const struct fields_case cases[] = {
        {"Host: LocalHost\r\n" JSON, 0},
        {"Host: 127.0.0.1:8080\r\n" JSON, 0},
        {"Host: [::1]:8080\r\n" JSON, 0},
        {"Host: 127.0.0.2\r\n" JSON, 403},
        {"Host: evil.example.com\r\n" JSON, 403},
        {"Host: localhost.evil.example.com\r\n" JSON, 403},
        {"Host: localhost:80@evil.example.com\r\n" JSON, 403},
        {"Host: localhost:80:80\r\n" JSON, 403},
        {"Host: [::1\r\n" JSON, 403},
        {"Host: [::1]x\r\n" JSON, 403},
        {"Host:\r\n" JSON, 403},
        {"Host: localhost\r\nHost: evil.example.com\r\n" JSON, 400},
        {JSON, 400},
    };
    struct http_policy here = policy();
    CHECK_ALL(&here, cases);
    here.host = "127.0.0.2"; /* it is the address that is listened on */
    assert_int_equal(status_of(&here, POST, "Host: 127.0.0.2:1\r\n" JSON), 0);
}

/* S39 */
static void test_origin(void **state)
{
    (void)state;
    static const struct fields_case cases[] = {
        {HERE "Origin: http://localhost:3000\r\n", 0},
        {HERE "Origin: https://127.0.0.1\r\n", 0},
        {HERE "Origin: http://[::1]:3000\r\n", 0},
        {HERE "Origin: null\r\n", 403},
        {HERE "Origin:\r\n", 403},
        {HERE "Origin: http://evil.example.com\r\n", 403},
        {HERE "Origin: http://localhost.evil.example.com\r\n", 403},
        {HERE "Origin: http://localhost/\r\n", 403},
        {HERE "Origin: file://localhost\r\n", 403},
        {HERE "Origin: http://localhost\r\nOrigin: http://localhost\r\n", 403},
    };
    struct http_policy here = policy();
    CHECK_ALL(&here, cases);
    assert_int_equal(status_of(&here, "OPTIONS /mcp HTTP/1.1", HERE), 405);
}

/* S38, S39: for other machines a token takes the place of the name. */
static void test_public(void **state)
{
    (void)state;
#define BEARER "Authorization: Bearer " TOKEN "\r\n"
    static const struct fields_case cases[] = {
        {"Host: tools.example.com\r\n" BEARER JSON, 0},
        {"Host: tools.example.com\r\nOrigin: https://tools.example.com\r\n" BEARER JSON, 0},
        {"Host: tools.example.com\r\nOrigin: https://evil.example.com\r\n" BEARER JSON, 403},
        {"Host: tools.example.com\r\n" JSON, 401},
    };
    struct http_policy everywhere = policy();
    everywhere.is_public = true;
    everywhere.token = TOKEN;
    CHECK_ALL(&everywhere, cases);
}

/* S47 */
static void test_token(void **state)
{
    (void)state;
    static const struct fields_case cases[] = {
        {HERE "Authorization: bearer   " TOKEN "\r\n", 0},
        {HERE "Authorization: Bearer " TOKEN "0\r\n", 401},
        {HERE "Authorization: Bearer 0123456789abcdeF\r\n", 401},
        {HERE "Authorization: Bearer 0123456789abcde\r\n", 401},
        {HERE "Authorization: Bearer " TOKEN TOKEN "\r\n", 401},
        {HERE "Authorization: Bearer \r\n", 401},
        {HERE "Authorization: Basic " TOKEN "\r\n", 401},
        {HERE "Authorization: " TOKEN "\r\n", 401},
        {HERE BEARER BEARER, 401},
        {HERE, 401},
    };
    struct http_policy here = policy();
    here.token = TOKEN;
    CHECK_ALL(&here, cases);
    assert_int_equal(status_of(&here, "GET /x HTTP/1.1", HERE), 401); /* nothing is told before */
}

/* S47 */
static void test_token_text(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    assert_true(http_token_check(TOKEN, 16, "T", &error));
    assert_false(http_token_check("short", 5, "T", &error));
    assert_non_null(strstr(error.message, "'T'"));
    assert_false(http_token_check("0123456789 abcdef", 17, "T", &error));
    assert_null(strstr(error.message, "0123"));
}

/* S40 */
static void test_request(void **state)
{
    (void)state;
    struct http_policy here = policy();
    assert_int_equal(status_of(&here, "POST /mcp?a HTTP/1.1", HERE), 0);
    assert_int_equal(status_of(&here, "POST / HTTP/1.1", HERE), 404);
    assert_int_equal(status_of(&here, "POST /mcp/ HTTP/1.1", HERE), 404);
    assert_int_equal(status_of(&here, "POST http://localhost/mcp HTTP/1.1", HERE), 404);
    assert_int_equal(status_of(&here, "GET /mcp HTTP/1.1", HERE), 405);
    assert_int_equal(status_of(&here, "DELETE /mcp HTTP/1.1", HERE), 405);
    assert_int_equal(status_of(&here, "post /mcp HTTP/1.1", HERE), 405);
    static const struct fields_case cases[] = {
        {"Host: localhost\r\nContent-Type: Application/JSON ; charset=utf-8\r\n", 0},
        {"Host: localhost\r\nContent-Type: text/plain\r\n", 415},
        {"Host: localhost\r\nContent-Type: application/jsonx\r\n", 415},
        {"Host: localhost\r\n", 415},
        {HERE "Content-Encoding: gzip\r\n", 415},
        {HERE "Content-Length: 1000\r\n", 0},
        {HERE "Content-Length: 1001\r\n", 413},
    };
    CHECK_ALL(&here, cases);
}

/* S38 */
static void test_address(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host; /* NULL: it is none */
        bool is_loopback;
    } cases[] = {
        {"0", "127.0.0.1", true},
        {"8080", "127.0.0.1", true},
        {"localhost:65535", "127.0.0.1", true},
        {"127.1.2.3:1", "127.1.2.3", true},
        {"0.0.0.0:1", "0.0.0.0", false},
        {"192.168.1.1:1", "192.168.1.1", false},
        {"[::1]:1", "[::1]", true},
        {"[::]:1", "[::]", false},
        {"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]", false},
        {"", NULL, false},
        {"65536", NULL, false},
        {"-1", NULL, false},
        {"+1", NULL, false},
        {"127.0.0.1", NULL, false},
        {"127.0.0.1:", NULL, false},
        {":80", NULL, false},
        {"::1:80", NULL, false},
        {"[127.0.0.1]:80", NULL, false},
        {"[::1]", NULL, false},
        {"[]:80", NULL, false},
        {"[:80", NULL, false},
        {"127.1:80", NULL, false},
        {"example.com:80", NULL, false},
        {"0000000000000000000000000000000000000000000000000000000000000000:1", NULL, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct http_address address;
        struct error error = ERROR_INIT;
        bool read = http_address_read(&address, cases[i].text, &error);
        if (read != (cases[i].host != NULL))
            fail_msg("'%s'", cases[i].text);
        if (!read)
            continue;
        assert_string_equal(address.host, cases[i].host);
        assert_int_equal(address.is_loopback, cases[i].is_loopback);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host),    cmocka_unit_test(test_origin),
        cmocka_unit_test(test_public),  cmocka_unit_test(test_token),
        cmocka_unit_test(test_request), cmocka_unit_test(test_token_text),
        cmocka_unit_test(test_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
