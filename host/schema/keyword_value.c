#include <math.h>
#include <string.h>

#include "schema/keyword.h"
#include "schema/unconst.h"

/* ---- any value ---- */

static unsigned type_bit(const json_t *name)
{
    static const struct {
        const char *name;
        unsigned bit;
    } types[] = {
        {"string", TYPE_STRING},   {"object", TYPE_OBJECT}, {"array", TYPE_ARRAY},
        {"integer", TYPE_INTEGER}, {"number", TYPE_NUMBER}, {"boolean", TYPE_BOOLEAN},
        {"null", TYPE_NULL},
    };
    const char *string = json_string_value(name);
    for (size_t i = 0; string && i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(types[i].name, string))
            return types[i].bit;
    return 0;
}

bool keyword_type(const struct reading *reading)
{
    unsigned types = type_bit(reading->value);
    bool good = types || json_array_size(reading->value) > 0;
    for (size_t i = 0; i < json_array_size(reading->value); i++) {
        unsigned bit = type_bit(json_array_get(reading->value, i));
        good &= bit != 0;
        types |= bit;
    }
    if (!good)
        return keyword_must(reading,
                            "one or a list of \"string\", \"number\", \"integer\", \"boolean\", "
                            "\"object\", \"array\", \"null\"");
    struct rule *rule = compile_rule(reading->compiler, RULE_TYPE);
    if (rule)
        rule->as.types = types;
    return rule != NULL;
}

bool keyword_value(const struct reading *reading)
{
    struct rule *rule = compile_rule(reading->compiler, reading->kind);
    if (rule)
        rule->as.value = reading->value;
    return rule != NULL;
}

bool keyword_enum(const struct reading *reading)
{
    return json_is_array(reading->value) ? keyword_value(reading) : keyword_must(reading, "a list");
}

/* ---- numbers and counts ---- */

bool keyword_limit(const struct reading *reading)
{
    return json_is_number(reading->value) ? keyword_value(reading)
                                          : keyword_must(reading, "a number");
}

bool keyword_multiple(const struct reading *reading)
{
    if (!(json_number_value(reading->value) > 0))
        return keyword_must(reading, "a number above 0");
    struct rule *rule = compile_rule(reading->compiler, RULE_MULTIPLE);
    if (!rule)
        return false;
    rule->as.multiple.of = decimal_of(reading->value);
    rule->as.multiple.written = reading->value;
    return true;
}

bool keyword_size(const struct reading *reading, const char *keyword, const json_t *value,
                  size_t *out)
{
    struct reading at = *reading;
    at.keyword = keyword;
    at.value = value;
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 0 || number != floor(number))
        return keyword_must(&at, "an integer, 0 or more");
    *out = number < (double)SIZE_MAX ? (size_t)number : SIZE_MAX;
    return true;
}

bool keyword_count(const struct reading *reading)
{
    size_t count;
    if (!keyword_size(reading, reading->keyword, reading->value, &count))
        return false;
    struct rule *rule = compile_rule(reading->compiler, reading->kind);
    if (rule)
        rule->as.count = count;
    return rule != NULL;
}

bool keyword_unique(const struct reading *reading)
{
    if (!json_is_boolean(reading->value))
        return keyword_must(reading, "true or false");
    return !json_is_true(reading->value) || compile_rule(reading->compiler, RULE_UNIQUE);
}

/* ---- patterns ---- */

/* NULL: *error is set. */
struct pattern *keyword_regex(const struct reading *reading, const char *keyword, const char *regex,
                              size_t length)
{
    struct compiler *compiler = reading->compiler;
    struct owned_pattern *owned = compile_take(compiler, sizeof(*owned));
    if (!owned)
        return NULL;
    struct error problem = ERROR_INIT;
    owned->pattern = pattern_compile(regex, length, &problem);
    if (!owned->pattern) {
        if (problem.kind == ERROR_PLUGIN)
            compile_wrong(compiler, reading->node, keyword, "cannot be used: %s", problem.message);
        else
            *compiler->error = problem;
        return NULL;
    }
    owned->next = compiler->schema->patterns;
    compiler->schema->patterns = owned;
    return owned->pattern;
}

bool keyword_pattern(const struct reading *reading)
{
    if (!json_is_string(reading->value))
        return keyword_must(reading, "a string");
    const char *regex = json_string_value(reading->value);
    struct pattern *pattern =
        keyword_regex(reading, reading->keyword, regex, json_string_length(reading->value));
    struct rule *rule = pattern ? compile_rule(reading->compiler, RULE_PATTERN) : NULL;
    if (!rule)
        return false;
    rule->as.match.pattern = pattern;
    rule->as.match.regex = regex;
    return true;
}

/* ---- names ---- */

bool keyword_is_names(const json_t *value)
{
    bool good = json_is_array(value);
    for (size_t i = 0; i < json_array_size(value); i++)
        good &= json_is_string(json_array_get(value, i));
    return good;
}

bool keyword_required(const struct reading *reading)
{
    return keyword_is_names(reading->value) ? keyword_value(reading)
                                            : keyword_must(reading, "a list of strings");
}

bool keyword_dependent_required(const struct reading *reading)
{
    bool good = json_is_object(reading->value);
    const char *name;
    json_t *member, *members = unconst(reading->value);
    if (good)
        json_object_foreach (members, name, member)
            good &= keyword_is_names(member);
    return good ? keyword_value(reading)
                : keyword_must(reading, "an object whose members are lists of strings");
}
