/* Server-sent events, however they are cut and ended (FAULTS 1 to 9, 11, 18, 19, 27). */
#include "wire_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "provider/sse.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Events as "a|b|". */
static void on_event(void *context, const char *data, size_t length)
{
    text_append(context, data, length);
    text_putc(context, '|');
}

struct sample {
    const char *bytes;
    const char *events;
};

static const struct sample samples[] = {
    {"data: a\n\ndata: b\n\n", "a|b|"},
    {"data: a\r\n\r\ndata: b\r\n\r\n", "a|b|"},                                  /* 1 */
    {"data: a\r\rdata: b\r\r", "a|b|"},                                          /* 2 */
    {"data: a\n\r\ndata: b\r\n\n", "a|b|"},                                      /* 2: mixed */
    {"data: a\r\n\rdata: b\n\r", "a|b|"},                                        /* 2 */
    {"data: \xE6\x97\xA5\xF0\x9F\x8C\xA7\n\n", "\xE6\x97\xA5\xF0\x9F\x8C\xA7|"}, /* 3 */
    {": PROCESSING\n\n:\n\n: ping\ndata: a\n\n", "a|"},                          /* 4 */
    {"data:\n\ndata: \n\ndata\n\nid: 7\nretry: 9\n\ndata: a\n\n", "a|"},         /* 5 */
    {"data:   \t\n\n", ""},                                                      /* 5 */
    {"id: 1\n\n: ping\n\ndata: a\n\n", "a|"},                                    /* 27 */
    {"data:a\nevent:x\n\n", "a|"},                                               /* 6 */
    {"data:  a\n\n", " a|"},                         /* 6: one space only */
    {"data: {\ndata:  1\ndata: }\n\n", "{\n 1\n}|"}, /* 7 */
    {"data: a\n: x\nid: 2\ndata: b\n\n", "a\nb|"},   /* 7 */
    {"data: a\ndata\n\n", "a\n|"},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "a|"}, /* 8 */
    {"\xEF\xBB\xBF\xEF\xBB\xBF"
     "data: a\n\ndata: b\n\n",
     "b|"}, /* 8: exactly one */
    {"\xEF\xBB"
     "data: a\n\ndata: b\n\n",
     "b|"},
    {"data: \xEF\xBB\xBF"
     "a\n\n",
     "\xEF\xBB\xBF"
     "a|"},
    {"data: a\n\ndata: b", "a|b|"}, /* 9 */
    {"data: a\n\ndata: b\n", "a|b|"},
    {"data: a\r\n\r\ndata: b\r", "a|b|"},
    {"event: end\ndata:   [DONE]  \n\n", "  [DONE]  |"}, /* 11: trimming is the decoder's */
    {"database: a\ndat: b\nDATA: c\n data: d\n\n", ""},
    {"\n\n\r\r\r\n", ""},
    {"", ""},
};

static void feed_cut(struct sse *sse, const char *bytes, size_t length, size_t first, size_t second)
{
    struct error error = ERROR_INIT;
    assert_true(sse_feed(sse, bytes, first, &error));
    assert_true(sse_feed(sse, bytes + first, second - first, &error));
    assert_true(sse_feed(sse, bytes + second, length - second, &error));
    assert_true(sse_end(sse, &error));
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        size_t length = strlen(samples[i].bytes);
        for (size_t first = 0; first <= length; first++) {
            for (size_t second = first; second <= length; second++) {
                struct text events = TEXT_INIT;
                struct sse sse;
                /* A heap copy of the exact size, so that a sanitizer sees one byte too far. */
                char *bytes = malloc(length + 1);
                assert_non_null(bytes);
                memcpy(bytes, samples[i].bytes, length);
                sse_init(&sse, on_event, &events);
                feed_cut(&sse, bytes, length, first, second);
                assert_string_equal(text_cstr(&events), samples[i].events);
                sse_release(&sse);
                text_release(&events);
                free(bytes);
            }
        }
    }
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct text events = TEXT_INIT;
        struct error error = ERROR_INIT;
        struct sse sse;
        sse_init(&sse, on_event, &events);
        for (const char *byte = samples[i].bytes; *byte; byte++)
            assert_true(sse_feed(&sse, byte, 1, &error));
        assert_true(sse_end(&sse, &error));
        assert_string_equal(text_cstr(&events), samples[i].events);
        sse_release(&sse);
        text_release(&events);
    }
}

/* A broken connection: no sse_end(), so the rest is dropped (9). */
static void test_broken_end(void **state)
{
    (void)state;
    struct text events = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct sse sse;
    static const char bytes[] = "data: a\n\ndata: {\"half";
    sse_init(&sse, on_event, &events);
    assert_true(sse_feed(&sse, bytes, strlen(bytes), &error));
    assert_string_equal(text_cstr(&events), "a|");
    sse_release(&sse);
    text_release(&events);
}

static void test_nul_bytes(void **state)
{
    (void)state;
    struct text events = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct sse sse;
    sse_init(&sse, on_event, &events);
    assert_true(sse_feed(&sse, "data: a\0b\n\n", 11, &error));
    assert_int_equal(events.length, 4);
    assert_memory_equal(events.data, "a\0b|", 4);
    sse_release(&sse);
    text_release(&events);
}

/* ---- size ---- */

static void count_bytes(void *context, const char *data, size_t length)
{
    (void)data;
    *(size_t *)context += length;
}

/* CPU time of one line of `size` bytes that comes in pieces. */
static int64_t time_line(size_t size, size_t step)
{
    size_t got = 0;
    struct error error = ERROR_INIT;
    struct sse sse;
    char *piece = malloc(step);
    assert_non_null(piece);
    memset(piece, 'x', step);
    sse_init(&sse, count_bytes, &got);
    clock_t start = clock();
    assert_true(sse_feed(&sse, "data: ", 6, &error));
    for (size_t fed = 0; fed < size; fed += step)
        assert_true(sse_feed(&sse, piece, step, &error));
    assert_true(sse_feed(&sse, "\n\n", 2, &error));
    int64_t ticks = clock() - start;
    assert_int_equal(got, size);
    sse_release(&sse);
    free(piece);
    return ticks;
}

/* 19: twice the bytes cost about twice the time, not four times. */
static void test_large_line_is_linear(void **state)
{
    (void)state;
    int64_t half = time_line(5u << 19, 16);
    int64_t whole = time_line(5u << 20, 16);
    assert_true(whole < 3 * half + CLOCKS_PER_SEC / 20);
}

/* The same for many short lines of every ending in one piece. */
static void test_many_lines_are_linear(void **state)
{
    (void)state;
    static const char *const endings[] = {"\n", "\r", "\r\n"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        struct text body = TEXT_INIT;
        struct error error = ERROR_INIT;
        size_t got = 0;
        struct sse sse;
        for (int event = 0; event < 200000; event++)
            text_printf(&body, "data: 12345678%s%s", endings[i], endings[i]);
        sse_init(&sse, count_bytes, &got);
        clock_t start = clock();
        assert_true(sse_feed(&sse, body.data, body.length, &error));
        assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
        assert_int_equal(got, 200000 * 8);
        assert_int_equal(sse.data.capacity, 0); /* no event was copied */
        assert_int_equal(sse.line.capacity, 0);
        sse_release(&sse);
        text_release(&body);
    }
}

/* 19: the limit holds for one line, for many lines and for comments, however cut. */
static void test_limit(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool fits;
    } cases[] = {
        {"data: 12345678\n\n", true},
        {"data: 123456789\n\n", false},
        {"data: 123\ndata: 4567\n\n", true},
        {"data: 123\ndata: 45678\n\n", false},
        {": a comment that is far longer than it may be\n\n", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t step = 1; step < 64; step++) {
            size_t got = 0;
            struct error error = ERROR_INIT;
            struct sse sse;
            bool fits = true;
            sse_init(&sse, count_bytes, &got);
            sse.max_event_bytes = 8;
            size_t length = strlen(cases[i].bytes);
            for (size_t at = 0; fits && at < length; at += step)
                fits = sse_feed(&sse, cases[i].bytes + at, step < length - at ? step : length - at,
                                &error);
            assert_int_equal(fits, cases[i].fits);
            assert_int_equal(error.kind, fits ? ERROR_NONE : ERROR_SERVER);
            assert_int_equal(got, fits ? 8 : 0);
            sse_release(&sse);
        }
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    static const char bytes[] = "data: a\ndata: b\n\ndata: c";
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        size_t got = 0;
        struct error error = ERROR_INIT;
        struct sse sse;
        sse_init(&sse, count_bytes, &got);
        fail_after(allowed);
        bool ok = sse_feed(&sse, bytes, strlen(bytes), &error) && sse_end(&sse, &error);
        failed = fail_never();
        assert_int_equal(ok, !failed);
        if (failed)
            assert_int_equal(error.kind, ERROR_INTERNAL);
        sse_release(&sse);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_broken_end),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_large_line_is_linear),
        cmocka_unit_test(test_many_lines_are_linear),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
