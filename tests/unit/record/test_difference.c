#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing.h"
#include "record/difference.h"

static struct json_piece piece_of(const char *text)
{
    return (struct json_piece){text, strlen(text)};
}

static const struct {
    const char *recorded, *now, *told; /* NULL: nothing */
} cases[] = {
    {"{}", "{}", NULL},
    {"{\"a\":[1,{\"b\":\"x\"}]}", "{\"a\":[1,{\"b\":\"x\"}]}", NULL},
    {"{\"a\":1}", "{\"a\":2}", "at $.a: recorded 1, now 2"},
    {"{\"a\":1.50}", "{\"a\":1.5}", "at $.a, byte 3: recorded 1.50, now 1.5"},
    {"{\"a\":[1,{\"b\":\"xy\"}]}", "{\"a\":[1,{\"b\":\"xz\"}]}",
     "at $.a[1].b, byte 2: recorded \"xy\", now \"xz\""},
    {"{\"a\":1,\"b\":2}", "{\"a\":1}", "at $.b: recorded 2, now nothing"},
    {"{\"a\":1}", "{\"a\":1,\"b\":[]}", "at $.b: recorded nothing, now []"},
    {"[1,2]", "[1,2,3]", "at $[2]: recorded nothing, now 3"},
    {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "at $.a, byte 1: recorded \"a\", now \"b\""},
    {"{\"a\":1}", "{\"a\": 1}", "at $, byte 5: recorded {\"a\":1}, now {\"a\": 1}"},
    {"{\"a\":[]}", "{\"a\":{}}", "at $.a: recorded [], now {}"},
    {"oops", "{}", "at $: recorded oops, now {}"},
    {"", "{}", "at $: recorded nothing, now {}"},
    {"\"0123456789012345678901234567890\"", "\"0123456789012345678901234567891\"",
     "at $, byte 31: recorded …012345678901234567890\", now …012345678901234567891\""},
    {"\"äääääääääääääääääääääääää-\"", "\"äääääääääääääääääääääääää+\"", "now …ä"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        bool differs = difference_find(piece_of(cases[i].recorded), piece_of(cases[i].now), &out);
        assert_int_equal(differs, cases[i].told != NULL);
        if (cases[i].told && !strstr(text_cstr(&out), cases[i].told))
            fail_msg("%s: not in '%s'", cases[i].told, text_cstr(&out));
        text_release(&out);
    }
}

/* Of a long text only a piece around the place is told. */
static void test_long_text(void **state)
{
    (void)state;
    struct text a = TEXT_INIT, b = TEXT_INIT, out = TEXT_INIT;
    text_putc(&a, '"');
    for (int i = 0; i < 100000; i++)
        text_puts(&a, "word ");
    text_append(&b, a.data, a.length);
    text_puts(&a, "one\"");
    text_puts(&b, "two\"");
    assert_true(difference_find((struct json_piece){a.data, a.length},
                                (struct json_piece){b.data, b.length}, &out));
    assert_true(out.length < 300);
    assert_non_null(strstr(out.data, "byte 500001"));
    assert_non_null(strstr(out.data, "word two\""));
    text_release(&a);
    text_release(&b);
    text_release(&out);
}

/* What a stranger sends may be nested as deep as it likes. */
static void test_deep(void **state)
{
    (void)state;
    struct text a = TEXT_INIT, b = TEXT_INIT, out = TEXT_INIT;
    for (int i = 0; i < 2000; i++) {
        text_putc(&a, '[');
        text_putc(&b, '[');
    }
    text_putc(&a, '1');
    text_putc(&b, '2');
    for (int i = 0; i < 2000; i++) {
        text_putc(&a, ']');
        text_putc(&b, ']');
    }
    assert_true(difference_find((struct json_piece){a.data, a.length},
                                (struct json_piece){b.data, b.length}, &out));
    assert_non_null(strstr(out.data, "byte 1936")); /* below 64 lists */
    text_release(&a);
    text_release(&b);
    text_release(&out);
}

static void test_no_memory(void **state)
{
    (void)state;
    const size_t last = sizeof(cases) / sizeof(cases[0]) - 1;
    for (size_t i = 2; i <= last; i++) {
        int failed = 1;
        for (int count = 0; failed; count++) {
            struct text out = TEXT_INIT;
            fail_after(count);
            assert_true(difference_find(piece_of(cases[i].recorded), piece_of(cases[i].now), &out));
            failed = fail_never();
            assert_int_equal(out.failed, failed);
            text_release(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
