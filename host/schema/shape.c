#include "schema/shape.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "schema/decode.h"
#include "schema/format.h"

#define MAX_NAME        ((size_t)64)
#define MAX_STRUCT_SIZE (1u << 20)
#define MAX_CHOICES     ((size_t)1024)
#define KNOWN_FLAGS     (MORTISE_REQUIRED | MORTISE_HAS_MIN | MORTISE_HAS_MAX)
#define QUOTE_BYTES     60

/* What a kind is in the struct, and which options it can have. */
static const struct kind {
    size_t bytes; /* of the value; 0: the record's own */
    enum { NO_LIMITS, VALUE_LIMITS, LENGTH_LIMITS } limits;
    bool has_record;
    bool of_strings;
} kinds[] = {
    [MORTISE_STRING] = {sizeof(char *), LENGTH_LIMITS, false, true},
    [MORTISE_INTEGER] = {sizeof(int64_t), VALUE_LIMITS, false, false},
    [MORTISE_NUMBER] = {sizeof(double), VALUE_LIMITS, false, false},
    [MORTISE_BOOLEAN] = {sizeof(bool), NO_LIMITS, false, false},
    [MORTISE_JSON] = {sizeof(char *), NO_LIMITS, false, false},
    [MORTISE_OBJECT] = {0, NO_LIMITS, true, false},
    [MORTISE_STRINGS] = {sizeof(mortise_list), LENGTH_LIMITS, false, true},
    [MORTISE_INTEGERS] = {sizeof(mortise_list), LENGTH_LIMITS, false, false},
    [MORTISE_NUMBERS] = {sizeof(mortise_list), LENGTH_LIMITS, false, false},
    [MORTISE_BOOLEANS] = {sizeof(mortise_list), LENGTH_LIMITS, false, false},
    [MORTISE_RECORDS] = {sizeof(mortise_list), LENGTH_LIMITS, true, false},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* `total` counts the fields as they are inlined: records that share records could make a
 * schema of any size. */
struct builder {
    struct arena *memory;
    size_t total;
    struct error *error;
};

static bool build(struct builder *builder, const mortise_shape *table, unsigned depth,
                  struct shape *shape);

mortise_field shape_read_field(const mortise_shape *table, uint32_t index)
{
    mortise_field field = {.name = NULL};
    size_t known = table->field_size < sizeof(field) ? table->field_size : sizeof(field);
    memcpy(&field, (const char *)table->fields + (size_t)index * table->field_size, known);
    return field;
}

static bool wrong(struct builder *builder, const struct shape_field *field, const char *problem)
{
    return error_set(builder->error, ERROR_PLUGIN, "argument '%s' %s", field->name, problem);
}

/* The same with the first of the reasons. */
static bool wrong_because(struct builder *builder, const struct shape_field *field,
                          const char *problem, const struct error *reason)
{
    if (reason->kind == ERROR_INTERNAL)
        return error_memory(builder->error);
    return error_set(builder->error, reason->kind == ERROR_CONFIG ? ERROR_CONFIG : ERROR_PLUGIN,
                     "argument '%s' %s: %.*s", field->name, problem,
                     (int)strcspn(reason->message, "\n"), reason->message);
}

/* False without memory.  NULL stays NULL. */
static bool copy(struct builder *builder, const char *from, const char **to)
{
    *to = from ? arena_copy(builder->memory, from, strlen(from)) : NULL;
    return !from || *to || error_memory(builder->error);
}

/* ---- one field ---- */

/* What the providers accept as the name of a property. */
static bool is_name(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = strnlen(name, MAX_NAME + 1);
    return length > 0 && length <= MAX_NAME && strspn(name, allowed) == length;
}

static bool add_name(struct builder *builder, const mortise_field *from, const struct shape *shape,
                     struct shape_field *to)
{
    unsigned index = (unsigned)(to - shape->fields);
    if (!from->name)
        return error_set(builder->error, ERROR_PLUGIN, "argument %u has no name", index);
    if (!is_name(from->name))
        return error_set(builder->error, ERROR_PLUGIN,
                         "argument %u has the name '%.80s': a name is 1 to 64 of A-Z a-z 0-9 _ . -",
                         index, from->name);
    if (!copy(builder, from->name, &to->name))
        return false;
    to->name_length = strlen(to->name);
    for (const struct shape_field *other = shape->fields; other < to; other++)
        if (strcmp(other->name, to->name) == 0)
            return wrong(builder, to, "occurs twice");
    return true;
}

static bool add_kind(struct builder *builder, const mortise_field *from, struct shape_field *to)
{
    if (from->kind == 0 || from->kind >= KIND_COUNT)
        return wrong(builder, to, "is of a kind that this host does not know: update mortise");
    if (from->flags & ~(uint32_t)KNOWN_FLAGS)
        return wrong(builder, to, "has a flag that this host does not know: update mortise");
    to->kind = from->kind;
    to->required = from->flags & MORTISE_REQUIRED;
    to->has_min = from->flags & MORTISE_HAS_MIN;
    to->has_max = from->flags & MORTISE_HAS_MAX;
    return true;
}

static bool add_record(struct builder *builder, const mortise_field *from, unsigned depth,
                       struct shape_field *to)
{
    if (!kinds[to->kind].has_record)
        return true;
    if (!from->record)
        return wrong(builder, to, "has no record that describes it");
    to->record = arena_alloc(builder->memory, sizeof(*to->record));
    if (!to->record)
        return error_memory(builder->error);
    if (build(builder, from->record, depth + 1, to->record))
        return true;
    struct error *error = builder->error;
    if (error && error->kind == ERROR_PLUGIN && depth == 1) /* enough to find it */
        error_prefix(error, "in argument '%s'", to->name);
    return false;
}

static bool add_place(struct builder *builder, const mortise_field *from, const struct shape *shape,
                      struct shape_field *to)
{
    size_t bytes = kinds[to->kind].bytes ? kinds[to->kind].bytes : to->record->struct_size;
    if (bytes > shape->struct_size || from->offset > shape->struct_size - bytes)
        return wrong(builder, to, "lies outside its struct: its offset is wrong");
    if (from->seen_offset >= shape->struct_size)
        return wrong(builder, to, "has a 'seen' outside its struct: its seen_offset is wrong");
    if (from->seen_offset >= from->offset && from->seen_offset - from->offset < bytes)
        return wrong(builder, to, "has a 'seen' inside its own value: its seen_offset is wrong");
    to->offset = from->offset;
    to->seen_offset = from->seen_offset;
    return true;
}

bool shape_is_whole(double value)
{
    if (!(value >= -0x1p63 && value < 0x1p63)) /* the cast would be undefined */
        return value == 0x1p63;
    return (double)(int64_t)value == value;
}

static bool add_limits(struct builder *builder, const mortise_field *from, struct shape_field *to)
{
    to->min = to->has_min ? from->min : 0;
    to->max = to->has_max ? from->max : 0;
    if (!to->has_min && !to->has_max)
        return true;
    if (kinds[to->kind].limits == NO_LIMITS)
        return wrong(builder, to, "has a range, but its kind has none");
    if (!isfinite(to->min) || !isfinite(to->max))
        return wrong(builder, to, "has a range that is no number");
    if (to->has_min && to->has_max && to->min > to->max)
        return wrong(builder, to, "has a range whose minimum is above its maximum");
    if (to->kind == MORTISE_NUMBER)
        return true;
    if (!shape_is_whole(to->min) || !shape_is_whole(to->max))
        return wrong(builder, to, "has a range that must be of integers");
    if (kinds[to->kind].limits == LENGTH_LIMITS && (to->min < 0 || to->max < 0))
        return wrong(builder, to, "has a length below 0");
    return true;
}

static bool add_choices(struct builder *builder, const mortise_field *from, struct shape_field *to)
{
    if (!from->choices)
        return true;
    if (!kinds[to->kind].of_strings)
        return wrong(builder, to, "has choices, which only strings can have");
    size_t count = 0;
    while (count <= MAX_CHOICES && from->choices[count])
        count++;
    if (!count)
        return wrong(builder, to, "has an empty list of choices");
    if (count > MAX_CHOICES)
        return wrong(builder, to, "has too many choices, or their list does not end with NULL");
    const char **choices = arena_alloc(builder->memory, (count + 1) * sizeof(*choices));
    if (!choices)
        return error_memory(builder->error);
    for (size_t i = 0; i < count; i++)
        if (!copy(builder, from->choices[i], &choices[i]))
            return false;
    to->choices = choices;
    return true;
}

static bool add_pattern(struct builder *builder, const mortise_field *from, struct shape_field *to)
{
    if (!from->pattern)
        return true;
    if (!kinds[to->kind].of_strings)
        return wrong(builder, to, "has a pattern, which only strings can have");
    size_t length = strlen(from->pattern);
    if (utf8_valid(from->pattern, length) != length)
        return wrong(builder, to, "has a pattern that is not valid UTF-8");
    if (!copy(builder, from->pattern, &to->regex))
        return false;
    struct error reason = ERROR_INIT;
    to->pattern = pattern_compile(to->regex, length, &reason);
    return to->pattern || wrong_because(builder, to, "cannot be checked", &reason);
}

static bool add_format(struct builder *builder, const mortise_field *from, struct shape_field *to)
{
    if (!from->format)
        return true;
    if (!kinds[to->kind].of_strings)
        return wrong(builder, to, "has a format, which only strings can have");
    if (!format_is_known(from->format))
        return error_set(builder->error, ERROR_PLUGIN,
                         "argument '%s' has the format '%.80s', which this host does not know: "
                         "there are date-time, date, time, email, uri, uuid, ipv4, ipv6 and "
                         "hostname",
                         to->name, from->format);
    return copy(builder, from->format, &to->format);
}

/* As the last of all, because it must pass what the others say. */
static bool add_fallback(struct builder *builder, const mortise_field *from,
                         const struct shape *shape, struct shape_field *to)
{
    if (!from->fallback)
        return true;
    if (to->required)
        return wrong(builder, to, "is required and has a fallback: it can be only one");
    struct error reason = ERROR_INIT;
    size_t length = strlen(from->fallback);
    to->fallback = json_parse(from->fallback, length, NULL, &reason);
    if (!to->fallback && reason.kind != ERROR_INTERNAL)
        return error_set(builder->error, ERROR_PLUGIN,
                         "argument '%s' has the fallback %.*s, which is no JSON: write numbers in "
                         "decimal digits and one string literal",
                         to->name, (int)utf8_cut(from->fallback, length, QUOTE_BYTES),
                         from->fallback);
    return (to->fallback && decode_fits_field(shape, to, to->fallback, &reason)) ||
           wrong_because(builder, to, "has a fallback that does not fit", &reason);
}

static bool add_field(struct builder *builder, const mortise_field *from, unsigned depth,
                      struct shape *shape, struct shape_field *to)
{
    return add_name(builder, from, shape, to) && add_kind(builder, from, to) &&
           add_record(builder, from, depth, to) && add_place(builder, from, shape, to) &&
           add_limits(builder, from, to) && add_choices(builder, from, to) &&
           add_pattern(builder, from, to) && add_format(builder, from, to) &&
           add_fallback(builder, from, shape, to);
}

/* ---- the table ---- */

static bool check_table(struct builder *builder, const mortise_shape *table, unsigned depth)
{
    struct error *error = builder->error;
    if (depth > SHAPE_MAX_DEPTH)
        return error_set(error, ERROR_PLUGIN,
                         "its records are nested more than %d deep, or contain themselves",
                         SHAPE_MAX_DEPTH);
    if (!MORTISE_HAS(table, mortise_shape, fields) ||
        !(table->field_size >= offsetof(mortise_field, record) + sizeof(void *)) ||
        table->field_size % alignof(mortise_field) != 0 || (table->field_count && !table->fields))
        return error_set(error, ERROR_PLUGIN, "its table of arguments is cut short");
    if (table->struct_size > MAX_STRUCT_SIZE)
        return error_set(error, ERROR_PLUGIN, "its arguments need a struct of %u bytes: too large",
                         (unsigned)table->struct_size);
    if (table->field_count > SHAPE_MAX_FIELDS ||
        builder->total > SHAPE_MAX_FIELDS - table->field_count)
        return error_set(error, ERROR_PLUGIN, "it has more than %d arguments", SHAPE_MAX_FIELDS);
    builder->total += table->field_count;
    return true;
}

/* What was done of a shape that fails is released with it. */
static bool build(struct builder *builder, const mortise_shape *table, unsigned depth,
                  struct shape *shape)
{
    if (!check_table(builder, table, depth))
        return false;
    shape->struct_size = table->struct_size;
    shape->fields = arena_alloc(builder->memory, table->field_count * sizeof(*shape->fields));
    if (table->field_count && !shape->fields)
        return error_memory(builder->error);
    for (uint32_t i = 0; i < table->field_count; i++) {
        const mortise_field from = shape_read_field(table, i);
        shape->field_count = i + 1;
        if (!add_field(builder, &from, depth, shape, &shape->fields[i]))
            return false;
    }
    return true;
}

struct shape *shape_new(const mortise_shape *table, struct arena *memory, struct error *error)
{
    struct builder builder = {.memory = memory, .error = error};
    struct shape *shape = arena_alloc(memory, sizeof(*shape));
    if (!shape) {
        error_memory(error);
        return NULL;
    }
    if (build(&builder, table, 1, shape))
        return shape;
    shape_release(shape);
    return NULL;
}

void shape_release(struct shape *shape)
{
    for (uint32_t i = 0; shape && i < shape->field_count; i++) {
        json_decref(shape->fields[i].fallback);
        pattern_free(shape->fields[i].pattern);
        shape_release(shape->fields[i].record);
    }
}
