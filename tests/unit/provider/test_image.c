#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "provider/image.h"

#define BYTES(text) (text), sizeof(text) - 1

static const struct {
    const char *data;
    size_t length;
    const char *mime_type; /* NULL: it is none */
    uint32_t width, height;
} cases[] = {
    {BYTES("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\1\2\0\0\0\3"), "image/png", 258, 3},
    {BYTES("GIF89a\x10\x01\x20\0"), "image/gif", 272, 32},
    {BYTES("GIF87a\x01\0\x01\0"), "image/gif", 1, 1},
    {BYTES("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9D\x01\x2A\x40\x41\x10\x80"), "image/webp", 320,
     16},
    {BYTES("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x03\xC0\x01\0\0\0\0\0\0"), "image/webp", 4, 8},
    {BYTES("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\xFF\x01\0\x0F\0\0"), "image/webp", 512, 16},
    {BYTES("\xFF\xD8\xFF\xE0\0\x04xx\xFF\xC0\0\x11\x08\0\x20\x01\0\3"), "image/jpeg", 256, 32},
    {BYTES("\xFF\xD8\xFF\xFF\xC4\0\2\xFF\xC2\0\x11\x08\0\x20\x01\0\3"), "image/jpeg", 256, 32},
    {BYTES("\xFF\xD8\xFF\x01\xFF\xC2\0\x11\x08\0\x20\x01\0\3"), "image/jpeg", 256, 32},
    /* cut, without a size, or something else */
    {BYTES("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\1\2\0\0\0"), NULL, 0, 0},
    {BYTES("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\0\0\0\0\3"), NULL, 0, 0},
    {BYTES("GIF89a\x10\x01\x20"), NULL, 0, 0},
    {BYTES("RIFF\0\0\0\0WEBPVP9 \0\0\0\0\0\0\0\x9D\x01\x2A\x40\x41\x10\x80"), NULL, 0, 0},
    {BYTES("RIFF\0\0\0\0WAVEfmt \0\0\0\0\0\0\0\x9D\x01\x2A\x40\x41\x10\x80"), NULL, 0, 0},
    {BYTES("\xFF\xD8\xFF\xE0\xFF\xFFxx\xFF\xC0\0\x11\x08\0\x20\x01\0\3"), NULL, 0, 0},
    {BYTES("\xFF\xD8\xFF\xC0\0\x11\x08\0\x20\x01"), NULL, 0, 0},
    {BYTES("\xFF\xD8\xFF\xE0\0\x04xxyy\xFF\xC0\0\x11\x08\0\x20\x01\0"), NULL, 0, 0},
    {BYTES("<svg/>"), NULL, 0, 0},
    {BYTES(""), NULL, 0, 0},
};

/* F75: what an image is, from its own bytes, cut anywhere. */
static void test_first_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct image image;
        bool is_one = image_look(&image, cases[i].data, cases[i].length);
        assert_int_equal(is_one, cases[i].mime_type != NULL);
        if (!is_one)
            continue;
        assert_string_equal(image.mime_type, cases[i].mime_type);
        assert_int_equal(image.width, cases[i].width);
        assert_int_equal(image.height, cases[i].height);
    }
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t length = 0; length < cases[i].length; length++) {
            struct image image;
            char *exact = malloc(length ? length : 1);
            memcpy(exact, cases[i].data, length);
            image_look(&image, exact, length);
            free(exact);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_bytes),
                                       cmocka_unit_test(test_cut_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
