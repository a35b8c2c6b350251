/* check_value - the keywords of single values: types, constants, numbers, strings, sizes. */
#include <string.h>

#include "base/utf8.h"
#include "schema/check.h"
#include "schema/equal.h"

#define LIST_BYTES  300
#define QUOTE_BYTES 100

/* ---- types ---- */

unsigned check_type_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return TYPE_OBJECT;
    case JSON_ARRAY:
        return TYPE_ARRAY;
    case JSON_STRING:
        return TYPE_STRING;
    case JSON_NULL:
        return TYPE_NULL;
    case JSON_TRUE:
    case JSON_FALSE:
        return TYPE_BOOLEAN;
    default:
        return number_is_integer(value) ? TYPE_NUMBER | TYPE_INTEGER : TYPE_NUMBER;
    }
}

void check_put_types(struct problems *problems, unsigned types)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {TYPE_STRING, "string"},   {TYPE_NUMBER, "number"}, {TYPE_INTEGER, "integer"},
        {TYPE_BOOLEAN, "boolean"}, {TYPE_OBJECT, "object"}, {TYPE_ARRAY, "array"},
        {TYPE_NULL, "null"},
    };
    bool first = true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(types & names[i].bit))
            continue;
        problem_more(problems, "%s%s", first ? "" : " or ", names[i].name);
        first = false;
    }
}

bool check_type(struct check *check, const struct at *at, const struct rule *rule)
{
    if (check_type_of(at->value) & rule->as.types)
        return true;
    if (check->mode == CHECK_WEIGHING && at->place == check->weight->place)
        check->weight->types |= rule->as.types;
    if (check_tells(check, at->place, RULE_TYPE)) {
        problem_add(&check->problems, at->place, "must be of type ");
        check_put_types(&check->problems, rule->as.types);
        problem_got(&check->problems, at->value);
    }
    return false;
}

/* ---- constants ---- */

/* JSON of the schema's, shortened. */
static void put_json(struct problems *problems, const json_t *value, size_t max)
{
    struct text text = TEXT_INIT;
    text_json(&text, value);
    size_t shown = utf8_cut(text_cstr(&text), text.length, max);
    problem_more(problems, "%.*s%s", (int)shown, text_cstr(&text), shown < text.length ? "…" : "");
    text_release(&text);
}

/* Also false, and the check stopped, when it takes too much work. */
static bool is_same(struct check *check, const json_t *a, const json_t *b)
{
    bool same = equal(a, b, &check->budget);
    return check_spend(check, 0) && same;
}

bool check_enum(struct check *check, const struct at *at, const struct rule *rule)
{
    size_t count = json_array_size(rule->as.value);
    for (size_t i = 0; i < count; i++)
        if (is_same(check, json_array_get(rule->as.value, i), at->value))
            return true;
    if (check_tells(check, at->place, RULE_ENUM)) {
        problem_add(&check->problems, at->place, "must be one of ");
        put_json(&check->problems, rule->as.value, LIST_BYTES);
        problem_got(&check->problems, at->value);
    }
    return false;
}

bool check_const(struct check *check, const struct at *at, const struct rule *rule)
{
    if (is_same(check, rule->as.value, at->value))
        return true;
    if (check_tells(check, at->place, RULE_CONST)) {
        problem_add(&check->problems, at->place, "must be ");
        put_json(&check->problems, rule->as.value, LIST_BYTES);
        problem_got(&check->problems, at->value);
    }
    return false;
}

/* ---- numbers ---- */

static bool complain_limit(struct check *check, const struct at *at, const struct rule *rule,
                           const char *relation, const json_t *limit)
{
    if (check_tells(check, at->place, rule->kind)) {
        problem_add(&check->problems, at->place, "must be %s ", relation);
        put_json(&check->problems, limit, QUOTE_BYTES);
        problem_got(&check->problems, at->value);
    }
    return false;
}

bool check_limit(struct check *check, const struct at *at, const struct rule *rule)
{
    const json_t *limit = rule->as.value;
    int order = number_compare(at->value, limit);
    switch (rule->kind) {
    case RULE_MINIMUM:
        return order >= 0 || complain_limit(check, at, rule, "at least", limit);
    case RULE_MAXIMUM:
        return order <= 0 || complain_limit(check, at, rule, "at most", limit);
    case RULE_ABOVE:
        return order > 0 || complain_limit(check, at, rule, "above", limit);
    default:
        return order < 0 || complain_limit(check, at, rule, "below", limit);
    }
}

bool check_multiple(struct check *check, const struct at *at, const struct rule *rule)
{
    return number_is_multiple(at->value, &rule->as.multiple.of) ||
           complain_limit(check, at, rule, "a multiple of", rule->as.multiple.written);
}

/* ---- sizes ---- */

static bool complain_size(struct check *check, const struct at *at, const struct rule *rule,
                          bool least, const char *unit, size_t size)
{
    if (check_tells(check, at->place, rule->kind))
        problem_add(&check->problems, at->place, "must have at %s %zu %s, got %zu",
                    least ? "least" : "most", rule->as.count, unit, size);
    return false;
}

bool check_length(struct check *check, const struct at *at, const struct rule *rule)
{
    bool least = rule->kind == RULE_MIN_LENGTH;
    if (!check_spend(check, json_string_length(at->value) / 256))
        return false;
    size_t size = utf8_count(json_string_value(at->value), json_string_length(at->value));
    return (least ? size >= rule->as.count : size <= rule->as.count) ||
           complain_size(check, at, rule, least, "characters", size);
}

bool check_size(struct check *check, const struct at *at, const struct rule *rule)
{
    bool object = json_is_object(at->value);
    bool least = rule->kind == RULE_MIN_ITEMS || rule->kind == RULE_MIN_MEMBERS;
    size_t size = object ? json_object_size(at->value) : json_array_size(at->value);
    return (least ? size >= rule->as.count : size <= rule->as.count) ||
           complain_size(check, at, rule, least, object ? "members" : "items", size);
}

bool check_unique(struct check *check, const struct at *at, const struct rule *rule)
{
    size_t first = 0, second = 0;
    enum unique unique = unique_items(at->value, &check->budget, &first, &second);
    if (unique == UNIQUE_NO_MEMORY)
        return check_no_memory(check);
    if (!check_spend(check, 0) || unique == UNIQUE)
        return !check->stopped;
    if (check_tells(check, at->place, rule->kind)) {
        problem_add(&check->problems, at->place,
                    "must have no item twice, but %zu and %zu are both ", first, second);
        put_json(&check->problems, json_array_get(at->value, first), QUOTE_BYTES);
    }
    return false;
}

/* ---- patterns ---- */

bool check_pattern(struct check *check, const struct at *at, const struct rule *rule)
{
    bool matches;
    struct error error = ERROR_INIT;
    int shown = (int)utf8_cut(rule->as.match.regex, strlen(rule->as.match.regex), LIST_BYTES);
    if (!pattern_matches(rule->as.match.pattern, json_string_value(at->value),
                         json_string_length(at->value), &check->clock, &matches, &error))
        return error.kind == ERROR_INTERNAL
                   ? check_no_memory(check)
                   : check_stop(check, at->place,
                                "must match the pattern '%.*s', and takes more work to match than "
                                "is allowed: make it shorter",
                                shown, rule->as.match.regex);
    if (!matches && check_tells(check, at->place, rule->kind)) {
        problem_add(&check->problems, at->place, "must match the pattern '%.*s'", shown,
                    rule->as.match.regex);
        problem_got(&check->problems, at->value);
    }
    return matches;
}
