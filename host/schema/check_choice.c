/* check_choice - the keywords that apply other schemas to the same value: allOf, anyOf, oneOf,
 * not, if, dependentSchemas. */
#include "base/utf8.h"
#include "schema/check.h"

static bool apply(struct check *check, const struct at *at, const struct node *node,
                  struct seen *seen)
{
    return check_node(check, node, at->value, at->place, seen, at->scope);
}

bool check_all(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    for (size_t i = 0; i < rule->as.list.count; i++) {
        fits &= apply(check, at, rule->as.list.nodes[i], at->seen);
        if (!fits && !check_goes_on(check))
            return false;
    }
    return fits;
}

/* Quietly; only a schema that fits adds to what was seen. */
static bool try(struct check *check, const struct at *at, const struct node *node)
{
    enum check_mode mode = check->mode;
    struct seen own;
    if (at->seen && !seen_init(&own, at->value))
        return check_no_memory(check);
    check->mode = CHECK_QUIET;
    bool fits = (!at->seen || check_spend(check, own.count / 64)) &&
                apply(check, at, node, at->seen ? &own : NULL);
    check->mode = mode;
    if (!at->seen)
        return fits;
    if (fits)
        seen_merge(at->seen, &own);
    seen_release(&own);
    return fits;
}

/* ---- none of several fits: which was meant? ---- */

static struct weight weigh(struct check *check, const struct at *at, const struct node *node)
{
    struct weight weight = {.place = at->place};
    enum check_mode mode = check->mode;
    struct weight *outer = check->weight;
    check->mode = CHECK_WEIGHING;
    check->weight = &weight;
    apply(check, at, node, NULL);
    check->mode = mode;
    check->weight = outer;
    return weight;
}

static bool is_nearer(const struct weight *a, const struct weight *b)
{
    return a->blame != b->blame ? a->blame < b->blame : a->count < b->count;
}

/* Tells what is wrong by the schema that the value comes nearest to. */
static void complain_none(struct check *check, const struct at *at, const struct node_list *list)
{
    struct weight best = {.blame = BLAME_TYPE, .count = (unsigned)-1};
    const struct node *nearest = NULL;
    unsigned types = 0;
    size_t of_type = 0; /* those that are for values of this type */
    for (size_t i = 0; i < list->count && !check->stopped; i++) {
        struct weight weight = weigh(check, at, list->nodes[i]);
        types |= weight.types;
        of_type += weight.blame != BLAME_TYPE;
        if (!is_nearer(&weight, &best))
            continue;
        best = weight;
        nearest = list->nodes[i];
    }
    if (check->stopped)
        return;
    if (!of_type || !nearest) {
        problem_add(&check->problems, at->place, "must be of type ");
        check_put_types(&check->problems, types);
        problem_got(&check->problems, at->value);
        return;
    }
    check->of_nearest = false;
    apply(check, at, nearest, NULL);
    if (of_type > 1 && !check->of_nearest)
        problem_more(&check->problems, " (by the nearest of %zu schemas, of which one must fit)",
                     list->count);
    check->of_nearest = true;
}

/* When it is weighed, by the nearest of its own. */
static void weigh_none(struct check *check, const struct at *at, const struct node_list *list)
{
    struct weight best = {.blame = BLAME_TYPE, .count = (unsigned)-1};
    for (size_t i = 0; i < list->count && !check->stopped; i++) {
        struct weight weight = weigh(check, at, list->nodes[i]);
        if (is_nearer(&weight, &best))
            best = weight;
        if (at->place == check->weight->place)
            check->weight->types |= weight.types;
    }
    bool type = best.blame == BLAME_TYPE;
    check_tells(check, at->place, type ? RULE_TYPE : RULE_ANY);
}

static bool fits_none(struct check *check, const struct at *at, const struct node_list *list)
{
    if (check->stopped)
        return false;
    if (check->mode == CHECK_LOUD)
        complain_none(check, at, list);
    else if (check->mode == CHECK_WEIGHING)
        weigh_none(check, at, list);
    return false;
}

bool check_any(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = false;
    for (size_t i = 0; i < rule->as.list.count && (!fits || at->seen); i++)
        fits |= try(check, at, rule->as.list.nodes[i]);
    return fits || fits_none(check, at, &rule->as.list);
}

static bool complain_several(struct check *check, const struct at *at, const struct rule *rule,
                             size_t first, size_t second)
{
    if (check_tells(check, at->place, rule->kind)) {
        problem_add(&check->problems, at->place,
                    "must fit only one of %zu schemas, but fits number %zu and number %zu",
                    rule->as.list.count, first + 1, second + 1);
        problem_got(&check->problems, at->value);
    }
    return false;
}

bool check_one(struct check *check, const struct at *at, const struct rule *rule)
{
    size_t count = rule->as.list.count, first = count;
    for (size_t i = 0; i < count; i++) {
        if (!try(check, at, rule->as.list.nodes[i]))
            continue;
        if (first < count)
            return complain_several(check, at, rule, first, i);
        first = i;
    }
    return first < count ? !check->stopped : fits_none(check, at, &rule->as.list);
}

bool check_not(struct check *check, const struct at *at, const struct rule *rule)
{
    struct at alone = *at;
    alone.seen = NULL;
    if (!try(check, &alone, rule->as.node))
        return !check->stopped;
    if (check_tells(check, at->place, rule->kind)) {
        struct text text = TEXT_INIT;
        text_json(&text, rule->as.node->json);
        problem_add(&check->problems, at->place, "must not fit the schema %.*s",
                    (int)utf8_cut(text_cstr(&text), text.length, 200), text_cstr(&text));
        problem_got(&check->problems, at->value);
        text_release(&text);
    }
    return false;
}

bool check_if(struct check *check, const struct at *at, const struct rule *rule)
{
    const struct condition *condition = rule->as.condition;
    if (!condition->test)
        return true;
    const struct node *node =
        try(check, at, condition->test) ? condition->then : condition->otherwise;
    return !check->stopped && (!node || apply(check, at, node, at->seen));
}

bool check_when_member(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    for (size_t i = 0; i < rule->as.dependent.count; i++) {
        const struct property *entry = &rule->as.dependent.entries[i];
        if (json_object_get(at->value, entry->name))
            fits &= apply(check, at, entry->node, at->seen);
        if (!fits && !check_goes_on(check))
            return false;
    }
    return check_spend(check, rule->as.dependent.count / 4) && fits;
}
