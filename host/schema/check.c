#include "schema/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* About half a second, at worst. */
#define BUDGET 5000000

/* ---- problems ---- */

static void weigh(struct weight *weight, const struct place *place, enum rule_kind kind)
{
    enum blame blame = BLAME_DETAIL;
    if (kind == RULE_TYPE && place == weight->place)
        blame = BLAME_TYPE;
    else if ((kind == RULE_CONST || kind == RULE_ENUM) && place && place->outer == weight->place)
        blame = BLAME_TAG;
    if (blame > weight->blame)
        weight->blame = blame;
    weight->count++;
}

bool check_tells(struct check *check, const struct place *place, enum rule_kind kind)
{
    if (check->mode == CHECK_WEIGHING)
        weigh(check->weight, place, kind);
    return check->mode == CHECK_LOUD && !check->stopped;
}

bool check_goes_on(const struct check *check)
{
    return !check->stopped && check->mode != CHECK_QUIET && !problems_full(&check->problems);
}

bool check_stop(struct check *check, const struct place *place, const char *format, ...)
{
    if (check->stopped)
        return false;
    enum problem_subject subject = check->problems.subject;
    text_release(&check->problems.text);
    check->problems = (struct problems){.subject = subject};
    check->stopped = true;
    struct text why = TEXT_INIT;
    va_list args;
    va_start(args, format);
    text_vprintf(&why, format, args);
    va_end(args);
    problem_add(&check->problems, place, "%s", text_cstr(&why));
    check->problems.no_memory |= why.failed;
    text_release(&why);
    return false;
}

bool check_no_memory(struct check *check)
{
    check->stopped = check->problems.no_memory = true;
    return false;
}

bool check_spend(struct check *check, size_t work)
{
    check->budget -= work < BUDGET ? (int64_t)work : BUDGET;
    return check->budget >= 0 ||
           check_stop(check, NULL,
                      "must be smaller: to check so much takes more work than is allowed");
}

/* ---- what was looked at ---- */

bool seen_init(struct seen *seen, const json_t *value)
{
    seen->count = json_is_object(value) ? json_object_size(value) : json_array_size(value);
    size_t bytes = seen->count / 8 + 1;
    if (bytes > sizeof(seen->few))
        return (seen->bits = calloc(bytes, 1)) != NULL;
    seen->bits = memset(seen->few, 0, bytes);
    return true;
}

void seen_release(struct seen *seen)
{
    if (seen->bits != seen->few)
        free(seen->bits);
}

void seen_add(struct seen *seen, size_t index)
{
    seen->bits[index / 8] = (unsigned char)(seen->bits[index / 8] | 1u << index % 8);
}

bool seen_has(const struct seen *seen, size_t index)
{
    return seen->bits[index / 8] >> index % 8 & 1;
}

void seen_merge(struct seen *seen, const struct seen *more)
{
    for (size_t i = 0; i <= seen->count / 8; i++)
        seen->bits[i] |= more->bits[i];
}

/* ---- references ---- */

static bool check_reference(struct check *check, const struct at *at, const struct rule *rule)
{
    return check_node(check, rule->as.reference->target, at->value, at->place, at->seen, at->scope);
}

/* The outermost resource on the way here that has the anchor decides. */
static bool check_dynamic(struct check *check, const struct at *at, const struct rule *rule)
{
    const struct reference *reference = rule->as.reference;
    const struct node *target = reference->target;
    const struct scope *scope = reference->anchor ? at->scope : NULL;
    for (; scope; scope = scope->outer) {
        if (!check_spend(check, scope->resource->anchor_count / 16))
            return false;
        const struct anchor *anchor = resource_anchor(scope->resource, reference->anchor);
        if (anchor && anchor->dynamic)
            target = anchor->node;
    }
    return check_node(check, target, at->value, at->place, at->seen, at->scope);
}

/* ---- rules ---- */

#define TYPE_CONTAINER (TYPE_OBJECT | TYPE_ARRAY)

static const struct {
    rule_check *check;
    unsigned types; /* of the values that it says something about */
} rules[RULE_COUNT] = {
    [RULE_TYPE] = {check_type, TYPE_ANY},
    [RULE_ENUM] = {check_enum, TYPE_ANY},
    [RULE_CONST] = {check_const, TYPE_ANY},
    [RULE_MINIMUM] = {check_limit, TYPE_NUMBER},
    [RULE_MAXIMUM] = {check_limit, TYPE_NUMBER},
    [RULE_ABOVE] = {check_limit, TYPE_NUMBER},
    [RULE_BELOW] = {check_limit, TYPE_NUMBER},
    [RULE_MULTIPLE] = {check_multiple, TYPE_NUMBER},
    [RULE_MIN_LENGTH] = {check_length, TYPE_STRING},
    [RULE_MAX_LENGTH] = {check_length, TYPE_STRING},
    [RULE_PATTERN] = {check_pattern, TYPE_STRING},
    [RULE_MIN_ITEMS] = {check_size, TYPE_ARRAY},
    [RULE_MAX_ITEMS] = {check_size, TYPE_ARRAY},
    [RULE_UNIQUE] = {check_unique, TYPE_ARRAY},
    [RULE_MIN_MEMBERS] = {check_size, TYPE_OBJECT},
    [RULE_MAX_MEMBERS] = {check_size, TYPE_OBJECT},
    [RULE_REQUIRED] = {check_required, TYPE_OBJECT},
    [RULE_DEPENDENT] = {check_dependent, TYPE_OBJECT},
    [RULE_NAMES] = {check_names, TYPE_OBJECT},
    [RULE_MEMBERS] = {check_members, TYPE_OBJECT},
    [RULE_ITEMS] = {check_items, TYPE_ARRAY},
    [RULE_CONTAINS] = {check_contains, TYPE_ARRAY},
    [RULE_REFERENCE] = {check_reference, TYPE_ANY},
    [RULE_DYNAMIC] = {check_dynamic, TYPE_ANY},
    [RULE_ALL] = {check_all, TYPE_ANY},
    [RULE_ANY] = {check_any, TYPE_ANY},
    [RULE_ONE] = {check_one, TYPE_ANY},
    [RULE_NOT] = {check_not, TYPE_ANY},
    [RULE_IF] = {check_if, TYPE_ANY},
    [RULE_WHEN_MEMBER] = {check_when_member, TYPE_OBJECT},
    [RULE_OTHER_MEMBERS] = {check_other_members, TYPE_OBJECT},
    [RULE_OTHER_ITEMS] = {check_other_items, TYPE_ARRAY},
};

static bool check_rules(struct check *check, const struct at *at)
{
    unsigned type = check_type_of(at->value);
    bool fits = true;
    for (unsigned i = 0; i < at->node->rule_count; i++) {
        const struct rule *rule = &at->node->rules[i];
        /* What a rule that failed would have looked at is not left over. */
        if (!(rules[rule->kind].types & type) || (!fits && rule->kind >= RULE_OTHER_MEMBERS))
            continue;
        if (rules[rule->kind].check(check, at, rule))
            continue;
        fits = false;
        if (rule->kind == RULE_TYPE || !check_goes_on(check))
            return false;
    }
    return fits;
}

/* With a list of its own of what was looked at, as unevaluated… is about this schema only. */
static bool check_tracked(struct check *check, struct at *at)
{
    struct seen own, *outer = at->seen;
    if (!seen_init(&own, at->value))
        return check_no_memory(check);
    at->seen = &own;
    bool fits = check_spend(check, own.count / 64) && check_rules(check, at);
    if (fits && outer)
        seen_merge(outer, &own);
    seen_release(&own);
    return fits;
}

bool check_node(struct check *check, const struct node *node, const json_t *value,
                const struct place *place, struct seen *seen, const struct scope *scope)
{
    if (node->never) {
        if (check_tells(check, place, RULE_COUNT))
            problem_add(&check->problems, place, "is not allowed");
        return false;
    }
    if (!node->rule_count)
        return true;
    if (!check_spend(check, 1))
        return false;
    if (check->depth >= SCHEMA_DEPTH_MAX)
        return check_stop(check, NULL, "must not be nested so deep: a check goes %d levels down",
                          SCHEMA_DEPTH_MAX);

    struct scope here = {node->resource, scope};
    bool same = scope && scope->resource == node->resource;
    struct at at = {node, value, place, seen, same ? scope : &here};
    check->depth++;
    bool fits = node->tracks && (json_is_object(value) || json_is_array(value))
                    ? check_tracked(check, &at)
                    : check_rules(check, &at);
    check->depth--;
    return fits && !check->stopped;
}

bool schema_check(const struct schema *schema, const json_t *value, enum problem_subject subject,
                  struct error *error)
{
    struct check check = {.problems = {.subject = subject}, .budget = BUDGET};
    check_node(&check, schema->root, value, NULL, NULL, NULL);
    return problems_settle(&check.problems, error);
}
