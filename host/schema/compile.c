#include "schema/compile.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "schema/schema.h"
#include "schema/unconst.h"
#include "schema/uri.h"

/* A reference may make schemas of what is in other schemas, and looks at the names one by one:
 * without an end to both, a schema of a megabyte could take gigabytes, and minutes. */
enum { MAX_NODES = 100000, MAX_NAMES = 1000 };

/* ---- what goes wrong ---- */

static void put_escaped(struct text *out, const char *token)
{
    for (; *token; token++) {
        if (*token == '~')
            text_puts(out, "~0");
        else if (*token == '/')
            text_puts(out, "~1");
        else
            text_putc(out, *token);
    }
}

/* A JSON pointer. */
static void put_pointer(struct text *out, const struct node *node)
{
    if (node->outer)
        put_pointer(out, node->outer);
    if (!node->keyword)
        return;
    text_printf(out, "/%s", node->keyword);
    if (node->name) {
        text_putc(out, '/');
        put_escaped(out, node->name);
    } else if (node->index != NO_INDEX) {
        text_printf(out, "/%zu", node->index);
    }
}

bool compile_wrong(struct compiler *compiler, const struct node *node, const char *keyword,
                   const char *format, ...)
{
    struct text text = TEXT_INIT;
    put_pointer(&text, node);
    if (keyword)
        text_printf(&text, "/%s", keyword);
    struct text message = TEXT_INIT;
    text_puts(&message, text.length ? "'" : "it ");
    text_append(&message, text_cstr(&text), text.length);
    text_puts(&message, text.length ? "' " : "");
    va_list args;
    va_start(args, format);
    text_vprintf(&message, format, args);
    va_end(args);
    if (text.failed || message.failed)
        error_memory(compiler->error);
    else
        error_set(compiler->error, ERROR_PLUGIN, "%s", text_cstr(&message));
    text_release(&text);
    text_release(&message);
    return false;
}

bool compile_no_memory(struct compiler *compiler)
{
    return error_memory(compiler->error);
}

void *compile_take(struct compiler *compiler, size_t bytes)
{
    void *memory = arena_alloc(&compiler->schema->memory, bytes ? bytes : 1);
    if (!memory)
        compile_no_memory(compiler);
    return memory;
}

/* ---- rules ---- */

struct rule *compile_rule(struct compiler *compiler, enum rule_kind kind)
{
    if (!array_reserve(&compiler->rules, 1)) {
        compile_no_memory(compiler);
        return NULL;
    }
    struct rule *rule = &compiler->rules.items[compiler->rules.count++];
    *rule = (struct rule){.kind = kind};
    return rule;
}

/* There are few, and most are in order. */
static void sort_rules(struct rule *rules, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct rule rule = rules[i];
        size_t at = i;
        for (; at > 0 && rules[at - 1].kind > rule.kind; at--)
            rules[at] = rules[at - 1];
        rules[at] = rule;
    }
}

/* Moves the rules above `base` from the stack to the node. */
static bool keep_rules(struct compiler *compiler, struct node *node, size_t base)
{
    size_t count = compiler->rules.count - base;
    if (!count)
        return true;
    struct rule *rules = compile_take(compiler, count * sizeof(*rules));
    if (!rules)
        return false;
    memcpy(rules, compiler->rules.items + base, count * sizeof(*rules));
    sort_rules(rules, count);
    node->rules = rules;
    node->rule_count = (unsigned)count;
    compiler->rules.count = base;
    return true;
}

/* ---- names of schemas ---- */

const struct anchor *resource_anchor(const struct resource *resource, const char *name)
{
    const struct anchor *anchor = resource->anchors;
    while (anchor && strcmp(anchor->name, name) != 0)
        anchor = anchor->next;
    return anchor;
}

/* What is wrong with the document as a whole is wrong at no place in it. */
static const struct node the_whole = {.index = NO_INDEX};

static bool count_name(struct compiler *compiler)
{
    return compiler->name_count++ < MAX_NAMES ||
           compile_wrong(compiler, &the_whole, NULL,
                         "has more than %d names: \"$id\", \"$anchor\", \"$dynamicAnchor\"",
                         MAX_NAMES);
}

static bool add_anchor(struct compiler *compiler, struct node *node, struct resource *resource,
                       const char *name, bool dynamic)
{
    struct anchor *anchor = count_name(compiler) ? compile_take(compiler, sizeof(*anchor)) : NULL;
    if (!anchor)
        return false;
    *anchor = (struct anchor){name, node, dynamic, resource->anchors};
    resource->anchors = anchor;
    resource->anchor_count++;
    return true;
}

static struct resource *add_resource(struct compiler *compiler, struct node *node, const char *base,
                                     const char *id)
{
    struct resource *resource =
        count_name(compiler) ? compile_take(compiler, sizeof(*resource)) : NULL;
    if (!resource)
        return NULL;
    struct text uri = TEXT_INIT;
    uri_resolve(base, id, strcspn(id, "#"), &uri);
    const char *copy = text_keep(&uri, &compiler->schema->memory);
    if (!copy) {
        compile_no_memory(compiler);
        return NULL;
    }
    *resource = (struct resource){.uri = copy, .root = node, .next = compiler->schema->resources};
    compiler->schema->resources = resource;
    return resource;
}

/* NULL: absent.  *wrong: it is no string. */
static const char *read_name(struct compiler *compiler, const struct node *node,
                             const char *keyword, bool *wrong)
{
    const json_t *value = json_object_get(node->json, keyword);
    if (value && !json_is_string(value))
        *wrong = !compile_wrong(compiler, node, keyword, "must be a string");
    return json_string_value(value);
}

/* $id, $anchor and $dynamicAnchor.  An $id that is only a fragment is an anchor of draft 7. */
static bool read_names(struct compiler *compiler, struct node *node, struct resource *outer)
{
    bool wrong = false;
    const char *id = read_name(compiler, node, "$id", &wrong);
    const char *anchor = read_name(compiler, node, "$anchor", &wrong);
    const char *dynamic = read_name(compiler, node, "$dynamicAnchor", &wrong);
    if (wrong)
        return false;
    struct resource *resource = outer;
    if (!outer || (id && id[0] != '#'))
        resource =
            add_resource(compiler, node, outer ? outer->uri : "", id && id[0] != '#' ? id : "");
    if (!resource)
        return false;
    node->resource = resource;
    return (!id || id[0] != '#' || add_anchor(compiler, node, resource, id + 1, false)) &&
           (!anchor || add_anchor(compiler, node, resource, anchor, false)) &&
           (!dynamic || add_anchor(compiler, node, resource, dynamic, true));
}

/* ---- nodes ---- */

static bool read_node(struct compiler *compiler, struct node *node, struct resource *outer)
{
    if (json_is_boolean(node->json)) {
        node->never = json_is_false(node->json);
        node->resource = outer;
        return outer || read_names(compiler, node, NULL);
    }
    if (!json_is_object(node->json))
        return compile_wrong(compiler, node, NULL, "must be a schema: an object or a boolean");
    size_t base = compiler->rules.count;
    return read_names(compiler, node, outer) && compile_keywords(compiler, node, base) &&
           keep_rules(compiler, node, base);
}

const struct node *compile_node(struct compiler *compiler, const json_t *json,
                                const struct spot *spot)
{
    struct node *node = compile_take(compiler, sizeof(*node));
    if (!node)
        return NULL;
    *node = (struct node){.json = json,
                          .number = compiler->nodes.count,
                          .outer = spot->outer,
                          .keyword = spot->keyword,
                          .name = spot->name,
                          .index = spot->index};
    if (compiler->depth >= SCHEMA_DEPTH_MAX) {
        compile_wrong(compiler, node, NULL, "is nested more than %d deep", SCHEMA_DEPTH_MAX);
        return NULL;
    }
    if (node->number >= MAX_NODES) {
        compile_wrong(compiler, &the_whole, NULL, "has more than %d schemas in it", MAX_NODES);
        return NULL;
    }
    if (!array_reserve(&compiler->nodes, 1)) {
        compile_no_memory(compiler);
        return NULL;
    }
    compiler->nodes.items[compiler->nodes.count++] = node;
    compiler->depth++;
    struct resource *outer = spot->outer ? spot->outer->resource : NULL;
    bool good = read_node(compiler, node, outer);
    compiler->depth--;
    return good ? node : NULL;
}

/* ---- the whole ---- */

struct schema *schema_compile(json_t *document, struct error *error)
{
    struct error own = ERROR_INIT;
    struct schema *schema = calloc(1, sizeof(*schema));
    if (!schema) {
        error_memory(error);
        return NULL;
    }
    arena_init(&schema->memory, NULL, 0);
    schema->document = json_incref(document);
    struct compiler compiler = {.schema = schema, .error = error ? error : &own};
    schema->root = compile_node(&compiler, document, &(struct spot){.index = NO_INDEX});
    bool good = schema->root && compile_references(&compiler);
    compile_release(&compiler);
    if (good)
        return schema;
    schema_free(schema);
    return NULL;
}

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    for (struct owned_pattern *owned = schema->patterns; owned; owned = owned->next)
        pattern_free(owned->pattern);
    json_decref(schema->document);
    arena_release(&schema->memory);
    free(schema);
}
