#include "tool/validate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/suggest.h"
#include "schema/problem.h"

#define DEPTH_MAX 64

static void check(struct problems *problems, const struct place *place, const json_t *schema,
                  const json_t *value, unsigned depth);

/* ---- type, enum, const ---- */

static bool is_integer(const json_t *value)
{
    return json_is_integer(value) ||
           (json_is_real(value) && json_real_value(value) == floor(json_real_value(value)));
}

static bool is_type(const json_t *value, const char *type)
{
    if (!strcmp(type, "integer"))
        return is_integer(value);
    if (!strcmp(type, "number"))
        return json_is_number(value);
    if (!strcmp(type, "string"))
        return json_is_string(value);
    if (!strcmp(type, "boolean"))
        return json_is_boolean(value);
    if (!strcmp(type, "object"))
        return json_is_object(value);
    if (!strcmp(type, "array"))
        return json_is_array(value);
    if (!strcmp(type, "null"))
        return json_is_null(value);
    return true; /* no type that JSON Schema knows: not ours to judge */
}

static bool has_type(const json_t *value, const json_t *types)
{
    size_t count = json_array_size(types);
    for (size_t i = 0; i < count; i++) {
        const json_t *type = json_array_get(types, i);
        if (!json_is_string(type) || is_type(value, json_string_value(type)))
            return true;
    }
    return count == 0;
}

static bool check_type(struct problems *problems, const struct place *place, const json_t *type,
                       const json_t *value)
{
    if (json_is_string(type) ? is_type(value, json_string_value(type)) : has_type(value, type))
        return true;
    problem_add(problems, place, "must be of type ");
    if (json_is_string(type))
        problem_more(problems, "%s", json_string_value(type));
    for (size_t i = 0; i < json_array_size(type); i++)
        problem_more(problems, "%s%s", i ? " or " : "", json_string_value(json_array_get(type, i)));
    problem_got(problems, value);
    return false;
}

/* 1 and 1.0 are one number. */
static bool is_same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void check_enum(struct problems *problems, const struct place *place, const json_t *choices,
                       const json_t *value)
{
    struct text list = TEXT_INIT;
    bool found = false;
    for (size_t i = 0; i < json_array_size(choices); i++)
        found |= is_same(json_array_get(choices, i), value);
    if (!json_is_array(choices) || found)
        return;
    text_json(&list, choices);
    problem_add(problems, place, "must be one of %.300s", text_cstr(&list));
    problem_got(problems, value);
    text_release(&list);
}

static void check_const(struct problems *problems, const struct place *place,
                        const json_t *constant, const json_t *value)
{
    if (!constant || is_same(constant, value))
        return;
    struct text wanted = TEXT_INIT;
    text_json(&wanted, constant);
    problem_add(problems, place, "must be %.100s", text_cstr(&wanted));
    problem_got(problems, value);
    text_release(&wanted);
}

/* ---- ranges ---- */

static void check_limit(struct problems *problems, const struct place *place, const json_t *schema,
                        const char *keyword, double measure, const char *relation, const char *unit)
{
    const json_t *limit = json_object_get(schema, keyword);
    double bound = json_number_value(limit);
    bool fits = !strcmp(relation, "at least")  ? measure >= bound
                : !strcmp(relation, "at most") ? measure <= bound
                : !strcmp(relation, "above")   ? measure > bound
                                               : measure < bound;
    if (!json_is_number(limit) || fits)
        return;
    problem_add(problems, place, "must %s %s %.15g%s, got %.15g", *unit ? "have" : "be", relation,
                bound, unit, measure);
}

static void check_number(struct problems *problems, const struct place *place, const json_t *schema,
                         const json_t *value)
{
    double number = json_number_value(value);
    check_limit(problems, place, schema, "minimum", number, "at least", "");
    check_limit(problems, place, schema, "maximum", number, "at most", "");
    check_limit(problems, place, schema, "exclusiveMinimum", number, "above", "");
    check_limit(problems, place, schema, "exclusiveMaximum", number, "below", "");
}

static size_t count_characters(const json_t *value)
{
    const char *string = json_string_value(value);
    size_t count = 0;
    for (size_t i = 0; i < json_string_length(value); i++)
        count += ((unsigned char)string[i] & 0xC0) != 0x80;
    return count;
}

static void check_string(struct problems *problems, const struct place *place, const json_t *schema,
                         const json_t *value)
{
    double length = (double)count_characters(value);
    check_limit(problems, place, schema, "minLength", length, "at least", " characters");
    check_limit(problems, place, schema, "maxLength", length, "at most", " characters");
}

/* ---- lists and objects ---- */

static void check_array(struct problems *problems, const struct place *place, const json_t *schema,
                        const json_t *value, unsigned depth)
{
    double count = (double)json_array_size(value);
    check_limit(problems, place, schema, "minItems", count, "at least", " items");
    check_limit(problems, place, schema, "maxItems", count, "at most", " items");
    const json_t *items = json_object_get(schema, "items");
    for (size_t i = 0; items && i < json_array_size(value) && !problems_full(problems); i++) {
        struct place at = {.outer = place, .index = i};
        check(problems, &at, items, json_array_get(value, i), depth + 1);
    }
}

/* For the iterators of jansson, which change nothing. */
static json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

static void complain_unknown(struct problems *problems, const struct place *place,
                             const json_t *properties)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, place->name);
    json_t *known = unconst(properties);
    const char *name;
    json_t *member;
    json_object_foreach (known, name, member)
        suggestion_consider(&suggestion, name);
    problem_add(problems, place, "is not known");
    if (suggestion.best)
        problem_more(problems, "; did you mean '%s'?", suggestion.best);
    bool first = true;
    json_object_foreach (known, name, member) {
        problem_more(problems, "%s'%.64s'", first ? " (the arguments are " : ", ", name);
        first = false;
    }
    problem_more(problems, first ? " (there are no arguments)" : ")");
}

static void check_members(struct problems *problems, const struct place *place,
                          const json_t *schema, const json_t *value, unsigned depth)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    bool closed = json_is_false(others) && !json_object_get(schema, "patternProperties");
    json_t *object = unconst(value);
    const char *name;
    json_t *member;
    json_object_foreach (object, name, member) {
        struct place at = {.outer = place, .name = name};
        const json_t *inner = json_object_get(properties, name);
        if (problems_full(problems))
            return;
        if (inner)
            check(problems, &at, inner, member, depth + 1);
        else if (closed)
            complain_unknown(problems, &at, properties);
        else if (json_is_object(others))
            check(problems, &at, others, member, depth + 1);
    }
}

static void check_object(struct problems *problems, const struct place *place, const json_t *schema,
                         const json_t *value, unsigned depth)
{
    const json_t *required = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(required) && !problems_full(problems); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        struct place at = {.outer = place, .name = name};
        if (name && !json_object_get(value, name))
            problem_add(problems, &at, "is required");
    }
    check_members(problems, place, schema, value, depth);
}

static void check(struct problems *problems, const struct place *place, const json_t *schema,
                  const json_t *value, unsigned depth)
{
    if (depth > DEPTH_MAX || problems_full(problems))
        return;
    if (json_is_false(schema)) {
        problem_add(problems, place, "is not allowed");
        return;
    }
    const json_t *type = json_object_get(schema, "type");
    if (type && !check_type(problems, place, type, value))
        return;
    check_enum(problems, place, json_object_get(schema, "enum"), value);
    check_const(problems, place, json_object_get(schema, "const"), value);
    if (json_is_number(value))
        check_number(problems, place, schema, value);
    else if (json_is_string(value))
        check_string(problems, place, schema, value);
    else if (json_is_array(value))
        check_array(problems, place, schema, value, depth);
    else if (json_is_object(value))
        check_object(problems, place, schema, value, depth);
    const json_t *all = json_object_get(schema, "allOf");
    for (size_t i = 0; i < json_array_size(all); i++)
        check(problems, place, json_array_get(all, i), value, depth + 1);
}

bool validate_arguments(const char *schema, const json_t *object, struct error *error)
{
    struct problems problems = {0};
    if (!json_is_object(object)) {
        problem_add(&problems, NULL, "must be an object");
        problem_got(&problems, object);
        return problems_settle(&problems, error);
    }
    json_t *rules = json_parse(schema, strlen(schema), NULL, NULL);
    if (rules)
        check(&problems, NULL, rules, object, 0);
    else
        problems.no_memory = true; /* it was read when the plugin was loaded */
    json_decref(rules);
    return problems_settle(&problems, error);
}
