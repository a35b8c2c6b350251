#include <stdlib.h>
#include <string.h>

#include "schema/keyword.h"
#include "schema/unconst.h"

/* ---- subschemas ---- */

static const struct node *child(const struct reading *reading, const char *keyword,
                                const json_t *json, const char *name, size_t index)
{
    struct spot spot = {reading->node, keyword, name, index};
    return compile_node(reading->compiler, json, &spot);
}

/* Of a keyword that may be absent: then *out stays NULL. */
static bool optional_child(const struct reading *reading, const char *keyword,
                           const struct node **out)
{
    const json_t *json = keyword_beside(reading, keyword);
    return !json || (*out = child(reading, keyword, json, NULL, NO_INDEX));
}

static bool read_children(const struct reading *reading, const char *keyword, const json_t *array,
                          struct node_list *list)
{
    size_t count = json_array_size(array);
    list->nodes = compile_take(reading->compiler, count * sizeof(*list->nodes));
    if (!list->nodes)
        return false;
    for (; list->count < count; list->count++) {
        const json_t *json = json_array_get(array, list->count);
        if (!(list->nodes[list->count] = child(reading, keyword, json, NULL, list->count)))
            return false;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct property *)a)->name, ((const struct property *)b)->name);
}

/* An object of schemas, sorted by name. */
static bool read_properties(const struct reading *reading, const char *keyword,
                            const json_t *object, const struct property **out, size_t *count)
{
    struct property *properties =
        compile_take(reading->compiler, json_object_size(object) * sizeof(*properties));
    if (!properties)
        return false;
    size_t i = 0;
    const char *name;
    json_t *member, *members = unconst(object);
    json_object_foreach (members, name, member) {
        properties[i] = (struct property){name, child(reading, keyword, member, name, NO_INDEX)};
        if (!properties[i++].node)
            return false;
    }
    qsort(properties, i, sizeof(*properties), by_name);
    *out = properties;
    *count = i;
    return true;
}

/* ---- objects ---- */

static bool read_name_patterns(const struct reading *reading, struct members *members)
{
    static const char keyword[] = "patternProperties";
    const json_t *object = keyword_beside(reading, keyword);
    if (!object)
        return true;
    struct name_pattern *patterns =
        compile_take(reading->compiler, json_object_size(object) * sizeof(*patterns));
    if (!patterns)
        return false;
    const char *regex;
    json_t *member, *entries = unconst(object);
    json_object_foreach (entries, regex, member) {
        struct name_pattern *pattern = &patterns[members->pattern_count++];
        pattern->regex = regex;
        pattern->pattern = keyword_regex(reading, keyword, regex, strlen(regex));
        if (!pattern->pattern ||
            !(pattern->node = child(reading, keyword, member, regex, NO_INDEX)))
            return false;
    }
    members->patterns = patterns;
    return true;
}

static bool is_object(const struct reading *reading, const char *keyword)
{
    struct reading at = *reading;
    at.keyword = keyword;
    at.value = keyword_beside(reading, keyword);
    return !at.value || json_is_object(at.value) || keyword_must(&at, "an object");
}

/* Three keywords make one rule: whichever comes first reads all. */
bool keyword_members(const struct reading *reading)
{
    if (keyword_has_rule(reading))
        return true;
    struct members *members = compile_take(reading->compiler, sizeof(*members));
    if (!members || !is_object(reading, "properties") || !is_object(reading, "patternProperties"))
        return false;
    members->listed = keyword_beside(reading, "properties");
    if ((members->listed && !read_properties(reading, "properties", members->listed,
                                             &members->properties, &members->property_count)) ||
        !read_name_patterns(reading, members) ||
        !optional_child(reading, "additionalProperties", &members->others))
        return false;
    struct rule *rule = compile_rule(reading->compiler, RULE_MEMBERS);
    if (rule)
        rule->as.members = members;
    return rule != NULL;
}

bool keyword_dependent_schemas(const struct reading *reading)
{
    if (!json_is_object(reading->value))
        return keyword_must(reading, "an object");
    const struct property *entries;
    size_t count;
    if (!read_properties(reading, reading->keyword, reading->value, &entries, &count))
        return false;
    struct rule *rule = compile_rule(reading->compiler, RULE_WHEN_MEMBER);
    if (!rule)
        return false;
    rule->as.dependent.entries = entries;
    rule->as.dependent.count = count;
    return true;
}

/* Draft 7: a mixture of both.  The lists stay in place, and are told apart when they are read. */
bool keyword_dependencies(const struct reading *reading)
{
    if (!json_is_object(reading->value))
        return keyword_must(reading, "an object");
    struct property *entries =
        compile_take(reading->compiler, json_object_size(reading->value) * sizeof(*entries));
    size_t count = 0;
    const char *name;
    json_t *member, *members = unconst(reading->value);
    if (!entries)
        return false;
    json_object_foreach (members, name, member) {
        if (keyword_is_names(member))
            continue;
        entries[count] =
            (struct property){name, child(reading, reading->keyword, member, name, NO_INDEX)};
        if (!entries[count++].node)
            return false;
    }
    struct rule *rule = count ? compile_rule(reading->compiler, RULE_WHEN_MEMBER) : NULL;
    if (rule) {
        rule->as.dependent.entries = entries;
        rule->as.dependent.count = count;
    }
    return (rule || !count) && keyword_value(reading);
}

/* ---- lists ---- */

bool keyword_items(const struct reading *reading)
{
    if (keyword_has_rule(reading))
        return true;
    const json_t *first = keyword_beside(reading, "prefixItems"),
                 *rest = keyword_beside(reading, "items");
    bool old = json_is_array(rest) && !first; /* draft 7's spelling of the two */
    struct items *items = compile_take(reading->compiler, sizeof(*items));
    if (!items)
        return false;
    struct reading at = *reading;
    at.keyword = "prefixItems";
    at.value = first;
    if (first && !json_is_array(first))
        return keyword_must(&at, "a list");
    if (old ? !read_children(reading, "items", rest, &items->first) ||
                  !optional_child(reading, "additionalItems", &items->rest)
            : !read_children(reading, "prefixItems", first, &items->first) ||
                  !optional_child(reading, "items", &items->rest))
        return false;
    struct rule *rule = compile_rule(reading->compiler, RULE_ITEMS);
    if (rule)
        rule->as.items = items;
    return rule != NULL;
}

bool keyword_contains(const struct reading *reading)
{
    if (keyword_has_rule(reading))
        return true;
    struct contains *contains = compile_take(reading->compiler, sizeof(*contains));
    if (!contains)
        return false;
    const json_t *min = keyword_beside(reading, "minContains"),
                 *max = keyword_beside(reading, "maxContains");
    contains->min = 1;
    contains->max = SIZE_MAX;
    if ((min && !keyword_size(reading, "minContains", min, &contains->min)) ||
        (max && !keyword_size(reading, "maxContains", max, &contains->max)) ||
        !optional_child(reading, "contains", &contains->node))
        return false;
    struct rule *rule = contains->node ? compile_rule(reading->compiler, RULE_CONTAINS) : NULL;
    if (rule)
        rule->as.contains = contains;
    return rule || !contains->node;
}

/* ---- schemas for the same value ---- */

bool keyword_list(const struct reading *reading)
{
    if (json_array_size(reading->value) == 0)
        return keyword_must(reading, "a list of schemas, one at least");
    struct node_list list = {NULL, 0};
    if (!read_children(reading, reading->keyword, reading->value, &list))
        return false;
    struct rule *rule = compile_rule(reading->compiler, reading->kind);
    if (rule)
        rule->as.list = list;
    return rule != NULL;
}

bool keyword_child(const struct reading *reading)
{
    const struct node *node = child(reading, reading->keyword, reading->value, NULL, NO_INDEX);
    struct rule *rule = node ? compile_rule(reading->compiler, reading->kind) : NULL;
    if (!rule)
        return false;
    rule->as.node = node;
    reading->node->tracks |= rule->kind == RULE_OTHER_MEMBERS || rule->kind == RULE_OTHER_ITEMS;
    return true;
}

bool keyword_if(const struct reading *reading)
{
    if (keyword_has_rule(reading))
        return true;
    struct condition *condition = compile_take(reading->compiler, sizeof(*condition));
    if (!condition || !optional_child(reading, "if", &condition->test) ||
        !optional_child(reading, "then", &condition->then) ||
        !optional_child(reading, "else", &condition->otherwise))
        return false;
    struct rule *rule = compile_rule(reading->compiler, RULE_IF);
    if (rule)
        rule->as.condition = condition;
    return rule != NULL;
}

bool keyword_reference(const struct reading *reading)
{
    struct compiler *compiler = reading->compiler;
    if (!json_is_string(reading->value))
        return keyword_must(reading, "a string");
    struct reference *reference = compile_take(compiler, sizeof(*reference));
    struct rule *rule = reference ? compile_rule(compiler, reading->kind) : NULL;
    if (!rule)
        return false;
    *reference = (struct reference){.from = reading->node,
                                    .keyword = reading->keyword,
                                    .uri = json_string_value(reading->value)};
    rule->as.reference = reference;
    return compile_reference(compiler, reference);
}

/* ---- schemas that only a reference leads to ---- */

bool keyword_definitions(const struct reading *reading)
{
    const struct property *entries;
    size_t count;
    if (!json_is_object(reading->value))
        return keyword_must(reading, "an object");
    return read_properties(reading, reading->keyword, reading->value, &entries, &count);
}

bool keyword_unused(const struct reading *reading)
{
    return child(reading, reading->keyword, reading->value, NULL, NO_INDEX) != NULL;
}
