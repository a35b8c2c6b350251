#include "schema/decode.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/utf8.h"
#include "schema/format.h"
#include "schema/number.h"
#include "schema/problem.h"

#define QUOTE_BYTES 100

struct decoder {
    struct arena *memory;
    bool exact; /* without coercions */
    struct problems problems;
    struct pattern_clock clock;
};

/* From a kind of list to the kind of its elements. */
#define ELEMENT(list) ((mortise_kind)((list)-MORTISE_STRINGS + MORTISE_STRING))

static const char *const kind_words[] = {
    [MORTISE_STRING] = "a string",           [MORTISE_INTEGER] = "an integer",
    [MORTISE_NUMBER] = "a number",           [MORTISE_BOOLEAN] = "true or false",
    [MORTISE_JSON] = "any JSON value",       [MORTISE_OBJECT] = "an object",
    [MORTISE_STRINGS] = "a list of strings", [MORTISE_INTEGERS] = "a list of integers",
    [MORTISE_NUMBERS] = "a list of numbers", [MORTISE_BOOLEANS] = "a list of true or false",
    [MORTISE_RECORDS] = "a list of objects",
};

static void decode_record(struct decoder *decoder, const struct place *place,
                          const struct shape *shape, const json_t *object, char *to);

static void *take(struct decoder *decoder, size_t bytes)
{
    void *memory = arena_alloc(decoder->memory, bytes);
    if (!memory)
        decoder->problems.no_memory = true;
    return memory;
}

static void must_be(struct decoder *decoder, const struct place *place, const struct shape_field *field,
                    mortise_kind kind, const json_t *value)
{
    if (field->choices && kind == MORTISE_STRING) {
        problem_add(&decoder->problems, place, "must be one of ");
        problem_choices(&decoder->problems, field->choices);
    } else {
        problem_add(&decoder->problems, place, "must be %s", kind_words[kind]);
    }
    problem_got(&decoder->problems, value);
}

/* ---- limits ---- */

/* Limits are double, but most are whole numbers and shall look like it. */
static void add_limit(struct decoder *decoder, double limit)
{
    problem_more(&decoder->problems, "%.*g", limit == floor(limit) ? 17 : DBL_DIG, limit);
}

/* `measure` is exact for every int64_t and double.  `unit` is of one, such as " item". */
static bool check_limits(struct decoder *decoder, const struct place *place,
                         const struct shape_field *field, long double measure, const char *unit)
{
    if ((!field->has_min || measure >= field->min) && (!field->has_max || measure <= field->max))
        return true;

    double last = field->has_max ? field->max : field->min;
    problem_add(&decoder->problems, place, "%s ", *unit ? "must have" : "must be");
    if (field->has_min && field->has_max && field->min != field->max) {
        add_limit(decoder, field->min);
        problem_more(&decoder->problems, " to ");
    } else if (field->has_min != field->has_max) {
        problem_more(&decoder->problems, field->has_min ? "at least " : "at most ");
    }
    add_limit(decoder, last);
    problem_more(&decoder->problems, "%s%s, got %.17Lg", unit, *unit && last != 1 ? "s" : "",
                 measure);
    return false;
}

/* ---- values ---- */

/* "5" where a number is wanted is taken as 5: nothing is lost.  NULL: no number. */
static json_t *number_in_string(const struct decoder *decoder, const json_t *value)
{
    if (!json_is_string(value) || decoder->exact)
        return NULL;
    json_t *inner = json_parse(json_string_value(value), json_string_length(value), NULL, NULL);
    if (json_is_number(inner))
        return inner;
    json_decref(inner);
    return NULL;
}

static void decode_integer(struct decoder *decoder, const struct place *place,
                           const struct shape_field *field, const json_t *value, bool listed, void *to)
{
    json_t *inner = number_in_string(decoder, value);
    int64_t integer = 0;
    if (!number_int64(inner ? inner : value, &integer))
        must_be(decoder, place, field, MORTISE_INTEGER, value);
    else if (listed || check_limits(decoder, place, field, integer, ""))
        memcpy(to, &integer, sizeof(integer));
    json_decref(inner);
}

static void decode_number(struct decoder *decoder, const struct place *place,
                          const struct shape_field *field, const json_t *value, bool listed, void *to)
{
    json_t *inner = number_in_string(decoder, value);
    double number = json_number_value(inner ? inner : value);
    if (!inner && !json_is_number(value))
        must_be(decoder, place, field, MORTISE_NUMBER, value);
    else if (listed || check_limits(decoder, place, field, number, ""))
        memcpy(to, &number, sizeof(number));
    json_decref(inner);
}

static void decode_boolean(struct decoder *decoder, const struct place *place,
                           const struct shape_field *field, const json_t *value, void *to)
{
    const char *string = decoder->exact ? NULL : json_string_value(value);
    bool yes = json_is_true(value) || (string && !strcmp(string, "true"));
    if (!yes && !json_is_false(value) && !(string && !strcmp(string, "false")))
        must_be(decoder, place, field, MORTISE_BOOLEAN, value);
    else
        memcpy(to, &yes, sizeof(yes));
}

/* ---- strings ---- */

static bool is_choice(const char *const *choices, const char *string)
{
    if (!choices)
        return true;
    while (*choices && strcmp(*choices, string) != 0)
        choices++;
    return *choices != NULL;
}

static bool check_pattern(struct decoder *decoder, const struct place *place,
                          const struct shape_field *field, const json_t *value)
{
    struct error error = ERROR_INIT;
    struct problems *problems = &decoder->problems;
    size_t length = strlen(field->regex), shown = utf8_cut(field->regex, length, QUOTE_BYTES);
    const char *more = shown < length ? "…" : "";
    bool matches = false;
    bool done = pattern_matches(field->pattern, json_string_value(value), json_string_length(value),
                                &decoder->clock, &matches, &error);
    if (!done && error.kind == ERROR_INTERNAL) {
        problems->no_memory = true;
    } else if (!done) {
        problem_add(problems, place, "cannot be compared with the pattern '%.*s%s': %s", (int)shown,
                    field->regex, more, error.message);
    } else if (!matches) {
        problem_add(problems, place, "must match the pattern '%.*s%s'", (int)shown, field->regex,
                    more);
        problem_got(problems, value);
    }
    return matches;
}

static const char *format_words(const char *format)
{
    static const struct {
        const char *name, *words;
    } formats[] = {
        {"date-time", "a date with a time and its offset, such as 2030-01-31T18:00:00Z"},
        {"date", "a date, such as 2030-01-31"},
        {"time", "a time with its offset, such as 18:00:00Z"},
        {"email", "an e-mail address"},
        {"uri", "a URI with its scheme, such as https://example.org/"},
        {"uuid", "a UUID"},
        {"ipv4", "an IPv4 address"},
        {"ipv6", "an IPv6 address"},
        {"hostname", "the name of a host"},
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].words;
    return format;
}

static bool check_format(struct decoder *decoder, const struct place *place,
                         const struct shape_field *field, const json_t *value)
{
    if (format_matches(field->format, json_string_value(value), json_string_length(value)))
        return true;
    problem_add(&decoder->problems, place, "must be %s", format_words(field->format));
    problem_got(&decoder->problems, value);
    return false;
}

/* What a string must be beside one of some choices. */
static bool check_string(struct decoder *decoder, const struct place *place,
                         const struct shape_field *field, const json_t *value, bool listed)
{
    const char *string = json_string_value(value);
    size_t length = json_string_length(value);
    bool measured = !listed && (field->has_min || field->has_max);
    if (memchr(string, '\0', length)) {
        problem_add(&decoder->problems, place, "must not hold a NUL character (\\u0000)");
        return false;
    }
    return (!measured ||
            check_limits(decoder, place, field, utf8_count(string, length), " character")) &&
           (!field->pattern || check_pattern(decoder, place, field, value)) &&
           (!field->format || check_format(decoder, place, field, value));
}

static void decode_string(struct decoder *decoder, const struct place *place,
                          const struct shape_field *field, const json_t *value, bool listed,
                          void *to)
{
    const char *string = json_string_value(value);
    if (!string || !is_choice(field->choices, string)) {
        must_be(decoder, place, field, MORTISE_STRING, value);
        return;
    }
    if (!check_string(decoder, place, field, value, listed))
        return;
    const char *copy = arena_copy(decoder->memory, string, json_string_length(value));
    if (!copy)
        decoder->problems.no_memory = true;
    memcpy(to, &copy, sizeof(copy));
}

/* ---- values of any kind ---- */

/* 15 digits read well ("0.1"); when they lose something, 17 do not. */
static void write_lossless(const json_t *value, struct text *out)
{
    text_json(out, value);
    json_t *again = json_parse(text_cstr(out), out->length, NULL, NULL);
    bool same = json_equal(value, again);
    json_decref(again);
    if (same || out->failed)
        return;
    text_reset(out);
    char *exact = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (exact)
        text_puts(out, exact);
    else
        out->failed = true;
    free(exact);
}

static void decode_json(struct decoder *decoder, const json_t *value, void *to)
{
    struct text json = TEXT_INIT;
    write_lossless(value, &json);
    const char *copy = text_keep(&json, decoder->memory);
    if (!copy)
        decoder->problems.no_memory = true;
    memcpy(to, &copy, sizeof(copy));
}

static void decode_scalar(struct decoder *decoder, const struct place *place, mortise_kind kind,
                          const struct shape_field *field, const json_t *value, bool listed, void *to)
{
    switch (kind) {
    case MORTISE_STRING:
        decode_string(decoder, place, field, value, listed, to);
        break;
    case MORTISE_INTEGER:
        decode_integer(decoder, place, field, value, listed, to);
        break;
    case MORTISE_NUMBER:
        decode_number(decoder, place, field, value, listed, to);
        break;
    case MORTISE_BOOLEAN:
        decode_boolean(decoder, place, field, value, to);
        break;
    default:
        break;
    }
}

static size_t element_size(const struct shape_field *field)
{
    switch (field->kind) {
    case MORTISE_RECORDS:
        return field->record->struct_size;
    case MORTISE_BOOLEANS:
        return sizeof(bool);
    case MORTISE_STRINGS:
        return sizeof(const char *);
    default:
        return sizeof(int64_t); /* and double */
    }
}

static void decode_list(struct decoder *decoder, const struct place *place,
                        const struct shape_field *field, const json_t *value, void *to)
{
    size_t count = json_array_size(value);
    size_t size = element_size(field);
    if (!json_is_array(value)) {
        must_be(decoder, place, field, field->kind, value);
        return;
    }
    if (!check_limits(decoder, place, field, count, " item"))
        return;
    char *items = size && count > SIZE_MAX / size ? NULL : take(decoder, count * size);
    for (size_t i = 0; items && i < count && !problems_full(&decoder->problems); i++) {
        struct place at = {.outer = place, .index = i};
        const json_t *element = json_array_get(value, i);
        if (field->kind == MORTISE_RECORDS)
            decode_record(decoder, &at, field->record, element, items + i * size);
        else
            decode_scalar(decoder, &at, ELEMENT(field->kind), field, element, true,
                          items + i * size);
    }
    mortise_list list = {items, count};
    memcpy(to, &list, sizeof(list));
}

static void decode_value(struct decoder *decoder, const struct place *place,
                         const struct shape_field *field, const json_t *value, char *to)
{
    if (field->kind == MORTISE_JSON)
        decode_json(decoder, value, to);
    else if (field->kind == MORTISE_OBJECT)
        decode_record(decoder, place, field->record, value, to);
    else if (field->kind >= MORTISE_STRINGS)
        decode_list(decoder, place, field, value, to);
    else
        decode_scalar(decoder, place, field->kind, field, value, false, to);
}

/* ---- what did not come ---- */

static void fill_fallbacks(struct decoder *decoder, const struct place *place,
                           const struct shape *shape, char *to);

static void fill_fallback(struct decoder *decoder, const struct place *place,
                          const struct shape_field *field, char *to)
{
    if (field->fallback)
        decode_value(decoder, place, field, field->fallback, to);
    else if (field->kind == MORTISE_OBJECT)
        fill_fallbacks(decoder, place, field->record, to);
}

/* An object that is left out still has the defaults of its members. */
static void fill_fallbacks(struct decoder *decoder, const struct place *place,
                           const struct shape *shape, char *to)
{
    for (uint32_t i = 0; i < shape->field_count; i++) {
        const struct shape_field *field = &shape->fields[i];
        struct place at = {.outer = place, .name = field->name};
        fill_fallback(decoder, &at, field, to + field->offset);
    }
}

static void complain_missing(struct decoder *decoder, const struct place *place,
                             const struct shape_field *field, const json_t *came)
{
    if (field->choices) {
        problem_add(&decoder->problems, place, "is required (one of ");
        problem_choices(&decoder->problems, field->choices);
        problem_more(&decoder->problems, ")");
    } else {
        problem_add(&decoder->problems, place, "is required (%s)", kind_words[field->kind]);
    }
    if (came)
        problem_got(&decoder->problems, came);
}

/* ---- records ---- */

static bool is_known(const struct shape *shape, const char *name)
{
    for (uint32_t i = 0; i < shape->field_count; i++)
        if (!strcmp(shape->fields[i].name, name))
            return true;
    return false;
}

static void complain_unknown(struct decoder *decoder, const struct place *place,
                             const struct shape *shape, const char *name)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (uint32_t i = 0; i < shape->field_count; i++)
        suggestion_consider(&suggestion, shape->fields[i].name);

    struct problems *problems = &decoder->problems;
    problem_add(problems, place, "is not known");
    if (suggestion.best)
        problem_more(problems, "; did you mean '%s'?", suggestion.best);
    problem_more(problems,
                 shape->field_count ? " (the arguments are " : " (there are no arguments");
    for (uint32_t i = 0; i < shape->field_count; i++)
        problem_more(problems, "%s'%s'", i ? ", " : "", shape->fields[i].name);
    problem_more(problems, ")");
}

static void find_unknown(struct decoder *decoder, const struct place *place,
                         const struct shape *shape, const json_t *object)
{
    for (void *i = json_object_iter((json_t *)(uintptr_t)object); i;
         i = json_object_iter_next((json_t *)(uintptr_t)object, i)) {
        const char *name = json_object_iter_key(i);
        struct place at = {.outer = place, .name = name};
        if (problems_full(&decoder->problems))
            return;
        if (!is_known(shape, name))
            complain_unknown(decoder, &at, shape, name);
    }
}

static void decode_record(struct decoder *decoder, const struct place *place,
                          const struct shape *shape, const json_t *object, char *to)
{
    if (!json_is_object(object)) {
        problem_add(&decoder->problems, place, "must be an object");
        problem_got(&decoder->problems, object);
        return;
    }
    size_t known = 0;
    for (uint32_t i = 0; i < shape->field_count && !problems_full(&decoder->problems); i++) {
        const struct shape_field *field = &shape->fields[i];
        struct place at = {.outer = place, .name = field->name};
        const json_t *came = json_object_getn(object, field->name, field->name_length);
        known += came != NULL;
        bool given = came && (!json_is_null(came) || field->kind == MORTISE_JSON);
        if (given) {
            memcpy(to + field->seen_offset, &given, sizeof(given));
            decode_value(decoder, &at, field, came, to + field->offset);
        } else if (field->required) {
            complain_missing(decoder, &at, field, came);
        } else {
            fill_fallback(decoder, &at, field, to + field->offset);
        }
    }
    if (known < json_object_size(object))
        find_unknown(decoder, place, shape, object);
}

void *decode_arguments(const struct shape *shape, const json_t *object, struct arena *memory,
                       struct error *error)
{
    struct decoder decoder = {.memory = memory};
    char *arguments = take(&decoder, shape->struct_size);
    if (arguments)
        decode_record(&decoder, NULL, shape, object, arguments);
    return problems_settle(&decoder.problems, error) ? arguments : NULL;
}

/* ---- what an author wrote ---- */

/* `field` NULL: the value is that of the whole struct. */
static bool fits(const struct shape *shape, const struct shape_field *field, const json_t *value,
                 struct error *error)
{
    struct arena memory;
    arena_init(&memory, NULL, 0);
    struct decoder decoder = {
        .memory = &memory, .exact = true, .problems.subject = PROBLEM_EXAMPLE};
    char *to = take(&decoder, shape->struct_size);
    if (to && field)
        decode_value(&decoder, &(struct place){.name = field->name}, field, value,
                     to + field->offset);
    else if (to)
        decode_record(&decoder, NULL, shape, value, to);
    arena_release(&memory);
    return problems_settle(&decoder.problems, error);
}

bool decode_fits_field(const struct shape *shape, const struct shape_field *field,
                       const json_t *value, struct error *error)
{
    return fits(shape, field, value, error);
}

bool decode_fits(const struct shape *shape, const json_t *object, struct error *error)
{
    return fits(shape, NULL, object, error);
}
