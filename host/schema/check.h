/*
 * check - what the parts of a check share: check.c walks the rules, check_value.c knows scalars,
 * check_members.c objects and lists, check_choice.c the keywords that try schemas.
 *
 * A check is loud, quiet, or weighs: loud writes problems and goes on to find more, quiet stops
 * at the first, and weighing counts them to find out which of several schemas was meant.
 */
#ifndef SCHEMA_CHECK_H
#define SCHEMA_CHECK_H

#include <stdint.h>

#include "schema/node.h"
#include "schema/problem.h"

enum check_mode { CHECK_LOUD, CHECK_QUIET, CHECK_WEIGHING };

/* How far a value is from a schema: by the worst problem, then by how many there are. */
enum blame {
    BLAME_NONE,
    BLAME_DETAIL, /* something inside is wrong */
    BLAME_TAG,    /* a member is none of the constants that tell schemas apart */
    BLAME_TYPE    /* it is of another type altogether */
};

struct weight {
    const struct place *place; /* of the value that is weighed */
    enum blame blame;
    unsigned count;
    unsigned types; /* that the value should have been of */
};

struct check {
    enum check_mode mode;
    struct problems problems;
    struct weight *weight; /* of CHECK_WEIGHING */
    int64_t budget;
    struct pattern_clock clock;
    unsigned depth;
    bool of_nearest; /* what was told last says that it is by the nearest of several schemas */
    bool stopped;    /* it cannot be said whether the value fits; the problem says why */
};

/* The resources that references led through, the newest first. */
struct scope {
    const struct resource *resource;
    const struct scope *outer;
};

/* Which members (by their order) or items were looked at, for unevaluatedProperties and
 * unevaluatedItems. */
struct seen {
    unsigned char *bits;
    size_t count;
    unsigned char few[32];
};

/* A value that meets a node. */
struct at {
    const struct node *node;
    const json_t *value;
    const struct place *place;
    struct seen *seen; /* NULL: nobody asks */
    const struct scope *scope;
};

typedef bool rule_check(struct check *check, const struct at *at, const struct rule *rule);

/* ---- check.c ---- */

/* True: it fits.  `seen` may be NULL. */
bool check_node(struct check *check, const struct node *node, const json_t *value,
                const struct place *place, struct seen *seen, const struct scope *scope);

/* Counts a problem of the kind at the place; true when its words are wanted. */
bool check_tells(struct check *check, const struct place *place, enum rule_kind kind);
/* After a failure: whether further ones are of interest. */
bool check_goes_on(const struct check *check);
/* Takes so much of the budget; false: there is not enough. */
bool check_spend(struct check *check, size_t work);
/* Ends the check, with this as its only problem.  Returns false. */
bool check_stop(struct check *check, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool check_no_memory(struct check *check);

bool seen_init(struct seen *seen, const json_t *value);
void seen_release(struct seen *seen);
void seen_add(struct seen *seen, size_t index);
bool seen_has(const struct seen *seen, size_t index);
void seen_merge(struct seen *seen, const struct seen *more);

/* The type of a value as bits: an integer is a number too. */
unsigned check_type_of(const json_t *value);
/* "string or null" */
void check_put_types(struct problems *problems, unsigned types);

/* ---- by keyword; the rule fits the type of the value ---- */

rule_check check_type, check_enum, check_const, check_limit, check_multiple, check_length,
    check_pattern, check_size, check_unique;
rule_check check_required, check_dependent, check_names, check_members, check_other_members,
    check_items, check_contains, check_other_items;
rule_check check_all, check_any, check_one, check_not, check_if, check_when_member;

#endif
