/*
 * node - what a schema is compiled to; compile.c and reference.c make it, check.c reads it.
 *
 * One node for each schema and subschema, with a rule for each keyword (or group of keywords)
 * that says something.  All of it lies in the schema's arena; texts are those of the document.
 */
#ifndef SCHEMA_NODE_H
#define SCHEMA_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/arena.h"
#include "schema/number.h"
#include "schema/pattern.h"

#define SCHEMA_DEPTH_MAX 200

/* The types of JSON Schema as bits; an integer is a number too. */
enum {
    TYPE_NULL = 1u << 0,
    TYPE_BOOLEAN = 1u << 1,
    TYPE_OBJECT = 1u << 2,
    TYPE_ARRAY = 1u << 3,
    TYPE_NUMBER = 1u << 4,
    TYPE_STRING = 1u << 5,
    TYPE_INTEGER = 1u << 6,
    TYPE_ANY = (1u << 7) - 1
};

/* In the order in which they are checked: what tells most about a wrong value comes first. */
enum rule_kind {
    RULE_TYPE,
    RULE_ENUM,
    RULE_CONST,
    RULE_MINIMUM,
    RULE_MAXIMUM,
    RULE_ABOVE,
    RULE_BELOW,
    RULE_MULTIPLE,
    RULE_MIN_LENGTH,
    RULE_MAX_LENGTH,
    RULE_PATTERN,
    RULE_MIN_ITEMS,
    RULE_MAX_ITEMS,
    RULE_UNIQUE,
    RULE_MIN_MEMBERS,
    RULE_MAX_MEMBERS,
    RULE_REQUIRED,
    RULE_DEPENDENT,
    RULE_NAMES,
    RULE_MEMBERS,
    RULE_ITEMS,
    RULE_CONTAINS,
    RULE_REFERENCE,
    RULE_DYNAMIC,
    RULE_ALL,
    RULE_ANY,
    RULE_ONE,
    RULE_NOT,
    RULE_IF,
    RULE_WHEN_MEMBER, /* dependentSchemas */
    RULE_OTHER_MEMBERS,
    RULE_OTHER_ITEMS,
    RULE_COUNT
};

struct node;

struct node_list {
    const struct node **nodes;
    size_t count;
};

struct property {
    const char *name;
    const struct node *node;
};

struct name_pattern {
    const char *regex;
    struct pattern *pattern;
    const struct node *node;
};

/* properties, patternProperties, additionalProperties */
struct members {
    const struct property *properties; /* sorted by name */
    size_t property_count;
    const json_t *listed; /* properties as they were written, or NULL */
    const struct name_pattern *patterns;
    size_t pattern_count;
    const struct node *others; /* NULL: anything */
};

/* prefixItems, items */
struct items {
    struct node_list first;
    const struct node *rest; /* NULL: anything */
};

struct contains {
    const struct node *node;
    size_t min, max;
};

struct condition {
    const struct node *test, *then, *otherwise; /* each may be NULL */
};

/* "$ref" and "$dynamicRef"; the target is set when all nodes are known. */
struct reference {
    const struct node *from;
    const char *keyword;
    const char *uri;
    const struct node *target;
    const char *anchor; /* what a dynamic one looks for along the way, or NULL */
};

struct rule {
    enum rule_kind kind;
    union {
        unsigned types;
        const json_t *value; /* of the keyword */
        size_t count;
        struct {
            struct decimal of;
            const json_t *written;
        } multiple;
        struct {
            struct pattern *pattern;
            const char *regex;
        } match;
        const struct members *members;
        const struct items *items;
        const struct contains *contains;
        const struct condition *condition;
        const struct reference *reference;
        struct node_list list;
        const struct node *node;
        struct {
            const struct property *entries;
            size_t count;
        } dependent;
    } as;
};

struct anchor {
    const char *name;
    const struct node *node;
    bool dynamic;
    const struct anchor *next;
};

/* A schema with an "$id", or the document. */
struct resource {
    const char *uri;
    const struct node *root;
    const struct anchor *anchors;
    size_t anchor_count;
    struct resource *next;
};

struct node {
    const json_t *json;
    const struct rule *rules;
    unsigned rule_count;
    bool never;              /* the schema `false` */
    bool tracks;             /* has unevaluatedProperties or unevaluatedItems */
    unsigned char loop_mark; /* reference.c's */
    size_t number;           /* among all nodes */
    struct resource *resource;

    /* Where it stands in the document, for messages. */
    const struct node *outer;
    const char *keyword; /* NULL: the document; or, of what only a $ref leads to, a pointer */
    const char *name;    /* in an object of schemas, or NULL … */
    size_t index;        /* … and the place in a list of schemas, or NO_INDEX */
};

#define NO_INDEX ((size_t)-1)

struct owned_pattern {
    struct pattern *pattern;
    struct owned_pattern *next;
};

struct schema {
    struct arena memory;
    json_t *document;
    const struct node *root;
    struct resource *resources; /* the document's is the last */
    struct owned_pattern *patterns;
};

/* The one of a resource, or NULL. */
const struct anchor *resource_anchor(const struct resource *resource, const char *name);

#endif
