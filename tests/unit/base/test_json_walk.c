#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_walk.h"
#include "failing.h"

static struct json_piece piece_of(const char *json)
{
    return (struct json_piece){json, strlen(json)};
}

/* The entries of an object or a list, each as "key=value;". */
static void write_entries(struct text *out, const char *json, char bracket)
{
    struct json_walk walk;
    struct json_piece key = {"", 0}, value;
    assert_true(json_walk_into(&walk, piece_of(json), bracket));
    while (json_walk_next(&walk, bracket == '{' ? &key : NULL, &value)) {
        text_append(out, key.data, key.length);
        text_putc(out, '=');
        text_append(out, value.data, value.length);
        text_putc(out, ';');
    }
}

static void test_entries(void **state)
{
    (void)state;
    static const struct {
        char bracket;
        const char *json, *entries;
    } cases[] = {
        {'{', "{}", ""},
        {'{', " { } ", ""},
        {'{', "{\"a\":1}", "\"a\"=1;"},
        {'{', " {\n\"a\" : 1.50 ,\t\"b\":\r\"x\" } ", "\"a\"=1.50;\"b\"=\"x\";"},
        {'{', "{\"a\":{\"b\":[1,{}]},\"c\":[]}", "\"a\"={\"b\":[1,{}]};\"c\"=[];"},
        {'{', "{\"}\":\"]{\\\"\",\"\\\\\":true}", "\"}\"=\"]{\\\"\";\"\\\\\"=true;"},
        {'[', "[]", ""},
        {'[', "[1,\"a,b\" , null,[2,3],{\"a\":\"]\"} ]",
         "=1;=\"a,b\";=null;=[2,3];={\"a\":\"]\"};"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        write_entries(&out, cases[i].json, cases[i].bracket);
        assert_string_equal(text_cstr(&out), cases[i].entries);
        text_release(&out);
    }
}

static void test_other_values_have_none(void **state)
{
    (void)state;
    struct json_walk walk;
    static const char *const others[] = {"", " ", "1", "\"{}\"", "null"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(json_walk_into(&walk, piece_of(others[i]), '{'));
        assert_false(json_walk_into(&walk, piece_of(others[i]), '['));
    }
    assert_false(json_walk_into(&walk, piece_of("[]"), '{'));
    assert_false(json_walk_into(&walk, piece_of("{}"), '['));
}

/* It is for valid text, but stays within any; valgrind and ASan watch. */
static void test_broken_text(void **state)
{
    (void)state;
    static const char *const broken[] = {"{\"a",     "{\"a\\", "{\"a\":", "{\"a\" 1",
                                         "{\"a\":[", "{:",     "{,,,}",   "{a:b",
                                         "{\"a\":}", "{]",     "{}}",     "{\"a\":{]"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct text exact = TEXT_INIT, out = TEXT_INIT;
        text_puts(&exact, broken[i]);
        write_entries(&out, exact.data, '{');
        text_release(&exact);
        text_release(&out);
    }
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {{"\"\"", ""},
                 {"\"plain \xC3\xA4\"", "plain \xC3\xA4"},
                 {"\"a\\/b\\n\\u00e4\"", "a/b\n\xC3\xA4"},
                 {"1", NULL},
                 {"\"", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text out = TEXT_INIT;
        assert_int_equal(json_piece_text(piece_of(cases[i].json), &out), cases[i].text != NULL);
        assert_string_equal(text_cstr(&out), cases[i].text ? cases[i].text : "");
        text_release(&out);
    }
    assert_true(json_piece_is(piece_of("\"data\""), "data"));
    assert_false(json_piece_is(piece_of("\"data2\""), "data"));
    assert_false(json_piece_is(piece_of("\"dat\""), "data"));
}

static void test_without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int n = 0; failed && n < 100; n++) {
        struct text out = TEXT_INIT;
        fail_after(n);
        bool read = json_piece_text(piece_of("\"a\\/b\""), &out);
        failed = fail_never();
        assert_int_equal(read, !out.failed);
        assert_int_equal(failed, out.failed);
        text_release(&out);
    }
    assert_false(failed);
}

static void test_members(void **state)
{
    (void)state;
    static const char text[] = "{\"a\": [1, {\"b\": 0}], \"b\" : 2.50 , \"a\":\"}\"}";
    const struct json_piece object = {text, strlen(text)}, none = {NULL, 0};
    struct json_piece piece = json_walk_member(object, "b");
    assert_int_equal(piece.length, 4);
    assert_memory_equal(piece.data, "2.50", 4);
    piece = json_walk_member(object, "a"); /* the last one */
    assert_int_equal(piece.length, 3);
    assert_memory_equal(piece.data, "\"}\"", 3);
    assert_int_equal(json_walk_member(object, "c").length, 0);
    assert_int_equal(json_walk_member(piece, "b").length, 0);
    assert_int_equal(json_walk_member(none, "b").length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_other_values_have_none),
        cmocka_unit_test(test_broken_text),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
