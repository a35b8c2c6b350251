/* check_members - the keywords of objects and lists. */
#include <string.h>

#include "base/suggest.h"
#include "schema/check.h"
#include "schema/unconst.h"

/* ---- names ---- */

static bool complain_missing(struct check *check, const struct at *at, const struct rule *rule,
                             const char *name, const char *because)
{
    struct place place = {.outer = at->place, .name = name};
    if (check_tells(check, &place, rule->kind)) {
        problem_add(&check->problems, &place, "is required");
        if (because)
            problem_more(&check->problems, " beside '%.64s'", because);
    }
    return false;
}

static bool has_all(struct check *check, const struct at *at, const struct rule *rule,
                    const json_t *names, const char *because)
{
    bool fits = true;
    size_t count = json_array_size(names);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (json_object_get(at->value, name))
            continue;
        fits = complain_missing(check, at, rule, name, because);
        if (!check_goes_on(check))
            return false;
    }
    return check_spend(check, count / 4) && fits;
}

bool check_required(struct check *check, const struct at *at, const struct rule *rule)
{
    return has_all(check, at, rule, rule->as.value, NULL);
}

bool check_dependent(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    const char *name;
    json_t *names, *dependent = unconst(rule->as.value);
    json_object_foreach (dependent, name, names) {
        if (json_object_get(at->value, name) && !has_all(check, at, rule, names, name))
            fits = false;
        if (!fits && !check_goes_on(check))
            return false;
    }
    return check_spend(check, json_object_size(rule->as.value) / 4) && fits;
}

/* A name is checked as the string that it is. */
bool check_names(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    const char *name;
    json_t *member, *object = unconst(at->value);
    json_object_foreach (object, name, member) {
        struct place place = {.outer = at->place, .name = name};
        json_t *string = json_string_nocheck(name);
        if (!string)
            return check_no_memory(check);
        bool fine = check_node(check, rule->as.node, string, &place, NULL, at->scope);
        json_decref(string);
        fits &= fine;
        if (!fine && !check_goes_on(check))
            return false;
    }
    return fits;
}

/* ---- members ---- */

static const struct node *find_property(const struct members *members, const char *name)
{
    size_t low = 0, high = members->property_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, members->properties[middle].name);
        if (!order)
            return members->properties[middle].node;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static void complain_unknown(struct check *check, const struct place *place, const json_t *listed)
{
    struct problems *problems = &check->problems;
    bool arguments = problems->subject != PROBLEM_RESULT && !place->outer;
    const char *what = arguments ? "arguments" : "members";
    struct suggestion suggestion;
    suggestion_begin(&suggestion, place->name);
    json_t *known = unconst(listed);
    const char *name;
    json_t *member;
    json_object_foreach (known, name, member)
        suggestion_consider(&suggestion, name);
    problem_add(problems, place, "is not known");
    if (suggestion.best)
        problem_more(problems, "; did you mean '%s'?", suggestion.best);
    bool first = true;
    json_object_foreach (known, name, member) {
        if (first)
            problem_more(problems, " (the %s are '%.64s'", what, name);
        else
            problem_more(problems, ", '%.64s'", name);
        first = false;
    }
    if (first)
        problem_more(problems, " (there are no %s", what);
    problem_more(problems, ")");
}

/* Also sets *hit when a pattern is for the name. */
static bool check_patterns(struct check *check, const struct at *at, const struct members *members,
                           const struct place *place, const json_t *member, bool *hit)
{
    bool fits = true;
    for (size_t i = 0; i < members->pattern_count; i++) {
        const struct name_pattern *pattern = &members->patterns[i];
        struct error error = ERROR_INIT;
        bool matches;
        if (!check_spend(check, 1))
            return false;
        if (!pattern_matches(pattern->pattern, place->name, strlen(place->name), &check->clock,
                             &matches, &error))
            return error.kind == ERROR_INTERNAL
                       ? check_no_memory(check)
                       : check_stop(check, at->place,
                                    "must not have names that take so much work to match the "
                                    "pattern '%.200s'",
                                    pattern->regex);
        if (!matches)
            continue;
        *hit = true;
        fits &= check_node(check, pattern->node, member, place, NULL, at->scope);
        if (!fits && !check_goes_on(check))
            return false;
    }
    return fits;
}

static bool check_member(struct check *check, const struct at *at, const struct members *members,
                         const struct place *place, const json_t *member, bool *hit)
{
    const struct node *node = find_property(members, place->name);
    bool fits = !node || check_node(check, node, member, place, NULL, at->scope);
    *hit = node != NULL;
    if (members->pattern_count && (fits || check_goes_on(check)))
        fits &= check_patterns(check, at, members, place, member, hit);
    if (*hit || !members->others)
        return fits;
    *hit = true;
    if (!members->others->never)
        return check_node(check, members->others, member, place, NULL, at->scope);
    if (check_tells(check, place, RULE_MEMBERS))
        complain_unknown(check, place, members->listed);
    return false;
}

bool check_members(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    size_t index = 0;
    const char *name;
    json_t *member, *object = unconst(at->value);
    json_object_foreach (object, name, member) {
        struct place place = {.outer = at->place, .name = name};
        bool hit;
        bool fine = check_member(check, at, rule->as.members, &place, member, &hit);
        if (hit && at->seen)
            seen_add(at->seen, index);
        index++;
        fits &= fine;
        if (!fine && !check_goes_on(check))
            return false;
    }
    return check_spend(check, index / 4) && fits;
}

static bool check_other_member(struct check *check, const struct at *at, const struct rule *rule,
                               const json_t *member, const struct place *place)
{
    if (!rule->as.node->never)
        return check_node(check, rule->as.node, member, place, NULL, at->scope);
    if (check_tells(check, place, rule->kind))
        problem_add(&check->problems, place, "is not known");
    return false;
}

bool check_other_members(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    size_t index = 0;
    const char *name;
    json_t *member, *object = unconst(at->value);
    json_object_foreach (object, name, member) {
        struct place place = {.outer = at->place, .name = name};
        bool fine = seen_has(at->seen, index) || check_other_member(check, at, rule, member, &place);
        seen_add(at->seen, index++);
        fits &= fine;
        if (!fine && !check_goes_on(check))
            return false;
    }
    return fits;
}

/* ---- items ---- */

static bool check_item(struct check *check, const struct at *at, const struct node *node,
                       size_t index)
{
    struct place place = {.outer = at->place, .index = index};
    if (at->seen)
        seen_add(at->seen, index);
    return check_node(check, node, json_array_get(at->value, index), &place, NULL, at->scope);
}

bool check_items(struct check *check, const struct at *at, const struct rule *rule)
{
    const struct items *items = rule->as.items;
    size_t count = json_array_size(at->value);
    bool fits = true;
    for (size_t i = 0; i < count; i++) {
        const struct node *node = i < items->first.count ? items->first.nodes[i] : items->rest;
        if (!node)
            return fits;
        if (check_item(check, at, node, i))
            continue;
        fits = false;
        if (!check_goes_on(check))
            return false;
    }
    return fits;
}

bool check_other_items(struct check *check, const struct at *at, const struct rule *rule)
{
    bool fits = true;
    for (size_t i = 0; i < at->seen->count; i++) {
        if (seen_has(at->seen, i) || check_item(check, at, rule->as.node, i))
            continue;
        fits = false;
        if (!check_goes_on(check))
            return false;
    }
    return fits;
}

bool check_contains(struct check *check, const struct at *at, const struct rule *rule)
{
    const struct contains *contains = rule->as.contains;
    enum check_mode mode = check->mode;
    size_t found = 0, count = json_array_size(at->value);
    check->mode = CHECK_QUIET;
    for (size_t i = 0; i < count && !check->stopped; i++) {
        if (!check_node(check, contains->node, json_array_get(at->value, i), NULL, NULL, at->scope))
            continue;
        found++;
        if (at->seen)
            seen_add(at->seen, i);
    }
    check->mode = mode;
    if (found >= contains->min && found <= contains->max)
        return !check->stopped;
    if (check_tells(check, at->place, rule->kind))
        problem_add(&check->problems, at->place,
                    "must have at %s %zu items that fit its "
                    "\"contains\", got %zu",
                    found < contains->min ? "least" : "most",
                    found < contains->min ? contains->min : contains->max, found);
    return false;
}
