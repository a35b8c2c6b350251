/* The head of a request: what is read, and what is refused since others may read it differently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/http_head.h"

static int read(const char *text, size_t length, struct http_head *head)
{
    const char *problem = NULL;
    int status = http_head_read(head, text, length, &problem);
    if (status)
        assert_non_null(problem);
    return status;
}

#define POST "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"

/* S41: names in any case, values without the space around them. */
static void test_read(void **state)
{
    (void)state;
    static const char text[] = "POST /mcp?x=1 HTTP/1.1\r\nHOST:\t localhost:80 \r\nX:\r\n"
                               "Content-Length: 0012\r\nExpect: 100-Continue\r\n"
                               "connection: x, CLOSE\r\n\r\n";
    struct http_head head;
    assert_int_equal(http_head_end(text, sizeof(text) - 1, 0), sizeof(text) - 1);
    assert_int_equal(read(text, sizeof(text) - 1, &head), 0);
    assert_true(slice_is(head.method, "POST"));
    assert_true(slice_is(head.target, "/mcp?x=1"));
    assert_true(slice_is(http_head_value(&head, "host"), "localhost:80"));
    assert_true(slice_is(http_head_value(&head, "x"), ""));
    assert_null(http_head_value(&head, "Origin").data);
    assert_int_equal(head.length, 12);
    assert_true(head.expects_continue && head.closes && !head.is_chunked && !head.is_old);
}

/* S46 */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {POST "\r\n", 0},
        {POST "Transfer-Encoding: Chunked\r\n\r\n", 0},
        {POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
        {POST "Content-Length: +5\r\n\r\n", 400},
        {POST "Content-Length: 5, 5\r\n\r\n", 400},
        {POST "Content-Length: -5\r\n\r\n", 400},
        {POST "Content-Length: 0x5\r\n\r\n", 400},
        {POST "Content-Length:\r\n\r\n", 400},
        {POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {POST "Expect: 200-ok\r\n\r\n", 417},
        {POST "X: a\r\n b\r\n\r\n", 400},
        {POST "X : a\r\n\r\n", 400},
        {POST ": a\r\n\r\n", 400},
        {POST "X\r\n\r\n", 400},
        {POST "X: a\n\r\n", 400},
        {POST "X: a\rb\r\n\r\n", 400},
        {POST "X: a\x01\r\n\r\n", 400},
        {"POST  /mcp HTTP/1.1\r\n\r\n", 400},
        {"POST /mcp\r\n\r\n", 400},
        {"POST /mcp HTTP/1.1 \r\n\r\n", 400},
        {"P(ST /mcp HTTP/1.1\r\n\r\n", 400},
        {"POST /\x7f HTTP/1.1\r\n\r\n", 400},
        {"POST /mcp HTTP/2.0\r\n\r\n", 505},
        {"POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
    };
    struct http_head head;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (read(cases[i].text, strlen(cases[i].text), &head) != cases[i].status)
            fail_msg("case %zu: %s", i, cases[i].text);
    static const char nul[] = POST "X: a\0b\r\n\r\n";
    assert_int_equal(read(nul, sizeof(nul) - 1, &head), 400);
}

/* S46: a length that no number holds is too long, and not a small one. */
static void test_long_length(void **state)
{
    (void)state;
    static const char text[] = POST "Content-Length: 184467440737095516160005\r\n\r\n";
    struct http_head head;
    assert_int_equal(read(text, sizeof(text) - 1, &head), 0);
    assert_true(head.length > UINT64_C(1) << 50);
}

/* S46 */
static void test_fields(void **state)
{
    (void)state;
    struct http_head head;
    struct text text = TEXT_INIT;
    text_puts(&text, "POST /mcp HTTP/1.1\r\n");
    for (size_t i = 0; i < HTTP_FIELDS_MAX; i++)
        text_puts(&text, "X: y\r\n");
    size_t full = text.length;
    text_puts(&text, "\r\n");
    assert_int_equal(read(text.data, text.length, &head), 0);
    text.length = full;
    text_puts(&text, "X: y\r\n\r\n");
    assert_int_equal(read(text.data, text.length, &head), 431);
    text_release(&text);
}

/* Wherever it is cut, the end is found once it is there. */
static void test_end(void **state)
{
    (void)state;
    static const char *const texts[] = {POST "\r\nnext", POST "\nnext", POST "X: y\n\nnext"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        size_t whole = (size_t)(strstr(texts[i], "next") - texts[i]), seen = 0;
        for (size_t length = 1; length < whole; length++) {
            assert_int_equal(http_head_end(texts[i], length, seen), 0);
            seen = length;
        }
        assert_int_equal(http_head_end(texts[i], whole, seen), whole);
        assert_int_equal(http_head_end(texts[i], whole + 4, 0), whole);
    }
}

static void test_list(void **state)
{
    (void)state;
    struct slice list = {" a,\tb ,", 7}, piece;
    assert_true(http_list_next(&list, &piece) && slice_is(piece, "a"));
    assert_true(http_list_next(&list, &piece) && slice_is(piece, "b"));
    assert_false(http_list_next(&list, &piece));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fields), cmocka_unit_test(test_long_length),
        cmocka_unit_test(test_end),    cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
