/* Amazon's event streams, however they are cut, damaged and ended (W125; FAULTS 18, 19). */
#include "wire_test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "provider/event_stream.h"
#include "unit/base/failing.h"
#include "unit/provider/frame.h"

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal) (literal), sizeof(literal) - 1

static void put(struct text *out, char mark, struct slice slice)
{
    if (slice.length)
        text_printf(out, "%c%.*s", mark, (int)slice.length, slice.data);
}

/* Messages as "TYPE>EVENT!EXCEPTION#CODE=MESSAGE:PAYLOAD|". */
static void on_message(void *context, const struct event_stream_message *message)
{
    struct text *out = context;
    put(out, '<', message->type);
    put(out, '>', message->event);
    put(out, '!', message->exception);
    put(out, '#', message->error_code);
    put(out, '=', message->error_message);
    put(out, ':', message->payload);
    text_putc(out, '|');
}

/* The first nine are those of botocore's own test. */
static const struct sample {
    const char *bytes;
    size_t length;
    const char *messages;
} samples[] = {
    {BYTES("\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2H\xeb}\x98\xc8\xff"), "|"},
    {BYTES("\x00\x00\x00\x17\x00\x00\x00\x07)\x86\x01X\x04"
           "byte\x02\xff\xc2\xf8i\xdc"),
     "|"},
    {BYTES("\x00\x00\x00\x19\x00\x00\x00\tq\x0e\x92>\x05"
           "short\x03\xff\xff\xb2|\xb6\xcc"),
     "|"},
    {BYTES("\x00\x00\x00\x1d\x00\x00\x00\r\x83\xe3\xf0\xe7\x07"
           "integer\x04\xff\xff\xff\xff\x8b\x8e\x12\xeb"),
     "|"},
    {BYTES("\x00\x00\x00\x1e\x00\x00\x00\x0e]J\xdb\x8d\x04"
           "long\x05\xff\xff\xff\xff\xff\xff\xff\xffK\xc2"
           "2\xda"),
     "|"},
    {BYTES("\x00\x00\x00\x1d\x00\x00\x00\x00\xfdR\x8cZ{'foo':'bar'}\xc3"
           "e96"),
     ":{'foo':'bar'}|"},
    {BYTES("\x00\x00\x00=\x00\x00\x00 \x07\xfd\x83\x96\x0c"
           "content-type\x07\x00\x10"
           "application/json{'foo':'bar'}\x8d\x9c\x08\xb1"),
     ":{'foo':'bar'}|"},
    {BYTES("\x00\x00\x00\x62\x00\x00\x00\x52\x03\xb5\xcb\x9c"
           "\x01"
           "0\x00\x01"
           "1\x01\x01"
           "2\x02\x02\x01"
           "3\x03\x00\x03"
           "\x01"
           "4\x04\x00\x00\x00\x04\x01"
           "5\x05\x00\x00\x00\x00\x00\x00\x00\x05"
           "\x01"
           "6\x06\x00\x05"
           "bytes\x01"
           "7\x07\x00\x04utf8"
           "\x01"
           "8\x08\x00\x00\x00\x00\x00\x00\x00\x08\x01"
           "9\x09"
           "0123456789abcdef"
           "\x63\x35\x36\x71"),
     "|"},
    {BYTES("\x00\x00\x00\x52\x00\x00\x00\x42\xbf\x23\x63\x7e"
           "\x0d:message-type\x07\x00\x05"
           "error"
           "\x0b:error-code\x07\x00\x04"
           "code"
           "\x0e:error-message\x07\x00\x07message"
           "\x6b\x6c\xea\x3d"),
     "<error#code=message|"},
    {BYTES("\x00\x00\x00~\x00\x00\x00O\xc5\xa3\xdd\xc6\r:message-type\x07\x00"
           "\x05"
           "event\x0b:event-type\x07\x00\x10initial-response\r:content-type"
           "\x07\x00\ttext/json{\"InitialResponse\": \"sometext\"}\xf6\x98$\x83"),
     "<event>initial-response:{\"InitialResponse\": \"sometext\"}|"},
};

/* All samples behind one another, with what they say. */
static void put_all(struct text *bytes, struct text *messages)
{
    for (size_t i = 0; i < COUNT(samples); i++) {
        text_append(bytes, samples[i].bytes, samples[i].length);
        text_puts(messages, samples[i].messages);
    }
}

/* Feeds a heap copy of the exact size, so that a sanitizer sees one byte too far. */
static bool feed(struct event_stream *stream, const char *bytes, size_t length, struct error *error)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    bool ok = event_stream_feed(stream, copy, length, error);
    free(copy);
    return ok;
}

static void test_every_cut(void **state)
{
    (void)state;
    struct text bytes = TEXT_INIT, expected = TEXT_INIT;
    put_all(&bytes, &expected);
    for (size_t first = 0; first <= bytes.length; first++) {
        for (size_t second = first; second <= bytes.length; second += 1 + (second - first) % 7) {
            struct text messages = TEXT_INIT;
            struct error error = ERROR_INIT;
            struct event_stream stream;
            event_stream_init(&stream, on_message, &messages);
            assert_true(feed(&stream, bytes.data, first, &error));
            assert_true(feed(&stream, bytes.data + first, second - first, &error));
            assert_true(feed(&stream, bytes.data + second, bytes.length - second, &error));
            assert_string_equal(text_cstr(&messages), expected.data);
            event_stream_release(&stream);
            text_release(&messages);
        }
    }
    text_release(&bytes);
    text_release(&expected);
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    struct text bytes = TEXT_INIT, expected = TEXT_INIT, messages = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct event_stream stream;
    put_all(&bytes, &expected);
    event_stream_init(&stream, on_message, &messages);
    for (size_t i = 0; i < bytes.length; i++)
        assert_true(feed(&stream, bytes.data + i, 1, &error));
    assert_string_equal(text_cstr(&messages), expected.data);
    event_stream_release(&stream);
    text_release(&bytes);
    text_release(&expected);
    text_release(&messages);
}

/* What is missing is not made up. */
static void test_an_end_within_a_message(void **state)
{
    (void)state;
    const struct sample *sample = &samples[8];
    for (size_t length = 0; length < sample->length; length++) {
        struct text messages = TEXT_INIT;
        struct error error = ERROR_INIT;
        struct event_stream stream;
        event_stream_init(&stream, on_message, &messages);
        assert_true(feed(&stream, sample->bytes, length, &error));
        assert_int_equal(messages.length, 0);
        event_stream_release(&stream);
        text_release(&messages);
    }
}

/* Any bit that is another one is noticed: none of the message is believed. */
static void test_every_damaged_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++) {
        for (size_t bit = 0; bit < 8 * samples[i].length; bit++) {
            struct text messages = TEXT_INIT;
            struct error error = ERROR_INIT;
            struct event_stream stream;
            char *bytes = malloc(samples[i].length);
            assert_non_null(bytes);
            memcpy(bytes, samples[i].bytes, samples[i].length);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            event_stream_init(&stream, on_message, &messages);
            assert_false(event_stream_feed(&stream, bytes, samples[i].length, &error));
            assert_int_equal(error.kind, ERROR_SERVER);
            assert_true(error.retryable);
            assert_int_equal(messages.length, 0);
            event_stream_release(&stream);
            text_release(&messages);
            free(bytes);
        }
    }
}

/* The checksums are right, and the message is wrong all the same. */
static void test_lies(void **state)
{
    (void)state;
    static const struct {
        const char *headers;
        size_t headers_length, told_headers, told_total;
    } cases[] = {
        {BYTES(""), 0, 15}, /* shorter than a message can be */
        {BYTES(""), 0, 0},
        {BYTES(""), 1, 16}, /* more headers than message */
        {BYTES("\1a\7"), UINT32_MAX, 0x100},
        {BYTES("\5name"), 5, 0},     /* a name that goes on behind the headers */
        {BYTES("\1a"), 2, 0},        /* no type */
        {BYTES("\1a\7"), 3, 0},      /* no length */
        {BYTES("\1a\7\0"), 4, 0},    /* half of one */
        {BYTES("\1a\7\0\2x"), 6, 0}, /* a value that goes on behind the headers */
        {BYTES("\1a\6\xFF\xFF"), 5, 0},
        {BYTES("\1a\5\0\0\0\0\0\0\0"), 10, 0},
        {BYTES("\1a\12"), 3, 0}, /* an unknown type */
        {BYTES("\1a\xFF"), 3, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t step = 1; step < 40; step++) {
            struct text bytes = TEXT_INIT, messages = TEXT_INIT;
            struct error error = ERROR_INIT;
            struct event_stream stream;
            bool ok = true;
            frame_put_raw(&bytes, cases[i].headers, cases[i].headers_length, "", 0,
                          cases[i].told_headers,
                          i < 4 ? cases[i].told_total : cases[i].headers_length + 16);
            event_stream_init(&stream, on_message, &messages);
            for (size_t at = 0; ok && at < bytes.length; at += step) {
                size_t left = bytes.length - at;
                ok = feed(&stream, bytes.data + at, step < left ? step : left, &error);
            }
            assert_false(ok);
            assert_int_equal(error.kind, ERROR_SERVER);
            assert_int_equal(messages.length, 0);
            event_stream_release(&stream);
            text_release(&bytes);
            text_release(&messages);
        }
    }
}

/* Of an exception, and of a value that is no text. */
static void test_headers(void **state)
{
    (void)state;
    struct text bytes = TEXT_INIT, messages = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct event_stream stream;
    frame_put_exception(&bytes, "throttlingException", "{\"message\":\"slow\"}");
    frame_put_raw(&bytes, BYTES("\x0d:message-type\1"), "x", 1, 15, 32);
    frame_put_event(&bytes, "a \\ b");
    event_stream_init(&stream, on_message, &messages);
    assert_true(event_stream_feed(&stream, bytes.data, bytes.length, &error));
    assert_string_equal(messages.data,
                        "<exception!throttlingException:{\"message\":\"slow\"}|:x|"
                        "<event>chunk:{\"bytes\":\"YSBcIGI=\",\"p\":\"abcdefghijk\"}|");
    event_stream_release(&stream);
    text_release(&bytes);
    text_release(&messages);
}

/* ---- size ---- */

static void count_bytes(void *context, const struct event_stream_message *message)
{
    *(size_t *)context += message->payload.length;
}

/* 19: the limit is told before anything is kept. */
static void test_limit(void **state)
{
    (void)state;
    for (size_t step = 1; step < 40; step++) {
        for (size_t payload = 8; payload <= 9; payload++) {
            struct text bytes = TEXT_INIT;
            struct error error = ERROR_INIT;
            struct event_stream stream;
            size_t got = 0;
            bool ok = true;
            frame_put_raw(&bytes, "", 0, "123456789", payload, 0, 16 + payload);
            event_stream_init(&stream, count_bytes, &got);
            stream.max_message_bytes = 24;
            for (size_t at = 0; ok && at < bytes.length; at += step) {
                size_t left = bytes.length - at;
                ok = feed(&stream, bytes.data + at, step < left ? step : left, &error);
            }
            assert_int_equal(ok, payload == 8);
            assert_int_equal(got, payload == 8 ? 8 : 0);
            assert_true(stream.pending.length <= 24);
            if (!ok) {
                assert_int_equal(error.kind, ERROR_SERVER);
                assert_false(error.retryable);
            }
            event_stream_release(&stream);
            text_release(&bytes);
        }
    }
}

static clock_t time_message(size_t size, size_t step)
{
    struct text bytes = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct event_stream stream;
    size_t got = 0;
    char *payload = calloc(1, size);
    assert_non_null(payload);
    frame_put_raw(&bytes, "", 0, payload, size, 0, 16 + size);
    event_stream_init(&stream, count_bytes, &got);
    clock_t start = clock();
    for (size_t at = 0; at < bytes.length; at += step) {
        size_t left = bytes.length - at;
        assert_true(event_stream_feed(&stream, bytes.data + at, step < left ? step : left, &error));
    }
    clock_t ticks = clock() - start;
    assert_int_equal(got, size);
    event_stream_release(&stream);
    text_release(&bytes);
    free(payload);
    return ticks;
}

/* 19: twice the bytes cost about twice the time, not four times. */
static void test_a_large_message_is_linear(void **state)
{
    (void)state;
    clock_t half = time_message(5u << 19, 16);
    clock_t whole = time_message(5u << 20, 16);
    assert_true(whole < 3 * half + CLOCKS_PER_SEC / 20);
}

/* Those that lie whole in the bytes are not copied. */
static void test_many_messages_are_not_copied(void **state)
{
    (void)state;
    struct text bytes = TEXT_INIT;
    struct error error = ERROR_INIT;
    struct event_stream stream;
    size_t got = 0;
    for (int i = 0; i < 50000; i++)
        frame_put_raw(&bytes, "", 0, "12345678", 8, 0, 24);
    event_stream_init(&stream, count_bytes, &got);
    clock_t start = clock();
    assert_true(event_stream_feed(&stream, bytes.data, bytes.length, &error));
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    assert_int_equal(got, 50000 * 8);
    assert_int_equal(stream.pending.capacity, 0);
    event_stream_release(&stream);
    text_release(&bytes);
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    int allowed = 0;
    for (; failed; allowed++) {
        size_t got = 0;
        struct error error = ERROR_INIT;
        struct event_stream stream;
        const struct sample *sample = &samples[9];
        event_stream_init(&stream, count_bytes, &got);
        fail_after(allowed);
        bool ok = event_stream_feed(&stream, sample->bytes, 5, &error) &&
                  event_stream_feed(&stream, sample->bytes + 5, sample->length - 5, &error);
        failed = fail_never();
        assert_int_equal(ok, !failed);
        if (failed)
            assert_int_equal(error.kind, ERROR_INTERNAL);
        event_stream_release(&stream);
    }
    assert_true(allowed > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_an_end_within_a_message),
        cmocka_unit_test(test_every_damaged_bit),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_a_large_message_is_linear),
        cmocka_unit_test(test_many_messages_are_not_copied),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
