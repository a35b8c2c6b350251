/* What headers ask for, and what a status means (FAULTS 36). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "provider/http_error.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct curl_api *api;

static int load(void **state)
{
    (void)state;
    api = curl_api(NULL);
    return api ? 0 : -1;
}

static void read_line(struct http_hints *hints, const char *line)
{
    http_hints_read(hints, api, line, strlen(line));
}

static void test_retry_after(void **state)
{
    static const struct {
        const char *first, *second;
        int64_t wait_ms;
    } cases[] = {
        {"Retry-After: 3\r\n", "", 3000},
        {"retry-after:0.25\r\n", "", 250},
        {"RETRY-AFTER:   2.\r\n", "", 2000},
        {"Retry-After: 0\r\n", "", 0},
        {"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", "", 0},
        {"Retry-After: soon\r\n", "", -1},
        {"Retry-After: -5\r\n", "", -1},
        {"Retry-After: \r\n", "", -1},
        {"Retry-After: 1e3\r\n", "", -1},
        {"Retry-After\r\n", "", -1},
        {"retry-after-ms: 1500\r\n", "Retry-After: 3\r\n", 1500},
        {"Retry-After: 3\r\n", "retry-after-ms: 1500.7\r\n", 1500},
        {"retry-after-ms: \r\n", "Retry-After: 3\r\n", 3000},
        {"retry-after-ms: never\r\n", "Retry-After: 3\r\n", 3000},
        {"Retry-After: 3\r\n", "HTTP/1.1 200 OK\r\n", -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_hints hints;
        http_hints_init(&hints);
        read_line(&hints, cases[i].first);
        read_line(&hints, cases[i].second);
        assert_int_equal(hints.retry_after_ms, cases[i].wait_ms);
    }
}

static void test_a_huge_number_is_a_long_wait(void **state)
{
    struct http_hints hints;
    (void)state;
    http_hints_init(&hints);
    read_line(&hints, "Retry-After: 99999999999999999999999999999\r\n");
    assert_true(hints.retry_after_ms > 3600000);
}

static void test_a_date_ahead(void **state)
{
    struct http_hints hints;
    struct tm parts;
    char line[128];
    time_t when = time(NULL) + 30;
    (void)state;
    gmtime_r(&when, &parts);
    strftime(line, sizeof(line), "Retry-After: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts);
    http_hints_init(&hints);
    read_line(&hints, line);
    assert_in_range(hints.retry_after_ms, 28000, 30000);
}

static void test_should_retry_overrules_the_status(void **state)
{
    static const struct {
        const char *line;
        int status;
        bool retryable;
    } cases[] = {
        {"x-should-retry: true\r\n", 400, true},    {"x-should-retry: false\r\n", 529, false},
        {"X-Should-Retry: perhaps\r\n", 529, true}, {"x-other: true\r\n", 400, false},
        {"Content-Length: 0\r\n", 408, true},       {"Content-Length: 0\r\n", 409, true},
        {"Content-Length: 0\r\n", 425, true},       {"Content-Length: 0\r\n", 429, true},
        {"Content-Length: 0\r\n", 500, true},       {"Content-Length: 0\r\n", 401, false},
        {"Content-Length: 0\r\n", 404, false},      {"x-should-retry: true\r\n", 401, false},
        {"x-should-retry: true\r\n", 403, false},   {"x-should-retry: true\r\n", 402, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct http_hints hints;
        struct error error = ERROR_INIT;
        struct text body = TEXT_INIT;
        http_hints_init(&hints);
        read_line(&hints, cases[i].line);
        http_error_from_status(&error, "host", cases[i].status, &hints, &body);
        assert_int_equal(error.retryable, cases[i].retryable);
        assert_int_equal(error.status, cases[i].status);
    }
}

static void test_a_redirect_is_named_not_followed(void **state)
{
    struct http_hints hints;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT;
    (void)state;
    http_hints_init(&hints);
    read_line(&hints, "Location: https://elsewhere/v1\r\n");
    http_error_from_status(&error, "host", 308, &hints, &body);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_false(error.retryable);
    assert_non_null(strstr(error.message, "https://elsewhere/v1"));
}

/* A line of any length tells its beginning. */
static void test_a_long_redirect_is_named(void **state)
{
    struct http_hints hints;
    struct error error = ERROR_INIT;
    struct text body = TEXT_INIT, line = TEXT_INIT;
    (void)state;
    text_puts(&line, "Location: https://elsewhere/v1?");
    while (line.length < 2000)
        text_putc(&line, 'x');
    text_puts(&line, "\r\n");
    http_hints_init(&hints);
    http_hints_read(&hints, api, line.data, line.length);
    http_error_from_status(&error, "host", 302, &hints, &body);
    assert_non_null(strstr(error.message, "https://elsewhere/v1?xxx"));
    text_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_a_huge_number_is_a_long_wait),
        cmocka_unit_test(test_a_date_ahead),
        cmocka_unit_test(test_should_retry_overrules_the_status),
        cmocka_unit_test(test_a_redirect_is_named_not_followed),
        cmocka_unit_test(test_a_long_redirect_is_named),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
