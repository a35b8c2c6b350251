/*
 * compile - what the parts of the compiler share: compile.c walks the document, keyword.c reads
 * each keyword, reference.c finds what the references lead to.
 *
 * The first failure is kept in *error and everything returns false (or NULL) from there on.
 */
#ifndef SCHEMA_COMPILE_H
#define SCHEMA_COMPILE_H

#include "base/error.h"
#include "schema/node.h"

struct node_entry; /* reference.c's */

struct compiler {
    struct schema *schema;
    struct error *error;
    unsigned depth;
    unsigned name_count;
    struct {
        struct rule *items;
        size_t count, capacity;
    } rules; /* a stack: those of the nodes that are being read */
    struct {
        struct reference **items;
        size_t count, capacity;
    } references;
    struct {
        struct node **items;
        size_t count, capacity;
    } nodes;
    struct node_entry *by_json; /* made when the first reference needs it */
};

/* Where a subschema stands: see struct node. */
struct spot {
    const struct node *outer;
    const char *keyword;
    const char *name;
    size_t index;
};

/* A subschema and all in it.  NULL when it cannot be used. */
const struct node *compile_node(struct compiler *compiler, const json_t *json,
                                const struct spot *spot);

/* Adds a rule to the node that is being read; NULL: no memory. */
struct rule *compile_rule(struct compiler *compiler, enum rule_kind kind);
/* Memory that lives as long as the schema; NULL: no memory, and *error says so. */
void *compile_take(struct compiler *compiler, size_t bytes);

/* False, with "'/properties/a/minimum' …" in *error; the place is that of `keyword` in the node,
 * or the node's own when it is NULL. */
bool compile_wrong(struct compiler *compiler, const struct node *node, const char *keyword,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
bool compile_no_memory(struct compiler *compiler);

/* Reads all keywords of an object; `base` is the first rule of the node. */
bool compile_keywords(struct compiler *compiler, struct node *node, size_t base);

/* Keeps a reference for compile_references(). */
bool compile_reference(struct compiler *compiler, struct reference *reference);
/* Finds the target of every reference, also of those that turn up on the way, and refuses
 * references that lead back to themselves. */
bool compile_references(struct compiler *compiler);
void compile_release(struct compiler *compiler);

#endif
