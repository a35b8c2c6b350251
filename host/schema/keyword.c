#include "schema/keyword.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "schema/unconst.h"

#define QUOTE_BYTES 60

bool keyword_must(const struct reading *reading, const char *what)
{
    struct text came = TEXT_INIT;
    text_json(&came, reading->value);
    size_t shown = utf8_cut(text_cstr(&came), came.length, QUOTE_BYTES);
    compile_wrong(reading->compiler, reading->node, reading->keyword, "must be %s, got %.*s%s",
                  what, (int)shown, text_cstr(&came), shown < came.length ? "…" : "");
    text_release(&came);
    return false;
}

bool keyword_has_rule(const struct reading *reading)
{
    const struct compiler *compiler = reading->compiler;
    for (size_t i = reading->base; i < compiler->rules.count; i++)
        if (compiler->rules.items[i].kind == reading->kind)
            return true;
    return false;
}

const json_t *keyword_beside(const struct reading *reading, const char *keyword)
{
    return json_object_get(reading->node->json, keyword);
}

/* ---- all of them ---- */

/* Sorted by name. */
static const struct keyword {
    const char *name;
    keyword_read *read;
    enum rule_kind kind;
} keywords[] = {
    {"$defs", keyword_definitions, RULE_COUNT},
    {"$dynamicRef", keyword_reference, RULE_DYNAMIC},
    {"$ref", keyword_reference, RULE_REFERENCE},
    {"additionalProperties", keyword_members, RULE_MEMBERS},
    {"allOf", keyword_list, RULE_ALL},
    {"anyOf", keyword_list, RULE_ANY},
    {"const", keyword_value, RULE_CONST},
    {"contains", keyword_contains, RULE_CONTAINS},
    {"contentSchema", keyword_unused, RULE_COUNT},
    {"definitions", keyword_definitions, RULE_COUNT},
    {"dependencies", keyword_dependencies, RULE_DEPENDENT},
    {"dependentRequired", keyword_dependent_required, RULE_DEPENDENT},
    {"dependentSchemas", keyword_dependent_schemas, RULE_WHEN_MEMBER},
    {"else", keyword_if, RULE_IF},
    {"enum", keyword_enum, RULE_ENUM},
    {"exclusiveMaximum", keyword_limit, RULE_BELOW},
    {"exclusiveMinimum", keyword_limit, RULE_ABOVE},
    {"if", keyword_if, RULE_IF},
    {"items", keyword_items, RULE_ITEMS},
    {"maxContains", keyword_contains, RULE_CONTAINS},
    {"maxItems", keyword_count, RULE_MAX_ITEMS},
    {"maxLength", keyword_count, RULE_MAX_LENGTH},
    {"maxProperties", keyword_count, RULE_MAX_MEMBERS},
    {"maximum", keyword_limit, RULE_MAXIMUM},
    {"minContains", keyword_contains, RULE_CONTAINS},
    {"minItems", keyword_count, RULE_MIN_ITEMS},
    {"minLength", keyword_count, RULE_MIN_LENGTH},
    {"minProperties", keyword_count, RULE_MIN_MEMBERS},
    {"minimum", keyword_limit, RULE_MINIMUM},
    {"multipleOf", keyword_multiple, RULE_MULTIPLE},
    {"not", keyword_child, RULE_NOT},
    {"oneOf", keyword_list, RULE_ONE},
    {"pattern", keyword_pattern, RULE_PATTERN},
    {"patternProperties", keyword_members, RULE_MEMBERS},
    {"prefixItems", keyword_items, RULE_ITEMS},
    {"properties", keyword_members, RULE_MEMBERS},
    {"propertyNames", keyword_child, RULE_NAMES},
    {"required", keyword_required, RULE_REQUIRED},
    {"then", keyword_if, RULE_IF},
    {"type", keyword_type, RULE_TYPE},
    {"unevaluatedItems", keyword_child, RULE_OTHER_ITEMS},
    {"unevaluatedProperties", keyword_child, RULE_OTHER_MEMBERS},
    {"uniqueItems", keyword_unique, RULE_UNIQUE},
};

static int compare_keyword(const void *name, const void *keyword)
{
    return strcmp(name, ((const struct keyword *)keyword)->name);
}

bool compile_keywords(struct compiler *compiler, struct node *node, size_t base)
{
    const char *name;
    json_t *member, *members = unconst(node->json);
    json_object_foreach (members, name, member) {
        const struct keyword *keyword =
            bsearch(name, keywords, sizeof(keywords) / sizeof(keywords[0]), sizeof(keywords[0]),
                    compare_keyword);
        struct reading reading = {compiler, node,
                                  base,     keyword ? keyword->name : name,
                                  member,   keyword ? keyword->kind : RULE_COUNT};
        if (keyword && !keyword->read(&reading))
            return false;
    }
    return true;
}
