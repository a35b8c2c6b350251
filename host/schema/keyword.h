/*
 * keyword - how a keyword of a schema is read: whether it is well-formed, and the rule that it
 * makes.  keyword.c has the table of them, keyword_value.c those that say something about a value,
 * keyword_schema.c those that have schemas in them.
 */
#ifndef SCHEMA_KEYWORD_H
#define SCHEMA_KEYWORD_H

#include "schema/compile.h"

/* The keyword that is being read, of a node whose rules begin at `base`. */
struct reading {
    struct compiler *compiler;
    struct node *node;
    size_t base;
    const char *keyword;
    const json_t *value;
    enum rule_kind kind; /* as the table says */
};

typedef bool keyword_read(const struct reading *reading);

/* False, with "must be WHAT, got …" in *error. */
bool keyword_must(const struct reading *reading, const char *what);
/* Whether the node has a rule of this kind already: some keywords make one together. */
bool keyword_has_rule(const struct reading *reading);
/* Another keyword of the same schema, or NULL. */
const json_t *keyword_beside(const struct reading *reading, const char *keyword);

/* A rule of the kind with the value as it is. */
keyword_read keyword_value;
bool keyword_size(const struct reading *reading, const char *keyword, const json_t *value,
                  size_t *out);
/* NULL: *error is set.  The schema owns it. */
struct pattern *keyword_regex(const struct reading *reading, const char *keyword, const char *regex,
                              size_t length);
bool keyword_is_names(const json_t *value);

keyword_read keyword_type, keyword_enum, keyword_limit, keyword_multiple, keyword_count,
    keyword_unique, keyword_pattern, keyword_required, keyword_dependent_required;
keyword_read keyword_members, keyword_dependent_schemas, keyword_dependencies, keyword_items,
    keyword_contains, keyword_list, keyword_child, keyword_if, keyword_reference,
    keyword_definitions, keyword_unused;

#endif
