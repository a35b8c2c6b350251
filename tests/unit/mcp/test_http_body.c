/* The body of a request as it comes in, cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/http_body.h"

#define MAX 1000

/* Gives it `step` bytes at a time; how many were taken is in *used. */
static int take(struct http_body *body, const char *data, size_t length, size_t step, size_t *used)
{
    int status = HTTP_BODY_MORE;
    *used = 0;
    while (status == HTTP_BODY_MORE && *used < length) {
        size_t some = length - *used < step ? length - *used : step, taken;
        status = http_body_take(body, data + *used, some, &taken);
        *used += taken;
    }
    return status;
}

static void check(const char *data, bool is_chunked, int expected, const char *text)
{
    for (size_t step = 1; step < 8; step++) {
        struct http_body body = {0};
        size_t used, next = strstr(data, "NEXT") ? 4 : 0;
        int status = http_body_begin(&body, 5, is_chunked, MAX);
        assert_int_equal(status, HTTP_BODY_MORE);
        status = take(&body, data, strlen(data), step, &used);
        if (status != expected)
            fail_msg("%s: %d in steps of %zu", data, status, step);
        if (text) {
            assert_string_equal(text_cstr(&body.text), text);
            assert_int_equal(used, strlen(data) - next);
        }
        http_body_release(&body);
    }
}

/* S46 */
static void test_plain(void **state)
{
    (void)state;
    struct http_body body = {0};
    check("helloNEXT", false, HTTP_BODY_DONE, "hello");
    check("hell", false, HTTP_BODY_MORE, NULL);
    assert_int_equal(http_body_begin(&body, 0, false, MAX), HTTP_BODY_DONE);
    assert_int_equal(http_body_begin(&body, MAX + 1, false, MAX), 413);
    http_body_release(&body);
}

/* S46 */
static void test_chunks(void **state)
{
    (void)state;
    check("5\r\nhello\r\n0\r\n\r\nNEXT", true, HTTP_BODY_DONE, "hello");
    check("2;a=\"b\"\r\nhe\r\n003\r\nllo\r\n0\r\nX: y\r\nZ:\r\n\r\nNEXT", true, HTTP_BODY_DONE,
          "hello");
    check("A\r\n0123456789\r\n0;x\r\n\r\n", true, HTTP_BODY_DONE, "0123456789");
    check("0\r\n\r\n", true, HTTP_BODY_DONE, "");
    check("5\r\nhello\r\n0\r\n", true, HTTP_BODY_MORE, NULL);
}

/* S46 */
static void test_bad_chunks(void **state)
{
    (void)state;
    static const char *const malformed[] = {
        "\r\nhello",           "g\r\n",           "+5\r\nhello\r\n", "0x5\r\nhello\r\n",
        "5 \r\nhello\r\n",     "5\nhello\r\n",    "5\r\nhello0\r\n", "5\r\nhello\n0\r\n\r\n",
        "5;a\nb\r\nhello\r\n", "0\r\nX: y\n\r\n", "0\r\n\n",
    };
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
        check(malformed[i], true, 400, NULL);
    check("3e9\r\n", true, 413, NULL); /* 1001 */
    check("fffffffff\r\n", true, 413, NULL);
}

/* S46: what tells us nothing has a limit too. */
static void test_extra(void **state)
{
    (void)state;
    struct http_body body = {0};
    struct text text = TEXT_INIT;
    size_t used;
    text_puts(&text, "1;");
    for (size_t i = 0; i < 20000; i++)
        text_putc(&text, 'x');
    assert_int_equal(http_body_begin(&body, 0, true, MAX), HTTP_BODY_MORE);
    assert_int_equal(http_body_take(&body, text.data, text.length, &used), 400);
    http_body_release(&body);
    text_release(&text);
}

/* S46: chunks together are no longer than one body may be. */
static void test_sum(void **state)
{
    (void)state;
    struct http_body body = {0};
    struct text text = TEXT_INIT;
    size_t used;
    for (size_t i = 0; i < MAX / 4; i++)
        text_puts(&text, "4\r\nfour\r\n");
    assert_int_equal(http_body_begin(&body, 0, true, MAX), HTTP_BODY_MORE);
    assert_int_equal(http_body_take(&body, text.data, text.length, &used), HTTP_BODY_MORE);
    assert_int_equal(http_body_take(&body, "1\r\n", 3, &used), 413);
    http_body_release(&body);
    text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_bad_chunks), cmocka_unit_test(test_extra),
        cmocka_unit_test(test_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
