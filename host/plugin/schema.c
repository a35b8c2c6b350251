#include "plugin/schema.h"

#include <math.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"

#define MAX_NAME        ((size_t)64)
#define MAX_STRUCT_SIZE (1u << 20)
#define MAX_CHOICES     1024
#define KNOWN_FLAGS     (MORTISE_REQUIRED | MORTISE_HAS_MIN | MORTISE_HAS_MAX)

/* What a kind is in the struct, in JSON, and what its options mean. */
static const struct kind {
    const char *json;      /* "type"; NULL: any value */
    const char *item;      /* "type" of the items of a list of values */
    const char *min, *max; /* NULL: no range */
    size_t bytes;          /* of the value; 0: the record's own */
    bool has_record;
    bool has_choices;
} kinds[] = {
    [MORTISE_STRING] = {"string", NULL, "minLength", "maxLength", sizeof(char *), false, true},
    [MORTISE_INTEGER] = {"integer", NULL, "minimum", "maximum", sizeof(int64_t), false, false},
    [MORTISE_NUMBER] = {"number", NULL, "minimum", "maximum", sizeof(double), false, false},
    [MORTISE_BOOLEAN] = {"boolean", NULL, NULL, NULL, sizeof(bool), false, false},
    [MORTISE_JSON] = {NULL, NULL, NULL, NULL, sizeof(char *), false, false},
    [MORTISE_OBJECT] = {"object", NULL, NULL, NULL, 0, true, false},
    [MORTISE_STRINGS] = {"array", "string", "minItems", "maxItems", sizeof(mortise_list), false,
                         true},
    [MORTISE_INTEGERS] = {"array", "integer", "minItems", "maxItems", sizeof(mortise_list), false,
                          false},
    [MORTISE_NUMBERS] = {"array", "number", "minItems", "maxItems", sizeof(mortise_list), false,
                         false},
    [MORTISE_BOOLEANS] = {"array", "boolean", "minItems", "maxItems", sizeof(mortise_list), false,
                          false},
    [MORTISE_RECORDS] = {"array", NULL, "minItems", "maxItems", sizeof(mortise_list), true, false},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const mortise_field *shape_field(const mortise_shape *shape, uint32_t index)
{
    const void *field = (const char *)shape->fields + (size_t)index * shape->field_size;
    return field;
}

/* ---- checking: one field ---- */

static bool wrong(const mortise_field *field, const char *problem, struct error *error)
{
    return error_set(error, ERROR_PLUGIN, "argument '%s' %s", field->name, problem);
}

/* What the providers accept as the name of a property. */
static bool is_name(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = strnlen(name, MAX_NAME + 1);
    return length > 0 && length <= MAX_NAME && strspn(name, allowed) == length;
}

static bool check_place(const mortise_shape *shape, const mortise_field *field, struct error *error)
{
    size_t bytes = kinds[field->kind].bytes ? kinds[field->kind].bytes : field->record->struct_size;
    if (bytes > shape->struct_size || field->offset > shape->struct_size - bytes)
        return wrong(field, "lies outside its struct: its offset is wrong", error);
    if (field->seen_offset >= shape->struct_size)
        return wrong(field, "has a 'seen' outside its struct: its seen_offset is wrong", error);
    if (field->seen_offset >= field->offset && field->seen_offset - field->offset < bytes)
        return wrong(field, "has a 'seen' inside its own value: its seen_offset is wrong", error);
    return true;
}

static bool is_integral(double value)
{
    if (!(value >= -0x1p63 && value < 0x1p63)) /* the cast would be undefined */
        return value == 0x1p63;
    return (double)(int64_t)value == value;
}

static bool check_range(const mortise_field *field, struct error *error)
{
    bool has_min = field->flags & MORTISE_HAS_MIN, has_max = field->flags & MORTISE_HAS_MAX;
    if (!has_min && !has_max)
        return true;
    if (!kinds[field->kind].min)
        return wrong(field, "has a range, but its kind has none", error);
    if ((has_min && !isfinite(field->min)) || (has_max && !isfinite(field->max)))
        return wrong(field, "has a range that is no number", error);
    if (has_min && has_max && field->min > field->max)
        return wrong(field, "has a range whose minimum is above its maximum", error);
    if (field->kind == MORTISE_NUMBER)
        return true;
    if ((has_min && !is_integral(field->min)) || (has_max && !is_integral(field->max)))
        return wrong(field, "has a range that must be of integers", error);
    if (field->kind != MORTISE_INTEGER &&
        ((has_min && field->min < 0) || (has_max && field->max < 0)))
        return wrong(field, "has a length below 0", error);
    return true;
}

static bool check_choices(const mortise_field *field, struct error *error)
{
    if (!field->choices)
        return true;
    if (!kinds[field->kind].has_choices)
        return wrong(field, "has choices, which only strings can have", error);
    size_t count = 0;
    while (count <= MAX_CHOICES && field->choices[count])
        count++;
    if (!count)
        return wrong(field, "has an empty list of choices", error);
    if (count > MAX_CHOICES)
        return wrong(field, "has too many choices, or their list does not end with NULL", error);
    return true;
}

/* ---- checking: the fallback ---- */

static bool is_plain_string(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static bool is_list_of(const json_t *value, mortise_kind kind);

static bool is_of_kind(const json_t *value, mortise_kind kind)
{
    switch (kind) {
    case MORTISE_STRING:
        return is_plain_string(value);
    case MORTISE_INTEGER:
        return json_is_integer(value);
    case MORTISE_NUMBER:
        return json_is_number(value);
    case MORTISE_BOOLEAN:
        return json_is_boolean(value);
    case MORTISE_OBJECT:
        return json_is_object(value);
    case MORTISE_STRINGS:
        return is_list_of(value, MORTISE_STRING);
    case MORTISE_INTEGERS:
        return is_list_of(value, MORTISE_INTEGER);
    case MORTISE_NUMBERS:
        return is_list_of(value, MORTISE_NUMBER);
    case MORTISE_BOOLEANS:
        return is_list_of(value, MORTISE_BOOLEAN);
    case MORTISE_RECORDS:
        return is_list_of(value, MORTISE_OBJECT);
    default: /* MORTISE_JSON */
        return true;
    }
}

static bool is_list_of(const json_t *value, mortise_kind kind)
{
    if (!json_is_array(value))
        return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_of_kind(json_array_get(value, i), kind))
            return false;
    return true;
}

/* Integers are compared as such: above 2^53 a double would round them. */
static bool is_in_range(const mortise_field *field, const json_t *value)
{
    bool has_min = field->flags & MORTISE_HAS_MIN, has_max = field->flags & MORTISE_HAS_MAX;
    if (field->kind == MORTISE_INTEGER) {
        json_int_t number = json_integer_value(value);
        return !(has_min && field->min >= -0x1p63 &&
                 (field->min >= 0x1p63 || number < (json_int_t)field->min)) &&
               !(has_max && field->max < 0x1p63 && number > (json_int_t)field->max);
    }
    double number = json_is_string(value)  ? (double)json_string_length(value)
                    : json_is_array(value) ? (double)json_array_size(value)
                                           : json_number_value(value);
    return !(has_min && number < field->min) && !(has_max && number > field->max);
}

static bool is_choice(const mortise_field *field, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_choice(field, json_array_get(value, i)))
            return false;
    if (!json_is_string(value))
        return true;
    for (const char *const *choice = field->choices; *choice; choice++)
        if (strcmp(*choice, json_string_value(value)) == 0)
            return true;
    return false;
}

static bool check_fallback(const mortise_field *field, struct error *error)
{
    if (!field->fallback)
        return true;
    if (field->flags & MORTISE_REQUIRED)
        return wrong(field, "is required and has a fallback: it can be only one", error);
    struct error problem = ERROR_INIT;
    json_t *value = json_parse(field->fallback, strlen(field->fallback), NULL, &problem);
    if (!value && problem.kind == ERROR_INTERNAL)
        return error_memory(error);

    const char *complaint = NULL;
    if (!value)
        complaint = "has a fallback that is no JSON";
    else if (!is_of_kind(value, field->kind))
        complaint = "has a fallback of another kind";
    else if (kinds[field->kind].min && !is_in_range(field, value))
        complaint = "has a fallback outside its range";
    else if (field->choices && !is_choice(field, value))
        complaint = "has a fallback that is none of its choices";
    json_decref(value);
    return !complaint || wrong(field, complaint, error);
}

/* ---- checking: the table ---- */

static bool check_shape(const mortise_shape *shape, unsigned depth, size_t *total,
                        struct error *error);

static bool check_record(const mortise_field *field, unsigned depth, size_t *total,
                         struct error *error)
{
    if (!kinds[field->kind].has_record)
        return true;
    if (!field->record)
        return wrong(field, "has no record that describes it", error);
    if (!check_shape(field->record, depth + 1, total, error)) {
        if (error && error->kind == ERROR_PLUGIN && depth == 1) /* enough to find it */
            error_prefix(error, "in argument '%s'", field->name);
        return false;
    }
    return true;
}

static bool is_unique(const mortise_shape *shape, uint32_t index)
{
    const char *name = shape_field(shape, index)->name;
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(shape_field(shape, i)->name, name) == 0)
            return false;
    return true;
}

static bool check_field(const mortise_shape *shape, uint32_t index, unsigned depth, size_t *total,
                        struct error *error)
{
    const mortise_field *field = shape_field(shape, index);
    if (!field->name)
        return error_set(error, ERROR_PLUGIN, "argument %u has no name", (unsigned)index);
    if (!is_name(field->name))
        return error_set(error, ERROR_PLUGIN,
                         "argument %u has the name '%.80s': a name is 1 to 64 of A-Z a-z 0-9 _ . -",
                         (unsigned)index, field->name);
    if (!is_unique(shape, index))
        return wrong(field, "occurs twice", error);
    if (field->kind == 0 || field->kind >= KIND_COUNT)
        return wrong(field, "is of a kind that this host does not know: update mortise", error);
    if (field->flags & ~(uint32_t)KNOWN_FLAGS)
        return wrong(field, "has a flag that this host does not know: update mortise", error);
    return check_record(field, depth, total, error) && check_place(shape, field, error) &&
           check_range(field, error) && check_choices(field, error) && check_fallback(field, error);
}

/* `total` counts the fields as they are inlined: records that share records could make a
 * schema of any size. */
static bool check_shape(const mortise_shape *shape, unsigned depth, size_t *total,
                        struct error *error)
{
    if (depth > SHAPE_MAX_DEPTH)
        return error_set(error, ERROR_PLUGIN,
                         "its records are nested more than %d deep, or contain themselves",
                         SHAPE_MAX_DEPTH);
    if (!MORTISE_HAS(shape, mortise_shape, fields) ||
        !(shape->field_size >= offsetof(mortise_field, record) + sizeof(void *)) ||
        shape->field_size % alignof(mortise_field) != 0 || (shape->field_count && !shape->fields))
        return error_set(error, ERROR_PLUGIN, "its table of arguments is cut short");
    if (shape->struct_size > MAX_STRUCT_SIZE)
        return error_set(error, ERROR_PLUGIN, "its arguments need a struct of %u bytes: too large",
                         (unsigned)shape->struct_size);
    if (shape->field_count > SHAPE_MAX_FIELDS || *total > SHAPE_MAX_FIELDS - shape->field_count)
        return error_set(error, ERROR_PLUGIN, "it has more than %d arguments", SHAPE_MAX_FIELDS);
    *total += shape->field_count;
    for (uint32_t i = 0; i < shape->field_count; i++)
        if (!check_field(shape, i, depth, total, error))
            return false;
    return true;
}

bool shape_check(const mortise_shape *shape, struct error *error)
{
    size_t total = 0;
    return check_shape(shape, 1, &total, error);
}

/* ---- writing ---- */

static void write_object(const mortise_shape *shape, const char *description, struct text *out);

static void write_string(struct text *out, const char *string)
{
    text_json_string(out, string, strlen(string));
}

/* A member with the comma before it, if one is needed. */
static void write_key(struct text *out, const char *key)
{
    if (out->length && out->data[out->length - 1] != '{')
        text_putc(out, ',');
    write_string(out, key);
    text_putc(out, ':');
}

static void write_text(struct text *out, const char *key, const char *value)
{
    if (!value)
        return;
    write_key(out, key);
    write_string(out, value);
}

/* Printed by jansson, because printf() writes what the locale of the moment says. */
static void write_number(struct text *out, double number)
{
    if (is_integral(number)) {
        text_printf(out, "%.0f", number);
        return;
    }
    json_t *value = json_real(number);
    if (value)
        text_json(out, value);
    else
        out->failed = true;
    json_decref(value);
}

static void write_choices(const mortise_field *field, struct text *out)
{
    if (!field->choices)
        return;
    write_key(out, "enum");
    for (const char *const *choice = field->choices; *choice; choice++) {
        text_putc(out, choice == field->choices ? '[' : ',');
        write_string(out, *choice);
    }
    text_putc(out, ']');
}

static void write_default(const mortise_field *field, struct text *out)
{
    if (!field->fallback)
        return;
    json_t *value = json_parse(field->fallback, strlen(field->fallback), NULL, NULL);
    write_key(out, "default");
    if (!value)
        out->failed = true; /* it was checked: there is no memory */
    else
        text_json(out, value);
    json_decref(value);
}

static void write_items(const mortise_field *field, struct text *out)
{
    const struct kind *kind = &kinds[field->kind];
    if (!kind->item && field->kind != MORTISE_RECORDS)
        return;
    write_key(out, "items");
    text_putc(out, '{');
    if (field->kind == MORTISE_RECORDS) {
        write_object(field->record, NULL, out);
    } else {
        write_text(out, "type", kind->item);
        write_choices(field, out);
    }
    text_putc(out, '}');
}

static void write_field(const mortise_field *field, struct text *out)
{
    const struct kind *kind = &kinds[field->kind];
    text_putc(out, '{');
    if (field->kind == MORTISE_OBJECT) {
        write_object(field->record, field->description, out);
    } else {
        write_text(out, "type", kind->json);
        write_text(out, "description", field->description);
    }
    if (field->flags & MORTISE_HAS_MIN) {
        write_key(out, kind->min);
        write_number(out, field->min);
    }
    if (field->flags & MORTISE_HAS_MAX) {
        write_key(out, kind->max);
        write_number(out, field->max);
    }
    if (field->kind == MORTISE_STRING)
        write_choices(field, out);
    write_default(field, out);
    write_items(field, out);
    text_putc(out, '}');
}

/* The members of an object's schema, without its braces. */
static void write_object(const mortise_shape *shape, const char *description, struct text *out)
{
    write_text(out, "type", "object");
    write_text(out, "description", description);
    write_key(out, "properties");
    text_putc(out, '{');
    for (uint32_t i = 0; i < shape->field_count; i++) {
        write_key(out, shape_field(shape, i)->name);
        write_field(shape_field(shape, i), out);
    }
    text_putc(out, '}');

    bool any = false;
    for (uint32_t i = 0; i < shape->field_count; i++) {
        const mortise_field *field = shape_field(shape, i);
        if (!(field->flags & MORTISE_REQUIRED))
            continue;
        if (any)
            text_putc(out, ',');
        else
            text_puts(out, ",\"required\":[");
        write_string(out, field->name);
        any = true;
    }
    if (any)
        text_putc(out, ']');
    text_puts(out, ",\"additionalProperties\":false");
}

void shape_write_schema(const mortise_shape *shape, struct text *out)
{
    text_putc(out, '{');
    write_object(shape, NULL, out);
    text_putc(out, '}');
}
