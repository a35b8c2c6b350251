#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/hex.h"

static void test_every_character(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdefABCDEF";
    for (int c = 1; c < 256; c++) {
        const char *digit = strchr(digits, c);
        int wanted = digit ? (int)(digit - digits) : -1;
        assert_int_equal(hex_value((char)c), wanted >= 16 ? wanted - 6 : wanted);
    }
    assert_int_equal(hex_value('\0'), -1);
}

static void test_every_byte(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char text[3];
        snprintf(text, sizeof(text), byte % 2 ? "%02x" : "%02X", byte);
        assert_int_equal(hex_byte(text), byte);
    }
}

/* Nothing is read behind the end, which a sanitizer sees. */
static void test_what_is_cut(void **state)
{
    (void)state;
    assert_int_equal(hex_byte((const char[1]){'\0'}), -1);
    assert_int_equal(hex_byte((const char[2]){'7', '\0'}), -1);
    assert_int_equal(hex_byte("g0"), -1);
    assert_int_equal(hex_byte("0g"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_what_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
