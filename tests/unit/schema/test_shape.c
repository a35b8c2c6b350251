/* A plugin's table of arguments: F4-F7, F16, T51, T63. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "failing.h"
#include "schema/shape.h"

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" has no \"%s\"", (text), (part));                                      \
    } while (0)

struct value {
    const char *string;
    int64_t integer;
    double number;
    mortise_list list;
    bool boolean;
    bool seen;
};

/* A field that lies at the struct's start, whatever its kind. */
#define K(type) .name = "x", .kind = MORTISE_##type, .seen_offset = offsetof(struct value, seen)
#define SHAPE(table, count)                                                                        \
    {                                                                                              \
        .size = sizeof(mortise_shape), .struct_size = sizeof(struct value),                        \
        .field_size = sizeof(mortise_field), .field_count = (count), .fields = (table)             \
    }

static const mortise_field inner_fields[] = {{K(STRING), .flags = MORTISE_REQUIRED}};
static const mortise_shape inner = SHAPE(inner_fields, 1);
static const char *const colours[] = {"red", "a\"b", NULL};

static bool is_taken(const mortise_shape *table, struct error *error)
{
    struct arena memory;
    arena_init(&memory, NULL, 0);
    struct shape *shape = shape_new(table, &memory, error);
    shape_release(shape);
    arena_release(&memory);
    return shape != NULL;
}

/* ---- what is written ---- */

static void check_written(const mortise_shape *shape, const char *wanted)
{
    struct error error = ERROR_INIT;
    struct text text = TEXT_INIT;
    if (!is_taken(shape, &error))
        fail_msg("%s", error.message);
    shape_write_schema(shape, &text);
    assert_false(text.failed);
    assert_string_equal(text.data, wanted);
    text_release(&text);
}

static void test_no_arguments(void **state)
{
    (void)state;
    const mortise_shape shape = {.size = sizeof(shape), .field_size = sizeof(mortise_field)};
    check_written(&shape, "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}");
}

#define INNER                                                                                      \
    "\"properties\":{\"x\":{\"type\":\"string\"}},\"required\":[\"x\"],"                           \
    "\"additionalProperties\":false"

/* One field of each kind, with each option that it knows. */
static void test_each_kind(void **state)
{
    (void)state;
    const struct {
        mortise_field field;
        const char *wanted;
    } cases[] = {
        {{K(STRING)}, "{\"type\":\"string\"}"},
        {{K(STRING), .description = "A \"text\"\n\xFF"},
         "{\"type\":\"string\",\"description\":\"A \\\"text\\\"\\n\xEF\xBF\xBD\"}"},
        {{K(STRING), .flags = MORTISE_HAS_MIN | MORTISE_HAS_MAX, .min = 1, .max = 9},
         "{\"type\":\"string\",\"minLength\":1,\"maxLength\":9}"},
        {{K(STRING), .choices = colours, .fallback = "\"red\""},
         "{\"type\":\"string\",\"enum\":[\"red\",\"a\\\"b\"],\"default\":\"red\"}"},
        {{K(STRING), .pattern = "^\\d+\"$", .format = "date-time", .fallback = NULL},
         "{\"type\":\"string\",\"pattern\":\"^\\\\d+\\\"$\",\"format\":\"date-time\"}"},
        {{K(STRINGS), .pattern = "^a", .format = "uri", .flags = MORTISE_HAS_MIN, .min = 1},
         "{\"type\":\"array\",\"minItems\":1,"
         "\"items\":{\"type\":\"string\",\"pattern\":\"^a\",\"format\":\"uri\"}}"},
        {{K(INTEGER), .flags = MORTISE_HAS_MIN, .min = -0x1p63},
         "{\"type\":\"integer\",\"minimum\":-9223372036854775808}"},
        {{K(INTEGER), .flags = MORTISE_HAS_MAX, .max = 64, .fallback = "64"},
         "{\"type\":\"integer\",\"maximum\":64,\"default\":64}"},
        {{K(NUMBER), .flags = MORTISE_HAS_MIN | MORTISE_HAS_MAX, .min = 0.1, .max = 2,
          .fallback = "1e0"},
         "{\"type\":\"number\",\"minimum\":0.1,\"maximum\":2,\"default\":1.0}"},
        {{K(BOOLEAN), .fallback = "true"}, "{\"type\":\"boolean\",\"default\":true}"},
        {{K(JSON)}, "{}"},
        {{K(JSON), .description = "Any.", .fallback = " [1, {\"b\": 2, \"a\": null}] "},
         "{\"description\":\"Any.\",\"default\":[1,{\"b\":2,\"a\":null}]}"},
        {{K(STRINGS), .choices = colours, .flags = MORTISE_HAS_MAX, .max = 3,
          .fallback = "[\"red\"]"},
         "{\"type\":\"array\",\"maxItems\":3,\"default\":[\"red\"],"
         "\"items\":{\"type\":\"string\",\"enum\":[\"red\",\"a\\\"b\"]}}"},
        {{K(INTEGERS), .fallback = "[]"},
         "{\"type\":\"array\",\"default\":[],\"items\":{\"type\":\"integer\"}}"},
        {{K(NUMBERS)}, "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}"},
        {{K(BOOLEANS), .flags = MORTISE_HAS_MIN, .min = 0},
         "{\"type\":\"array\",\"minItems\":0,\"items\":{\"type\":\"boolean\"}}"},
        {{K(RECORDS), .record = &inner, .description = "Some."},
         "{\"type\":\"array\",\"description\":\"Some.\",\"items\":{\"type\":\"object\"," INNER
         "}}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const mortise_shape shape = SHAPE(&cases[i].field, 1);
        char wanted[512];
        snprintf(wanted, sizeof(wanted),
                 "{\"type\":\"object\",\"properties\":{\"x\":%s},\"additionalProperties\":false}",
                 cases[i].wanted);
        check_written(&shape, wanted);
    }
}

struct outer {
    struct value inner;
    int64_t count;
    bool inner_seen, count_seen;
};

static void test_record_in_place(void **state)
{
    (void)state;
    const mortise_field fields[] = {
        {.name = "inner",
         .description = "One.",
         .kind = MORTISE_OBJECT,
         .record = &inner,
         .flags = MORTISE_REQUIRED,
         .offset = offsetof(struct outer, inner),
         .seen_offset = offsetof(struct outer, inner_seen)},
        {.name = "count",
         .kind = MORTISE_INTEGER,
         .flags = MORTISE_REQUIRED,
         .offset = offsetof(struct outer, count),
         .seen_offset = offsetof(struct outer, count_seen)},
    };
    const mortise_shape shape = {.size = sizeof(shape),
                                 .struct_size = sizeof(struct outer),
                                 .field_size = sizeof(mortise_field),
                                 .field_count = 2,
                                 .fields = fields};
    check_written(&shape, "{\"type\":\"object\",\"properties\":{"
                          "\"inner\":{\"type\":\"object\",\"description\":\"One.\"," INNER "},"
                          "\"count\":{\"type\":\"integer\"}},"
                          "\"required\":[\"inner\",\"count\"],\"additionalProperties\":false}");
}

/* A plugin of a later version has larger fields: the table is walked by its own stride. */
static void test_larger_fields_of_a_newer_author(void **state)
{
    (void)state;
    struct newer {
        mortise_field field;
        double more[2];
    } fields[] = {{.field = {K(STRING)}}, {.field = {K(BOOLEAN)}}};
    fields[1].field.name = "y";
    const mortise_shape shape = {.size = sizeof(shape),
                                 .struct_size = sizeof(struct value),
                                 .field_size = sizeof(struct newer),
                                 .field_count = 2,
                                 .fields = &fields[0].field};
    check_written(&shape, "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"},"
                          "\"y\":{\"type\":\"boolean\"}},\"additionalProperties\":false}");
}

/* What is behind the fields of an older author is not theirs. */
static void test_smaller_fields_of_an_older_author(void **state)
{
    (void)state;
    struct older {
        char before_pattern[offsetof(mortise_field, pattern)];
    } fields[2];
    const mortise_field field = {K(STRING)}, other = {K(BOOLEAN)};
    memset(fields, 0xFF, sizeof(fields));
    memcpy(&fields[0], &field, sizeof(fields[0]));
    memcpy(&fields[1], &other, sizeof(fields[1]));
    mortise_shape shape = {.size = sizeof(shape),
                           .struct_size = sizeof(struct value),
                           .field_size = sizeof(fields[0]),
                           .field_count = 1,
                           .fields = (const void *)fields};
    check_written(&shape, "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}},"
                          "\"additionalProperties\":false}");
}

/* T4: the table is read once; what its author does with it later is nothing to the host. */
static void test_table_is_copied(void **state)
{
    (void)state;
    char name[] = "x", choice[] = "a", regex[] = "^a$", format[] = "hostname", fallback[] = "\"a\"";
    const char *choices[] = {choice, NULL};
    mortise_field field = {.name = name, .kind = MORTISE_STRING,
                           .seen_offset = offsetof(struct value, seen), .choices = choices,
                           .pattern = regex, .format = format, .fallback = fallback};
    mortise_shape table = SHAPE(&field, 1);
    struct error error = ERROR_INIT;
    struct arena memory;
    arena_init(&memory, NULL, 0);
    struct shape *shape = shape_new(&table, &memory, &error);
    assert_non_null(shape);
    name[0] = choice[0] = regex[0] = format[0] = fallback[0] = '?';
    choices[0] = NULL;
    memset(&field, 0xFF, sizeof(field));
    memset(&table, 0xFF, sizeof(table));
    const struct shape_field *kept = &shape->fields[0];
    assert_string_equal(kept->name, "x");
    assert_string_equal(kept->choices[0], "a");
    assert_null(kept->choices[1]);
    assert_string_equal(kept->regex, "^a$");
    assert_string_equal(kept->format, "hostname");
    assert_string_equal(json_string_value(kept->fallback), "a");
    assert_int_equal(shape->field_count, 1);
    shape_release(shape);
    arena_release(&memory);
}

/* ---- what is refused ---- */

static const char *const no_choices[] = {NULL};

static void test_bad_fields(void **state)
{
    (void)state;
    const struct {
        mortise_field field;
        const char *why;
    } cases[] = {
        {{.name = NULL, .kind = MORTISE_STRING}, "argument 0 has no name"},
        {{.name = "", .kind = MORTISE_STRING}, "argument 0 has the name ''"},
        {{.name = "two words", .kind = MORTISE_STRING}, "argument 0 has the name 'two words'"},
        {{.name = "x", .kind = 0}, "is of a kind that this host does not know: update"},
        {{.name = "x", .kind = 12}, "is of a kind that this host does not know: update"},
        {{K(STRING), .flags = 1u << 9}, "has a flag that this host does not know: update"},
        {{K(STRING), .offset = sizeof(struct value) - 4}, "lies outside its struct"},
        {{K(STRING), .offset = UINT32_MAX}, "lies outside its struct"},
        {{.name = "x", .kind = MORTISE_STRING, .seen_offset = sizeof(struct value)},
         "has a 'seen' outside its struct"},
        {{.name = "x", .kind = MORTISE_STRING}, "has a 'seen' inside its own value"},
        {{K(BOOLEAN), .flags = MORTISE_HAS_MIN}, "has a range, but its kind has none"},
        {{K(JSON), .flags = MORTISE_HAS_MAX}, "has a range, but its kind has none"},
        {{K(NUMBER), .flags = MORTISE_HAS_MIN, .min = NAN}, "has a range that is no number"},
        {{K(NUMBER), .flags = MORTISE_HAS_MAX, .max = INFINITY}, "has a range that is no number"},
        {{K(NUMBER), .flags = MORTISE_HAS_MIN | MORTISE_HAS_MAX, .min = 2, .max = 1},
         "whose minimum is above its maximum"},
        {{K(INTEGER), .flags = MORTISE_HAS_MIN, .min = 0.5}, "must be of integers"},
        {{K(INTEGER), .flags = MORTISE_HAS_MAX, .max = 1e30}, "must be of integers"},
        {{K(STRING), .flags = MORTISE_HAS_MIN, .min = -1}, "has a length below 0"},
        {{K(INTEGER), .choices = colours}, "has choices, which only strings can have"},
        {{K(STRING), .choices = no_choices}, "has an empty list of choices"},
        {{K(STRING), .flags = MORTISE_REQUIRED, .fallback = "\"a\""}, "is required and has a"},
        {{K(STRING), .fallback = "red"}, "has the fallback red, which is no JSON"},
        {{K(STRING), .fallback = "1"}, "has a fallback that does not fit: 'x' must be a string, got 1"},
        {{K(STRING), .fallback = "\"a\\u0000b\""}, "'x' must not hold a NUL"},
        {{K(INTEGER), .fallback = "1.5"}, "'x' must be an integer, got 1.5"},
        {{K(INTEGER), .fallback = "\"1\""}, "'x' must be an integer, got \"1\""},
        {{K(BOOLEAN), .fallback = "1"}, "'x' must be true or false, got 1"},
        {{K(BOOLEAN), .fallback = "\"true\""}, "'x' must be true or false, got \"true\""},
        {{K(STRINGS), .fallback = "[1]"}, "'x[0]' must be a string, got 1"},
        {{K(INTEGERS), .fallback = "1"}, "'x' must be a list of integers, got 1"},
        {{K(RECORDS), .record = &inner, .fallback = "[{}]"}, "'x[0].x' is required (a string)"},
        {{K(OBJECT), .record = &inner}, "outside its struct"},
        {{K(INTEGER), .flags = MORTISE_HAS_MAX, .max = 5, .fallback = "6"}, "'x' must be at most 5, got 6"},
        {{K(INTEGER), .flags = MORTISE_HAS_MIN, .min = 0x1p53, .fallback = "9007199254740991"},
         "'x' must be at least 9007199254740992, got 9007199254740991"},
        {{K(STRING), .flags = MORTISE_HAS_MIN, .min = 3, .fallback = "\"\u00e4b\""},
         "'x' must have at least 3 characters, got 2"},
        {{K(NUMBERS), .flags = MORTISE_HAS_MAX, .max = 1, .fallback = "[1,2]"},
         "'x' must have at most 1 item, got 2"},
        {{K(STRING), .choices = colours, .fallback = "\"blue\""}, "'x' must be one of \"red\", "},
        {{K(STRINGS), .choices = colours, .fallback = "[\"red\",\"x\"]"}, "'x[1]' must be one of"},
        {{K(STRING), .pattern = "^(a"},
         "argument 'x' cannot be checked: the pattern '^(a' is not valid: missing closing parenthesis"},
        {{K(STRING), .pattern = "\xFF"}, "has a pattern that is not valid UTF-8"},
        {{K(INTEGER), .pattern = "1"}, "has a pattern, which only strings can have"},
        {{K(STRING), .pattern = "^[a-z]$", .fallback = "\"ab\""},
         "has a fallback that does not fit: 'x' must match the pattern '^[a-z]$', got \"ab\""},
        {{K(STRING), .format = "date_time"},
         "has the format 'date_time', which this host does not know: there are date-time, date"},
        {{K(NUMBERS), .format = "date"}, "has a format, which only strings can have"},
        {{K(STRINGS), .format = "date", .fallback = "[\"2030-02-30\"]"},
         "'x[0]' must be a date, such as 2030-01-31, got \"2030-02-30\""},
        {{K(RECORDS)}, "has no record that describes it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        mortise_shape shape = SHAPE(&cases[i].field, 1);
        struct error error = ERROR_INIT;
        if (cases[i].field.kind == MORTISE_OBJECT)
            shape.struct_size = sizeof(struct value) - 1;
        if (is_taken(&shape, &error))
            fail_msg("case %zu was taken, not refused: %s", i, cases[i].why);
        assert_has(error.message, cases[i].why);
        assert_int_equal(error.kind, ERROR_PLUGIN);
    }
}

static void bad_shape(const mortise_shape *shape, const char *why)
{
    struct error error = ERROR_INIT;
    assert_false(is_taken(shape, &error));
    assert_has(error.message, why);
}

static void test_bad_tables(void **state)
{
    (void)state;
    const mortise_field twice[] = {{K(STRING)}, {K(STRING)}};
    mortise_shape shape = SHAPE(twice, 2);
    bad_shape(&shape, "argument 'x' occurs twice");
    shape.fields = NULL;
    bad_shape(&shape, "its table of arguments is cut short");
    shape.fields = twice;
    shape.field_size = 16;
    bad_shape(&shape, "its table of arguments is cut short");
    shape.field_size = sizeof(mortise_field) + 1;
    bad_shape(&shape, "its table of arguments is cut short");
    shape.field_size = sizeof(mortise_field);
    shape.size = 8;
    bad_shape(&shape, "its table of arguments is cut short");
    shape.size = sizeof(shape);
    shape.field_count = SHAPE_MAX_FIELDS + 1;
    bad_shape(&shape, "it has more than 1024 arguments");
    shape.struct_size = UINT32_MAX;
    bad_shape(&shape, "too large");
}

/* A record that contains itself, and one whose schema would have 4^16 fields. */
static void test_endless_records(void **state)
{
    (void)state;
    mortise_field field = {K(RECORDS)};
    mortise_shape shape = SHAPE(&field, 1);
    field.record = &shape;
    bad_shape(&shape, "in argument 'x': its records are nested more than 16 deep, or contain");

    static const char *const names[] = {"a", "b", "c", "d"};
    mortise_field fields[8][4];
    mortise_shape shapes[8];
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < 4; k++) {
            const mortise_field last = {K(STRING)}, link = {K(RECORDS)};
            fields[i][k] = i == 7 ? last : link;
            fields[i][k].name = names[k];
            fields[i][k].record = i == 7 ? NULL : &shapes[i + 1];
        }
        const mortise_shape one = SHAPE(fields[i], 4);
        shapes[i] = one;
    }
    bad_shape(&shapes[0], "it has more than 1024 arguments");
}

/* Whatever allocation fails, nothing is lost and the reason is memory. */
static void test_no_memory(void **state)
{
    (void)state;
    const mortise_field fields[] = {
        {K(STRING), .pattern = "^r", .format = "hostname", .choices = colours,
         .fallback = "\"red\""},
        {.name = "y", .kind = MORTISE_OBJECT, .record = &inner,
         .seen_offset = sizeof(struct value)}};
    const mortise_shape shape = {.size = sizeof(shape),
                                 .struct_size = sizeof(struct value) + 8,
                                 .field_size = sizeof(fields[0]),
                                 .field_count = 2,
                                 .fields = fields};
    int n = 0;
    for (bool failed = true; failed; n++) {
        struct error error = ERROR_INIT;
        fail_after(n);
        bool taken = is_taken(&shape, &error);
        failed = fail_never();
        assert_int_equal(taken, !failed);
        assert_string_equal(error.message, failed ? "out of memory" : "");
        assert_true(n < 1000);
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_arguments),
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_record_in_place),
        cmocka_unit_test(test_larger_fields_of_a_newer_author),
        cmocka_unit_test(test_smaller_fields_of_an_older_author),
        cmocka_unit_test(test_table_is_copied),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_endless_records),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
