#include "cmocka_all.h"

#include <math.h>

#include "base/text.h"
#include "plugin/schema.h"

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

/* ---- what is written ---- */

static void check_written(const mortise_shape *shape, const char *wanted)
{
    struct error error = ERROR_INIT;
    struct text text = TEXT_INIT;
    if (!shape_check(shape, &error))
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
        {{K(STRING), .fallback = "red"}, "has a fallback that is no JSON"},
        {{K(STRING), .fallback = "1"}, "has a fallback of another kind"},
        {{K(STRING), .fallback = "\"a\\u0000b\""}, "has a fallback of another kind"},
        {{K(INTEGER), .fallback = "1.5"}, "has a fallback of another kind"},
        {{K(BOOLEAN), .fallback = "1"}, "has a fallback of another kind"},
        {{K(STRINGS), .fallback = "[1]"}, "has a fallback of another kind"},
        {{K(INTEGERS), .fallback = "1"}, "has a fallback of another kind"},
        {{K(OBJECT), .record = &inner}, "outside its struct"},
        {{K(INTEGER), .flags = MORTISE_HAS_MAX, .max = 5, .fallback = "6"}, "outside its range"},
        {{K(INTEGER), .flags = MORTISE_HAS_MIN, .min = 0x1p53, .fallback = "9007199254740991"},
         "outside its range"},
        {{K(STRING), .flags = MORTISE_HAS_MIN, .min = 3, .fallback = "\"ab\""}, "its range"},
        {{K(NUMBERS), .flags = MORTISE_HAS_MAX, .max = 1, .fallback = "[1,2]"}, "its range"},
        {{K(STRING), .choices = colours, .fallback = "\"blue\""}, "that is none of its choices"},
        {{K(STRINGS), .choices = colours, .fallback = "[\"red\",\"x\"]"}, "none of its choices"},
        {{K(RECORDS)}, "has no record that describes it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        mortise_shape shape = SHAPE(&cases[i].field, 1);
        struct error error = ERROR_INIT;
        if (cases[i].field.kind == MORTISE_OBJECT)
            shape.struct_size = sizeof(struct value) - 1;
        if (shape_check(&shape, &error))
            fail_msg("case %zu was taken, not refused: %s", i, cases[i].why);
        assert_has(error.message, cases[i].why);
        assert_int_equal(error.kind, ERROR_PLUGIN);
    }
}

static void bad_shape(const mortise_shape *shape, const char *why)
{
    struct error error = ERROR_INIT;
    assert_false(shape_check(shape, &error));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_arguments),
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_record_in_place),
        cmocka_unit_test(test_larger_fields_of_a_newer_author),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_endless_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
