/* The limit on what a result may add to a conversation, and what is known of a text that was cut
 * (D12; FAULTS 45, 127, 129). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"
#include "tool/cap.h"

static struct text text_of(const char *piece, size_t times)
{
    struct text text = TEXT_INIT;
    for (size_t i = 0; i < times; i++)
        text_printf(&text, "%s%zu", piece, i);
    return text;
}

static void test_head_line_and_tail(void **state)
{
    (void)state;
    static const size_t limits[] = {0, 50, 100, 128, 129, 130, 131, 1000, 1001, 4000};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct text text = text_of("日本", 1000), whole = text_of("日本", 1000);
        assert_true(result_cap(&text, limits[i], "/kept/here"));
        assert_int_equal(utf8_valid(text.data, text.length), text.length);
        const char *line = strstr(text.data, "\n[mortise: ");
        assert_non_null(line);
        assert_non_null(strstr(line, " bytes left out here; the whole is in /kept/here]\n"));
        if (limits[i] >= 128)
            assert_in_range(text.length, limits[i] / 2, limits[i]);
        assert_memory_equal(text.data, whole.data, (size_t)(line - text.data));
        assert_true(result_is_cut_of(text.data, text.length, whole.data, whole.length));
        text_release(&text);
        text_release(&whole);
    }
}

static void test_what_fits_stays(void **state)
{
    (void)state;
    struct text text = text_of("x", 10);
    size_t length = text.length;
    assert_true(result_cap(&text, length, NULL));
    assert_int_equal(text.length, length);
    assert_false(result_is_cut_of(text.data, text.length, text.data, text.length));
    text_release(&text);
}

/* A line that a tool wrote itself, or another text, is not taken for a cut. */
static void test_what_is_no_cut(void **state)
{
    (void)state;
    static const struct {
        const char *cut, *whole;
        bool is_cut;
    } cases[] = {
        {"head\n[mortise: 9 bytes left out here]\ntail",
         "head and a middle that is longer than the line is, tail", true},
        {"head\n[mortise: 9 bytes left out here]\ntail",
         "heat and a middle that is longer than the line is, tail", false},
        {"head\n[mortise: 9 bytes left out here]\ntail",
         "head and a middle that is longer than the line is, tall", false},
        {"head\n[mortise: 9 bytes left out here]\ntail", "head", false},
        {"head, tail", "head and a middle that is longer than the line is, tail", false},
        {"a\n[mortise: x]\nb\n[mortise: 9 bytes left out here]\nc",
         "a\n[mortise: x]\nb and a middle that is longer than the whole line is, c", true},
        {"\n[mortise: 9 bytes left out here]\n", "anything that is longer than the line itself",
         true},
        {"\n[mortise: ", "anything that is longer than the line itself", false},
        {"", "anything", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (result_is_cut_of(cases[i].cut, strlen(cases[i].cut), cases[i].whole,
                             strlen(cases[i].whole)) != cases[i].is_cut)
            fail_msg("'%s' of '%s'", cases[i].cut, cases[i].whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_line_and_tail),
        cmocka_unit_test(test_what_fits_stays),
        cmocka_unit_test(test_what_is_no_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
