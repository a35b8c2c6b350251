/* Messages between the host and a plugin's process: what is sent arrives, and nothing that a hostile
 * end sends is believed (D16). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/parcel.h"

static void connect_two(int fds[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

static void test_there_and_back(void **state)
{
    (void)state;
    int fds[2];
    struct text out = TEXT_INIT;
    struct parcel_in in = {0};
    struct parcel parcel;
    size_t length;
    connect_two(fds);
    parcel_begin(&out, PARCEL_CALL);
    parcel_put_u32(&out, 7);
    parcel_put_i64(&out, -8);
    parcel_put_double(&out, 0.5);
    parcel_put_string(&out, "text");
    parcel_put_string(&out, NULL);
    parcel_put_bytes(&out, "a\0b", 3);
    assert_true(parcel_send(fds[0], &out, -1));
    assert_true(parcel_read(fds[1], &in, 0) > 0);
    assert_int_equal(parcel_next(&in, &parcel), PARCEL_NEXT);
    assert_int_equal(parcel.type, PARCEL_CALL);
    assert_int_equal(parcel_u32(&parcel), 7);
    assert_int_equal(parcel_i64(&parcel), -8);
    assert_true(parcel_double(&parcel) > 0.4);
    assert_string_equal(parcel_string(&parcel), "text");
    assert_null(parcel_string(&parcel));
    assert_memory_equal(parcel_bytes(&parcel, &length), "a\0b", 3);
    assert_int_equal(length, 3);
    assert_true(parcel_ends(&parcel));
    assert_int_equal(parcel_next(&in, &parcel), PARCEL_NONE);
    parcel_in_release(&in);
    text_release(&out);
    close(fds[0]);
    close(fds[1]);
}

/* A message may come byte by byte, and several at once. */
static void test_pieces(void **state)
{
    (void)state;
    int fds[2];
    struct text out = TEXT_INIT;
    struct parcel_in in = {0};
    struct parcel parcel;
    connect_two(fds);
    parcel_begin(&out, PARCEL_EMIT);
    parcel_put_string(&out, "piece");
    assert_true(parcel_send(fds[0], &out, -1)); /* which fills in its length */
    assert_true(parcel_read(fds[1], &in, 0) > 0);
    assert_int_equal(parcel_next(&in, &parcel), PARCEL_NEXT);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < out.length; i++) {
            assert_int_equal(parcel_next(&in, &parcel), PARCEL_NONE);
            assert_int_equal(write(fds[0], out.data + i, 1), 1);
            assert_int_equal(parcel_read(fds[1], &in, 0), 1);
            if (i + 1 == out.length) {
                assert_int_equal(parcel_next(&in, &parcel), PARCEL_NEXT);
                assert_string_equal(parcel_needed(&parcel), "piece");
            }
        }
    parcel_in_release(&in);
    text_release(&out);
    close(fds[0]);
    close(fds[1]);
}

/* Fields of exactly as many bytes as there are: one too far is seen by a sanitizer. */
static struct parcel of_bytes(const void *data, size_t length, char **copy)
{
    *copy = malloc(length ? length : 1);
    assert_non_null(*copy);
    if (length)
        memcpy(*copy, data, length);
    return (struct parcel){.type = PARCEL_FINISH, .data = *copy, .left = length};
}

static void test_lies(void **state)
{
    (void)state;
    const struct {
        const char *bytes;
        size_t length;
    } lies[] = {
        {"", 0},                            /* no length */
        {"\1\0\0", 3},                      /* half of one */
        {"\1\0\0\0", 4},                    /* and nothing behind it */
        {"\1\0\0\0x", 5},                   /* without its NUL */
        {"\1\0\0\0xy", 6},                  /* something else there */
        {"\xFE\xFF\xFF\xFFxxxx", 8},        /* far too long */
        {"\3\0\0\0a\0b\0", 8},              /* a NUL inside a string */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        char *copy;
        struct parcel parcel = of_bytes(lies[i].bytes, lies[i].length, &copy);
        assert_null(parcel_string(&parcel));
        assert_true(parcel.bad);
        assert_int_equal(parcel_u64(&parcel), 0); /* nothing is read any more */
        assert_false(parcel_ends(&parcel));
        free(copy);
    }
    char *copy;
    struct parcel parcel = of_bytes("\2\0\0\0", 4, &copy);
    assert_false(parcel_flag(&parcel)); /* neither true nor false */
    assert_true(parcel.bad);
    free(copy);
    parcel = of_bytes("\1\0\0\0", 4, &copy);
    assert_false(parcel_ends(&parcel)); /* something is left over */
    free(copy);
}

static void test_a_length_without_end(void **state)
{
    (void)state;
    int fds[2];
    struct parcel_in in = {0};
    struct parcel parcel;
    const uint32_t header[2] = {UINT32_MAX, PARCEL_FINISH};
    connect_two(fds);
    assert_int_equal(write(fds[0], header, sizeof(header)), sizeof(header));
    assert_true(parcel_read(fds[1], &in, 0) > 0);
    assert_int_equal(parcel_next(&in, &parcel), PARCEL_WRONG);
    parcel_in_release(&in);
    close(fds[0]);
    close(fds[1]);
}

/* Nobody reads: it ends with its time, and a closed end is no signal. */
static void test_nobody_reads(void **state)
{
    (void)state;
    int fds[2];
    struct text out = TEXT_INIT;
    char *much = calloc(1, 4 << 20);
    assert_non_null(much);
    connect_two(fds);
    parcel_begin(&out, PARCEL_EMIT);
    parcel_put_bytes(&out, much, 4 << 20);
    assert_false(parcel_send(fds[0], &out, 50));
    close(fds[1]);
    assert_false(parcel_send(fds[0], &out, 50));
    parcel_begin(&out, PARCEL_EMIT);
    parcel_put_bytes(&out, much, PARCEL_MESSAGE_MAX + 1);
    assert_true(out.failed);
    text_release(&out);
    free(much);
    close(fds[0]);
}

/* Over packets too, of which a long message takes several; one that is longer than any that is sent
 * would be read in part. */
static void test_packets(void **state)
{
    (void)state;
    int fds[2];
    enum { LONG = 150000, TOO_LONG = 80000 };
    struct text out = TEXT_INIT;
    struct parcel_in in = {0};
    struct parcel parcel;
    size_t length;
    char *much = calloc(1, LONG);
    assert_non_null(much);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    parcel_begin(&out, PARCEL_EMIT);
    parcel_put_bytes(&out, much, LONG);
    assert_true(parcel_send(fds[0], &out, 1000));
    while (parcel_next(&in, &parcel) == PARCEL_NONE)
        assert_true(parcel_read_soon(fds[1], &in) > 0);
    assert_non_null(parcel_bytes(&parcel, &length));
    assert_int_equal(length, LONG);
    assert_int_equal(send(fds[0], much, TOO_LONG, MSG_DONTWAIT), TOO_LONG);
    assert_int_equal(parcel_read(fds[1], &in, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
    parcel_in_release(&in);
    text_release(&out);
    free(much);
    close(fds[0]);
    close(fds[1]);
}

/* To look without sleeping is given up where nothing comes, and taken up again where something does. */
static void test_soon(void **state)
{
    (void)state;
    int fds[2];
    struct parcel_in in = {0};
    const struct timeval slice = {.tv_usec = 1000};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(setsockopt(fds[1], SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(parcel_read_soon(fds[1], &in), -1);
        assert_int_equal(errno, EAGAIN);
    }
    unsigned skip = in.skip;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(send(fds[0], "x", 1, MSG_DONTWAIT), 1);
        assert_int_equal(parcel_read_soon(fds[1], &in), 1);
    }
    assert_true(in.vain == 0 && in.skip <= skip);
    parcel_in_release(&in);
    close(fds[0]);
    close(fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),              cmocka_unit_test(test_soon),
        cmocka_unit_test(test_there_and_back),       cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_lies),                 cmocka_unit_test(test_a_length_without_end),
        cmocka_unit_test(test_nobody_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
