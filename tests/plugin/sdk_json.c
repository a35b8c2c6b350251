/* Typed values of JSON text (F14). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_fakes.h"
#include "unit/base/failing.h"

static mortise_call call = {.size = sizeof(mortise_call), .ops = &fake_call_ops};

#define EVERYTHING                                                                                 \
    " { \"nested\" : { \"file\" : [ \"no\", {} , -1.5e3 ] } , \"empty\":\"\",\n"                   \
    "\"file\" : \"/a \\\"b\\\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\/\", \"none\":null,"         \
    "\"whole\":-12,\"huge\":9223372036854775808,\"ratio\":0.25, \"yes\":true,\"no\":false,"        \
    "\"point\":5.0,\"power\":1E3,\"vast\":1e999,\"tiny\":1e-999,"                                  \
    "\"least\":-9223372036854775808,\"nul\":\"a\\u0000b\" } "

/* F14: each kind. */
static void reads_each_kind(void **state)
{
    (void)state;
    static const char json[] = EVERYTHING;
    char text[64];
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    const char *value = NULL;
    assert_int_equal(mortise_json_string(json, "file", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "/a \"b\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n/");
    assert_int_equal(mortise_json_string(json, "empty", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "");
    assert_int_equal(mortise_json_string(json, "nul", text, sizeof(text)), MORTISE_OK);
    assert_string_equal(text, "a\xef\xbf\xbd"
                              "b");
    assert_int_equal(mortise_json_integer(json, "whole", &integer), MORTISE_OK);
    assert_int_equal(integer, -12);
    assert_int_equal(mortise_json_integer(json, "least", &integer), MORTISE_OK);
    assert_true(integer == INT64_MIN);
    assert_int_equal(mortise_json_number(json, "ratio", &number), MORTISE_OK);
    assert_true(number == 0.25);
    assert_int_equal(mortise_json_number(json, "whole", &number), MORTISE_OK);
    assert_true(number == -12);
    assert_int_equal(mortise_json_number(json, "tiny", &number), MORTISE_OK);
    assert_true(number == 0);
    assert_int_equal(mortise_json_boolean(json, "yes", &boolean), MORTISE_OK);
    assert_true(boolean);
    assert_int_equal(mortise_json_boolean(json, "no", &boolean), MORTISE_OK);
    assert_false(boolean);
    assert_int_equal(mortise_json_object(json, "nested", &value), MORTISE_OK);
    assert_memory_equal(value, "{ \"file\" :", 10);
    assert_int_equal(mortise_json_length(value), strlen("{ \"file\" : [ \"no\", {} , -1.5e3 ] }"));
}

/* A model may write a whole number with a point; the host's typed tools take it as well. */
static void takes_whole_numbers_of_any_spelling(void **state)
{
    (void)state;
    static const char json[] = EVERYTHING;
    int64_t integer = 0;
    assert_int_equal(mortise_json_integer(json, "point", &integer), MORTISE_OK);
    assert_int_equal(integer, 5);
    assert_int_equal(mortise_json_integer(json, "power", &integer), MORTISE_OK);
    assert_int_equal(integer, 1000);
}

/* F14: a wrong kind is not the same as an absent value, and neither changes anything. */
static void tells_wrong_from_missing(void **state)
{
    (void)state;
    static const char json[] = EVERYTHING;
    char text[8] = "before";
    int64_t integer = 5;
    double number = 5;
    bool boolean = true;
    const char *value = json;
    char **list = NULL;
    assert_int_equal(mortise_json_string(json, "nobody", text, sizeof(text)), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_string(json, "none", text, sizeof(text)), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_integer(json, "none", &integer), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_number(json, "nobody", &number), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_boolean(json, "nobody", &boolean), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_object(json, "nobody", &value), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_array(json, "none", &value), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_strings(json, "nobody", &list), MORTISE_NOT_FOUND);

    assert_int_equal(mortise_json_string(json, "whole", text, sizeof(text)), MORTISE_INVALID);
    assert_int_equal(mortise_json_string(json, "nested", text, sizeof(text)), MORTISE_INVALID);
    assert_int_equal(mortise_json_string(json, "file", text, sizeof(text)), MORTISE_INVALID);
    assert_int_equal(mortise_json_integer(json, "ratio", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_json_integer(json, "huge", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_json_integer(json, "vast", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_json_integer(json, "file", &integer), MORTISE_INVALID);
    assert_int_equal(mortise_json_number(json, "vast", &number), MORTISE_INVALID);
    assert_int_equal(mortise_json_number(json, "yes", &number), MORTISE_INVALID);
    assert_int_equal(mortise_json_boolean(json, "whole", &boolean), MORTISE_INVALID);
    assert_int_equal(mortise_json_object(json, "file", &value), MORTISE_INVALID);
    assert_int_equal(mortise_json_array(json, "nested", &value), MORTISE_INVALID);
    assert_int_equal(mortise_json_strings(json, "nested", &list), MORTISE_INVALID);
    assert_string_equal(text, "before");
    assert_true(integer == 5 && number == 5 && boolean && value == json && !list);
}

/* The host checks the last of two members with one name, so that is what a tool gets. */
static void takes_the_last_of_two(void **state)
{
    (void)state;
    int64_t integer = 0;
    static const char json[] = "{\"n\":\"one\",\"\\u006e\":2,\"n2\":3,\"no\":4}";
    assert_int_equal(mortise_json_integer(json, "n", &integer), MORTISE_OK);
    assert_int_equal(integer, 2);
    assert_int_equal(mortise_json_integer("{\"n\":1,\"n\":null}", "n", &integer),
                     MORTISE_NOT_FOUND);
}

static void steps_through_lists_and_objects(void **state)
{
    (void)state;
    static const char json[] =
        "{\"edits\":[ {\"line\":1,\"text\":\"a\"} ,{\"line\":2}, [3], 4 ],\"none\":[ ]}";
    const char *edits, *edit = NULL, *inner = NULL;
    int64_t line = 0, sum = 0;
    assert_int_equal(mortise_json_array(json, "edits", &edits), MORTISE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mortise_json_next(edits, &edit), MORTISE_OK);
        assert_int_equal(mortise_json_integer(edit, "line", &line), MORTISE_OK);
        sum = sum * 10 + line;
    }
    assert_int_equal(mortise_json_next(edits, &edit), MORTISE_OK);
    assert_int_equal(mortise_json_integer(edit, "line", &line), MORTISE_INVALID);
    assert_int_equal(mortise_json_next(edit, &inner), MORTISE_OK);
    assert_int_equal(mortise_json_integer(inner, NULL, &line), MORTISE_OK);
    sum = sum * 10 + line;
    assert_int_equal(mortise_json_next(edit, &inner), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_next(edits, &edit), MORTISE_OK);
    assert_int_equal(mortise_json_integer(edit, NULL, &line), MORTISE_OK);
    assert_int_equal(sum * 10 + line, 1234);
    assert_int_equal(mortise_json_next(edits, &edit), MORTISE_NOT_FOUND);
    edit = NULL;
    assert_int_equal(mortise_json_array(json, "none", &edits), MORTISE_OK);
    assert_int_equal(mortise_json_next(edits, &edit), MORTISE_NOT_FOUND);
    assert_null(edit);
    assert_int_equal(mortise_json_next(json, &edit), MORTISE_INVALID);
}

static void steps_through_members(void **state)
{
    (void)state;
    static const char json[] = " { \"a\" : 1 , \"\\u00e9\":[2], \"much too long\":{} } ";
    const char *value = NULL;
    char name[5];
    assert_int_equal(mortise_json_next_member(json, &value, name, sizeof(name)), MORTISE_OK);
    assert_string_equal(name, "a");
    assert_int_equal(*value, '1');
    assert_int_equal(mortise_json_next_member(json, &value, name, sizeof(name)), MORTISE_OK);
    assert_string_equal(name, "\xc3\xa9");
    assert_int_equal(*value, '[');
    assert_int_equal(mortise_json_next_member(json, &value, name, sizeof(name)), MORTISE_OK);
    assert_string_equal(name, "much");
    assert_int_equal(mortise_json_next_member(json, &value, name, sizeof(name)), MORTISE_NOT_FOUND);
    value = NULL;
    assert_int_equal(mortise_json_next_member("{}", &value, name, sizeof(name)), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_next_member("{\"a\" 1}", &value, name, sizeof(name)),
                     MORTISE_INVALID);
    assert_int_equal(mortise_json_next_member("[]", &value, name, sizeof(name)), MORTISE_INVALID);
}

static void reads_texts_of_any_length(void **state)
{
    (void)state;
    char json[3000];
    const char *text = NULL;
    snprintf(json, sizeof(json), "{\"t\":\"%02000d\\u20ac\"}", 7);
    fake_reset();
    assert_int_equal(mortise_json_text(&call, json, "t", &text), MORTISE_OK);
    assert_int_equal(strlen(text), 2003);
    assert_string_equal(text + 1999, "7\xe2\x82\xac");
    assert_int_equal(mortise_json_text(&call, json, "u", &text), MORTISE_NOT_FOUND);
    fake.no_memory = true;
    assert_int_equal(mortise_json_text(&call, json, "t", &text), MORTISE_NO_MEMORY);
    assert_int_equal(strlen(text), 2003);
    fake_reset();
}

static void reads_texts_and_values_without_a_call(void **state)
{
    (void)state;
    static const char json[] = "{\"t\":\"a\\u20acb\",\"n\": 12 ,\"o\":{\"x\":[]},\"z\":null}";
    const char *value = NULL;
    char *text = NULL;
    assert_int_equal(mortise_json_copy(json, "t", &text), MORTISE_OK);
    assert_string_equal(text, "a\xe2\x82\xac" "b");
    assert_int_equal(mortise_json_copy(json, "n", &text), MORTISE_INVALID);
    assert_int_equal(mortise_json_copy(json, "z", &text), MORTISE_NOT_FOUND);
    free(text);
    assert_int_equal(mortise_json_value(json, "n", &value), MORTISE_OK);
    assert_int_equal(mortise_json_length(value), 2);
    assert_int_equal(mortise_json_value(json, "o", &value), MORTISE_OK);
    assert_int_equal(mortise_json_length(value), strlen("{\"x\":[]}"));
    assert_int_equal(mortise_json_value(json, "z", &value), MORTISE_NOT_FOUND);
    assert_int_equal(mortise_json_value("[1", NULL, &value), MORTISE_INVALID);
}

static void reads_lists_of_texts(void **state)
{
    (void)state;
    static const char json[] = "{\"words\": [ \"a\" , \"\", \"b\\n\\u00e9\" ],\"none\":[ ],"
                               "\"mixed\":[\"a\",1],\"text\":\"a\"}";
    char **list = NULL;
    assert_int_equal(mortise_json_strings(json, "words", &list), MORTISE_OK);
    assert_string_equal(list[0], "a");
    assert_string_equal(list[1], "");
    assert_string_equal(list[2], "b\n\xc3\xa9");
    assert_null(list[3]);
    free(list);
    assert_int_equal(mortise_json_strings(json, "none", &list), MORTISE_OK);
    assert_null(list[0]);
    free(list);
    list = NULL;
    assert_int_equal(mortise_json_strings(json, "mixed", &list), MORTISE_INVALID);
    assert_int_equal(mortise_json_strings(json, "text", &list), MORTISE_INVALID);
    assert_null(list);
}

/* ---- hostile text ---- */

/* Reads in memory of exactly the text's size, for AddressSanitizer to see.  Returns whether a
 * value of any kind was there for `key`. */
static bool read_all(const char *json, size_t length, const char *key)
{
    char *copy = malloc(length + 1), text[64], **list;
    const char *value, *item = NULL;
    int64_t integer;
    double number;
    bool boolean, any = false;
    assert_non_null(copy);
    memcpy(copy, json, length);
    copy[length] = '\0';
    any |= mortise_json_string(copy, key, text, sizeof(text)) == MORTISE_OK;
    any |= mortise_json_integer(copy, key, &integer) == MORTISE_OK;
    any |= mortise_json_number(copy, key, &number) == MORTISE_OK;
    any |= mortise_json_boolean(copy, key, &boolean) == MORTISE_OK;
    any |= mortise_json_object(copy, key, &value) == MORTISE_OK;
    if (mortise_json_strings(copy, key, &list) == MORTISE_OK)
        free(list);
    if (mortise_json_array(copy, key, &value) == MORTISE_OK) {
        any = true;
        while (mortise_json_next(value, &item) == MORTISE_OK)
            assert_true(mortise_json_length(item) > 0);
    }
    item = NULL;
    while (mortise_json_next(copy, &item) == MORTISE_OK)
        continue;
    item = NULL;
    while (mortise_json_next_member(copy, &item, text, sizeof(text)) == MORTISE_OK)
        continue;
    assert_true(mortise_json_length(copy) <= length);
    free(copy);
    return any;
}

static void stops_where_a_text_is_cut(void **state)
{
    (void)state;
    static const char *const keys[] = {"file", "whole", "nested", "least", "", NULL};
    size_t whole = strlen(EVERYTHING) - 1; /* without the space behind it */
    for (size_t length = 0; length < whole; length++)
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
            assert_false(read_all(EVERYTHING, length, keys[i]));
    assert_true(read_all(EVERYTHING, whole, "file"));
}

static void refuses_what_is_no_json(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "",
        "x",
        "[]",
        "{",
        "{a:1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\":\"",
        "{\"a\":\"\\",
        "{\"a\":\"\\u",
        "{\"a\":\"\\u12",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\ud800\\u0041\"}",
        "{\"a\":\"\\udc00\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":1x}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":0x10}",
        "{\"a\":inf}",
        "{\"a\":nan}",
        "{\"a\":tru}",
        "{\"a\":truee}",
        "{\"a\":nul}",
        "{\"b\":[[[[",
        "{\"a\":1,\"b\":[}]}",
        "{\"a\":1,\"b\":[1 2]}",
        "{\"a\":1,\"b\":[1,]}",
        "{\"a\":1,\"b\":{1}}",
        "{\"b\":\x01}",
        "{\"b\" 1}",
        "{\"a\":[",
        "{\"a\":[\"",
        "{\"a\":[\"b\"",
        "{\"a\":[\"b\",",
        "{\"a\":[\"a\" \"b\"]}",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
        if (read_all(broken[i], strlen(broken[i]), "a"))
            fail_msg("something was found in %s", broken[i]);
}

static void any_depth_and_length_is_harmless(void **state)
{
    (void)state;
    enum { DEEP = 1000000, ALLOWED = 2048 };
    char *text = malloc(2 * DEEP + 1);
    int64_t integer;
    assert_non_null(text);
    memset(text, '[', DEEP);
    text[DEEP] = '\0';
    assert_int_equal(mortise_json_length(text), 0);
    memset(text + DEEP, ']', DEEP);
    text[2 * DEEP] = '\0';
    assert_int_equal(mortise_json_length(text), 0);
    assert_int_equal(mortise_json_length(text + DEEP - ALLOWED), 2 * ALLOWED);
    assert_int_equal(mortise_json_length(text + DEEP - ALLOWED - 2), 0);
    memset(text, '9', DEEP);
    text[DEEP] = '\0';
    assert_int_equal(mortise_json_integer(text, NULL, &integer), MORTISE_INVALID);
    assert_int_equal(mortise_json_length(text), DEEP);
    free(text);
}

/* A list of texts is the only thing that needs one. */
static void allocates_nothing_but_lists(void **state)
{
    (void)state;
    char **list = NULL, text[8];
    const char *value;
    fail_after(0);
    assert_int_equal(mortise_json_strings("[\"a\"]", NULL, &list), MORTISE_NO_MEMORY);
    assert_int_equal(mortise_json_string("\"a\"", NULL, text, sizeof(text)), MORTISE_OK);
    assert_int_equal(mortise_json_array("[[[1]]]", NULL, &value), MORTISE_OK);
    assert_true(fail_never());
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_kind),
        cmocka_unit_test(takes_whole_numbers_of_any_spelling),
        cmocka_unit_test(tells_wrong_from_missing),
        cmocka_unit_test(takes_the_last_of_two),
        cmocka_unit_test(steps_through_lists_and_objects),
        cmocka_unit_test(steps_through_members),
        cmocka_unit_test(reads_texts_of_any_length),
        cmocka_unit_test(reads_texts_and_values_without_a_call),
        cmocka_unit_test(reads_lists_of_texts),
        cmocka_unit_test(stops_where_a_text_is_cut),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(any_depth_and_length_is_harmless),
        cmocka_unit_test(allocates_nothing_but_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
