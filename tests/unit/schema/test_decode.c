/* Typed arguments: F14-F17, T52, T55, R12, FAULTS 144. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fake_shape.h"
#include "schema/decode.h"

struct edit {
    const char *old_text;
    int64_t count;
    bool seen_old_text, seen_count;
};
static const mortise_field edit_fields[] = {
    FAKE_FIELD(edit, old_text, MORTISE_STRING, .flags = MORTISE_REQUIRED),
    FAKE_FIELD(edit, count, MORTISE_INTEGER, .fallback = "1"),
};
FAKE_SHAPE(edit, edit_fields);

struct all {
    const char *text;
    const char *unit;
    const char *json;
    int64_t whole;
    double number;
    bool flag;
    struct edit edit;
    mortise_list strings, integers, numbers, booleans, edits;
    bool seen_text, seen_unit, seen_json, seen_whole, seen_number, seen_flag, seen_edit;
    bool seen_strings, seen_integers, seen_numbers, seen_booleans, seen_edits;
};
static const char *const units[] = {"celsius", "fahrenheit", NULL};
#define RANGE(least, most) .flags = MORTISE_HAS_MIN | MORTISE_HAS_MAX, .min = (least), .max = (most)
static const mortise_field all_fields[] = {
    FAKE_FIELD(all, text, MORTISE_STRING, RANGE(2, 5)),
    FAKE_FIELD(all, unit, MORTISE_STRING, .choices = units, .fallback = "\"celsius\""),
    FAKE_FIELD(all, json, MORTISE_JSON, .flags = 0),
    FAKE_FIELD(all, whole, MORTISE_INTEGER, RANGE(1, 64), .fallback = "7"),
    FAKE_FIELD(all, number, MORTISE_NUMBER, .flags = MORTISE_HAS_MIN, .min = 0.5),
    FAKE_FIELD(all, flag, MORTISE_BOOLEAN, .fallback = "true"),
    FAKE_FIELD(all, edit, MORTISE_OBJECT, .record = &edit_shape),
    FAKE_FIELD(all, strings, MORTISE_STRINGS, .choices = units, .fallback = "[\"fahrenheit\"]"),
    FAKE_FIELD(all, integers, MORTISE_INTEGERS, .flags = MORTISE_HAS_MAX, .max = 3),
    FAKE_FIELD(all, numbers, MORTISE_NUMBERS, .flags = 0),
    FAKE_FIELD(all, booleans, MORTISE_BOOLEANS, .flags = 0),
    FAKE_FIELD(all, edits, MORTISE_RECORDS, .flags = MORTISE_HAS_MIN, .min = 1,
               .record = &edit_shape),
};
FAKE_SHAPE(all, all_fields);

struct place_args {
    const char *location;
    int64_t days;
    const char *unit;
    bool seen_location, seen_days, seen_unit;
};
static const mortise_field place_fields[] = {
    FAKE_FIELD(place_args, location, MORTISE_STRING, .flags = MORTISE_REQUIRED),
    FAKE_FIELD(place_args, days, MORTISE_INTEGER, .flags = MORTISE_REQUIRED),
    FAKE_FIELD(place_args, unit, MORTISE_STRING, .flags = MORTISE_REQUIRED, .choices = units),
};
FAKE_SHAPE(place_args, place_fields);

static const void *decode(const mortise_shape *table, const char *json, struct arena *memory,
                          struct error *error)
{
    struct shape *shape = shape_new(table, memory, error);
    if (!shape)
        fail_msg("%s", error->message);
    json_t *value = json_parse(json, strlen(json), NULL, error);
    assert_non_null(value);
    const void *args = decode_arguments(shape, value, memory, error);
    json_decref(value);
    shape_release(shape);
    return args;
}

static const struct all *decode_all(const char *json, struct arena *memory)
{
    struct error error = ERROR_INIT;
    arena_init(memory, NULL, 0);
    const struct all *all = decode(&all_shape, json, memory, &error);
    if (!all)
        fail_msg("%s", error.message);
    return all;
}

static void test_every_kind(void **state)
{
    (void)state;
    struct arena memory;
    const struct all *all = decode_all(
        "{\"text\":\"h\\u00e9y\",\"unit\":\"fahrenheit\",\"json\":{\"a\":[1,null]},\"whole\":64,"
        "\"number\":2.5,\"flag\":false,\"edit\":{\"old_text\":\"x\",\"count\":2},"
        "\"strings\":[\"celsius\",\"fahrenheit\"],\"integers\":[-1,9007199254740993],"
        "\"numbers\":[1,0.25],\"booleans\":[true,false,true],"
        "\"edits\":[{\"old_text\":\"a\"},{\"old_text\":\"b\",\"count\":3}]}",
        &memory);
    assert_string_equal(all->text, "h\xC3\xA9y");
    assert_string_equal(all->unit, "fahrenheit");
    assert_string_equal(all->json, "{\"a\":[1,null]}");
    assert_int_equal(all->whole, 64);
    assert_true(all->number == 2.5);
    assert_false(all->flag);
    assert_string_equal(all->edit.old_text, "x");
    assert_int_equal(all->edit.count, 2);
    assert_true(all->edit.seen_count);
    assert_int_equal(all->strings.count, 2);
    assert_string_equal(((const char *const *)all->strings.items)[1], "fahrenheit");
    assert_int_equal(all->integers.count, 2);
    assert_true(((const int64_t *)all->integers.items)[1] == 9007199254740993);
    assert_true(((const double *)all->numbers.items)[0] == 1.0);
    assert_int_equal(all->booleans.count, 3);
    assert_true(((const bool *)all->booleans.items)[2]);
    const struct edit *edits = all->edits.items;
    assert_int_equal(all->edits.count, 2);
    assert_int_equal(edits[0].count, 1);
    assert_false(edits[0].seen_count);
    assert_string_equal(edits[1].old_text, "b");
    assert_int_equal(edits[1].count, 3);
    assert_true(all->seen_text && all->seen_unit && all->seen_json && all->seen_whole &&
                all->seen_number && all->seen_flag && all->seen_edit && all->seen_strings &&
                all->seen_integers && all->seen_numbers && all->seen_booleans && all->seen_edits);
    arena_release(&memory);
}

/* F16; null is absent but for any JSON value; an object that is left out has its defaults. */
static void test_defaults(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{}", "{\"text\":null,\"unit\":null,\"whole\":null,\"flag\":null,\"edit\":null,"
              "\"strings\":null,\"edits\":null}"};
    for (size_t i = 0; i < 2; i++) {
        struct arena memory;
        const struct all *all = decode_all(cases[i], &memory);
        assert_null(all->text);
        assert_null(all->json);
        assert_string_equal(all->unit, "celsius");
        assert_int_equal(all->whole, 7);
        assert_true(all->flag);
        assert_int_equal(all->edit.count, 1);
        assert_null(all->edit.old_text);
        assert_int_equal(all->strings.count, 1);
        assert_int_equal(all->edits.count, 0);
        assert_false(all->seen_text || all->seen_unit || all->seen_whole || all->seen_flag ||
                     all->seen_edit || all->seen_strings || all->seen_edits);
        arena_release(&memory);
    }
}

static void test_any_json(void **state)
{
    (void)state;
    static const char *const values[] = {
        "null", "0.1", "1.2345678901234567", "\"a\\u0000b\"", "[]", "{\"z\":1,\"a\":2}", "1e300"};
    static const char *const texts[] = {
        "null", "0.1", "1.2345678901234567", "\"a\\u0000b\"", "[]", "{\"z\":1,\"a\":2}", "1e300"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char json[64];
        struct arena memory;
        snprintf(json, sizeof(json), "{\"json\":%s}", values[i]);
        const struct all *all = decode_all(json, &memory);
        assert_string_equal(all->json, texts[i]);
        assert_true(all->seen_json);
        arena_release(&memory);
    }
}

static void test_lossless_coercions(void **state)
{
    (void)state;
    struct arena memory;
    const struct all *all = decode_all(
        "{\"whole\":\"5\",\"number\":\"2.5\",\"flag\":\"false\",\"integers\":[\"6\",7.0]}",
        &memory);
    assert_int_equal(all->whole, 5);
    assert_true(all->number == 2.5);
    assert_false(all->flag);
    assert_int_equal(((const int64_t *)all->integers.items)[0], 6);
    assert_int_equal(((const int64_t *)all->integers.items)[1], 7);
    arena_release(&memory);
    all = decode_all("{\"whole\":3.0,\"number\":4,\"flag\":\"true\"}", &memory);
    assert_int_equal(all->whole, 3);
    assert_true(all->number == 4);
    assert_true(all->flag);
    arena_release(&memory);
}

#define BAD(text) "Invalid argument: " text

static void test_what_the_model_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        /* the wrong kind */
        {"{\"text\":5}", BAD("'text' must be a string, got 5")},
        {"{\"unit\":5}", BAD("'unit' must be one of \"celsius\", \"fahrenheit\", got 5")},
        {"{\"whole\":\"five\"}", BAD("'whole' must be an integer, got \"five\"")},
        {"{\"whole\":1.5}", BAD("'whole' must be an integer, got 1.5")},
        {"{\"whole\":\"1.5\"}", BAD("'whole' must be an integer, got \"1.5\"")},
        {"{\"whole\":1e300}", BAD("'whole' must be an integer, got 1e300")},
        {"{\"whole\":true}", BAD("'whole' must be an integer, got true")},
        {"{\"whole\":\"0x10\"}", BAD("'whole' must be an integer, got \"0x10\"")},
        {"{\"number\":\"nan\"}", BAD("'number' must be a number, got \"nan\"")},
        {"{\"number\":[]}", BAD("'number' must be a number, got []")},
        {"{\"flag\":1}", BAD("'flag' must be true or false, got 1")},
        {"{\"flag\":\"yes\"}", BAD("'flag' must be true or false, got \"yes\"")},
        {"{\"edit\":[]}", BAD("'edit' must be an object, got []")},
        {"{\"strings\":\"celsius\"}", BAD("'strings' must be a list of strings, got \"celsius\"")},
        {"{\"integers\":1}", BAD("'integers' must be a list of integers, got 1")},
        {"{\"numbers\":{}}", BAD("'numbers' must be a list of numbers, got {}")},
        {"{\"booleans\":true}", BAD("'booleans' must be a list of true or false, got true")},
        {"{\"edits\":{}}", BAD("'edits' must be a list of objects, got {}")},
        /* inside */
        {"{\"integers\":[1,\"x\"]}", BAD("'integers[1]' must be an integer, got \"x\"")},
        {"{\"numbers\":[null]}", BAD("'numbers[0]' must be a number, got null")},
        {"{\"booleans\":[0]}", BAD("'booleans[0]' must be true or false, got 0")},
        {"{\"strings\":[\"kelvin\"]}",
         BAD("'strings[0]' must be one of \"celsius\", \"fahrenheit\", got \"kelvin\"")},
        {"{\"edit\":{}}", BAD("'edit.old_text' is required (a string)")},
        {"{\"edits\":[{\"old_text\":\"a\"},{\"old_text\":5}]}",
         BAD("'edits[1].old_text' must be a string, got 5")},
        {"{\"edits\":[5]}", BAD("'edits[0]' must be an object, got 5")},
        {"{\"edits\":[{\"old_text\":\"a\",\"cuont\":1}]}",
         BAD("'edits[0].cuont' is not known; did you mean 'count'? (the arguments are 'old_text', "
             "'count')")},
        /* ranges */
        {"{\"text\":\"\u00e9\"}", BAD("'text' must have 2 to 5 characters, got 1")},
        {"{\"text\":\"abcdef\"}", BAD("'text' must have 2 to 5 characters, got 6")},
        {"{\"whole\":0}", BAD("'whole' must be 1 to 64, got 0")},
        {"{\"whole\":65}", BAD("'whole' must be 1 to 64, got 65")},
        {"{\"number\":0.25}", BAD("'number' must be at least 0.5, got 0.25")},
        {"{\"integers\":[1,2,3,4]}", BAD("'integers' must have at most 3 items, got 4")},
        {"{\"edits\":[]}", BAD("'edits' must have at least 1 item, got 0")},
        /* NUL */
        {"{\"text\":\"a\\u0000b\"}", BAD("'text' must not hold a NUL character (\\u0000)")},
        /* the whole */
        {"[1]", BAD("the arguments must be an object, got [1]")},
        /* long values are cut */
        {"{\"whole\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
         BAD("'whole' must be an integer, got "
             "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena memory;
        struct error error = ERROR_INIT;
        arena_init(&memory, NULL, 0);
        assert_null(decode(&all_shape, cases[i].json, &memory, &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        assert_string_equal(error.message, cases[i].message);
        arena_release(&memory);
    }
}

/* ---- patterns and formats ---- */

struct words {
    const char *code, *greeting, *when;
    mortise_list hosts, codes;
    bool seen_code, seen_greeting, seen_when, seen_hosts, seen_codes;
};
static const mortise_field words_fields[] = {
    FAKE_FIELD(words, code, MORTISE_STRING, .pattern = "^[A-Z]{2}[0-9]+$", .fallback = "\"AB1\""),
    FAKE_FIELD(words, greeting, MORTISE_STRING, .pattern = "h\xC3\xA9y"),
    FAKE_FIELD(words, when, MORTISE_STRING, .format = "date-time"),
    FAKE_FIELD(words, hosts, MORTISE_STRINGS, .format = "hostname", RANGE(1, 2)),
    FAKE_FIELD(words, codes, MORTISE_STRINGS, .pattern = "^[a-z]*$"),
};
FAKE_SHAPE(words, words_fields);

static void test_words_that_fit(void **state)
{
    (void)state;
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    const struct words *words = decode(
        &words_shape,
        "{\"greeting\":\"oh h\\u00e9y you\",\"when\":\"2030-01-31T18:00:00Z\","
        "\"hosts\":[\"example.org\",\"localhost\"],\"codes\":[\"\",\"abc\"]}",
        &memory, &error);
    assert_non_null(words);
    assert_string_equal(words->code, "AB1");
    assert_string_equal(words->when, "2030-01-31T18:00:00Z");
    assert_int_equal(words->hosts.count, 2);
    assert_string_equal(((const char *const *)words->codes.items)[1], "abc");
    arena_release(&memory);
}

/* T55: what was expected is said in words that a model can follow. */
static void test_words_that_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"code\":\"ab1\"}",
         BAD("'code' must match the pattern '^[A-Z]{2}[0-9]+$', got \"ab1\"")},
        {"{\"code\":\"AB1\\n\"}",
         BAD("'code' must match the pattern '^[A-Z]{2}[0-9]+$', got \"AB1\\n\"")},
        {"{\"code\":1}", BAD("'code' must be a string, got 1")},
        {"{\"when\":\"tomorrow\"}",
         BAD("'when' must be a date with a time and its offset, such as 2030-01-31T18:00:00Z, got "
             "\"tomorrow\"")},
        {"{\"hosts\":[\"a\",\"b c\"]}",
         BAD("'hosts[1]' must be the name of a host, got \"b c\"")},
        {"{\"hosts\":[]}", BAD("'hosts' must have 1 to 2 items, got 0")},
        {"{\"codes\":[\"a\",\"B\"]}",
         BAD("'codes[1]' must match the pattern '^[a-z]*$', got \"B\"")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena memory;
        struct error error = ERROR_INIT;
        arena_init(&memory, NULL, 0);
        assert_null(decode(&words_shape, cases[i].json, &memory, &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        assert_string_equal(error.message, cases[i].message);
        arena_release(&memory);
    }
}

/* A model cannot make a pattern run for ever: the argument is refused, with the reason. */
static void test_pattern_that_takes_too_long(void **state)
{
    (void)state;
    static const mortise_field slow = FAKE_FIELD(words, code, MORTISE_STRING, .pattern = "^(a+)+$");
    const mortise_shape shape = {.size = sizeof(shape),
                                 .struct_size = sizeof(struct words),
                                 .field_size = sizeof(slow),
                                 .field_count = 1,
                                 .fields = &slow};
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    assert_null(decode(&shape, "{\"code\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}",
                       &memory, &error));
    assert_int_equal(error.kind, ERROR_BAD_REQUEST);
    assert_memory_equal(error.message,
                        BAD("'code' cannot be compared with the pattern '^(a+)+$': "), 70);
    arena_release(&memory);
}

/* ---- what an author wrote ---- */

static void test_examples_fit_as_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"location\":\"Oslo\",\"days\":3,\"unit\":\"celsius\"}", NULL},
        {"{\"location\":\"Oslo\",\"days\":\"3\",\"unit\":\"celsius\"}",
         "'days' must be an integer, got \"3\""},
        {"{\"location\":\"Oslo\",\"unit\":\"celsius\"}", "'days' is required (an integer)"},
        {"[]", "the arguments must be an object, got []"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena memory;
        struct error error = ERROR_INIT;
        arena_init(&memory, NULL, 0);
        struct shape *shape = shape_new(&place_args_shape, &memory, &error);
        json_t *object = json_parse(cases[i].json, strlen(cases[i].json), NULL, NULL);
        assert_int_equal(decode_fits(shape, object, &error), cases[i].message == NULL);
        assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
        json_decref(object);
        shape_release(shape);
        arena_release(&memory);
    }
}

/* Everything that is wrong is told at once, a line for each. */
static void test_several_problems(void **state)
{
    (void)state;
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    assert_null(decode(&place_args_shape, "{\"loc\":\"Oslo\",\"days\":\"x\",\"unit\":null}",
                       &memory, &error));
    assert_string_equal(
        error.message,
        BAD("'location' is required (a string)\n") BAD("'days' must be an integer, got \"x\"\n")
            BAD("'unit' is required (one of \"celsius\", \"fahrenheit\"), got null\n")
                BAD("'loc' is not known (the arguments are 'location', 'days', 'unit')"));
    arena_release(&memory);
}

static void test_at_most_five_problems(void **state)
{
    (void)state;
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    assert_null(decode(&place_args_shape,
                       "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1}", &memory,
                       &error));
    size_t lines = 1;
    for (const char *c = error.message; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 5);
    arena_release(&memory);
}

static void test_no_arguments(void **state)
{
    (void)state;
    static const mortise_shape nothing = {
        .size = sizeof(nothing), .struct_size = 1, .field_size = sizeof(mortise_field)};
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    assert_non_null(decode(&nothing, "{}", &memory, &error)); /* T53 */
    assert_null(decode(&nothing, "{\"x\":1}", &memory, &error));
    assert_string_equal(error.message, BAD("'x' is not known (there are no arguments)"));
    arena_release(&memory);
}

/* A plugin that was built with a later, longer mortise_field. */
static void test_longer_fields(void **state)
{
    (void)state;
    static const struct {
        mortise_field field;
        void *later;
    } fields[] = {{.field = FAKE_FIELD(place_args, location, MORTISE_STRING, .flags = 0)},
                  {.field = FAKE_FIELD(place_args, days, MORTISE_INTEGER, .flags = 0)}};
    const mortise_shape shape = {.size = sizeof(shape),
                                 .struct_size = sizeof(struct place_args),
                                 .field_size = sizeof(fields[0]),
                                 .field_count = 2,
                                 .fields = &fields[0].field};
    struct arena memory;
    struct error error = ERROR_INIT;
    arena_init(&memory, NULL, 0);
    const struct place_args *args = decode(&shape, "{\"days\":3}", &memory, &error);
    assert_non_null(args);
    assert_int_equal(args->days, 3);
    assert_true(args->seen_days);
    arena_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_any_json),
        cmocka_unit_test(test_lossless_coercions),
        cmocka_unit_test(test_what_the_model_is_told),
        cmocka_unit_test(test_words_that_fit),
        cmocka_unit_test(test_words_that_do_not),
        cmocka_unit_test(test_pattern_that_takes_too_long),
        cmocka_unit_test(test_examples_fit_as_they_stand),
        cmocka_unit_test(test_several_problems),
        cmocka_unit_test(test_at_most_five_problems),
        cmocka_unit_test(test_no_arguments),
        cmocka_unit_test(test_longer_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
