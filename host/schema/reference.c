/* reference - what "$ref" and "$dynamicRef" lead to, and whether they ever come to an end. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hex.h"
#include "schema/compile.h"
#include "schema/uri.h"

struct node_entry {
    const json_t *json;
    const struct node *node;
    UT_hash_handle hh;
};

bool compile_reference(struct compiler *compiler, struct reference *reference)
{
    if (!array_reserve(&compiler->references, 1))
        return compile_no_memory(compiler);
    compiler->references.items[compiler->references.count++] = reference;
    return true;
}

void compile_release(struct compiler *compiler)
{
    HASH_CLEAR(hh, compiler->by_json);
    free(compiler->rules.items);
    free(compiler->references.items);
    free(compiler->nodes.items);
}

/* ---- nodes by their place ---- */

static bool add_entry(struct compiler *compiler, const struct node *node)
{
    struct node_entry *entry = compile_take(compiler, sizeof(*entry));
    if (!entry)
        return false;
    entry->json = node->json;
    entry->node = node;
    HASH_ADD_PTR(compiler->by_json, json, entry);
    return hash_added(entry) || compile_no_memory(compiler);
}

/* The node of a place.  One that is no place of a schema, such as "#/components/x", becomes one
 * because something refers to it. */
static const struct node *node_at(struct compiler *compiler, const json_t *json,
                                  const struct node *root, const char *pointer)
{
    size_t known = HASH_COUNT(compiler->by_json);
    for (; known < compiler->nodes.count; known++)
        if (!add_entry(compiler, compiler->nodes.items[known]))
            return NULL;
    struct node_entry *entry;
    HASH_FIND_PTR(compiler->by_json, &json, entry);
    if (entry)
        return entry->node;
    const char *keyword = arena_copy(&compiler->schema->memory, pointer + 1, strlen(pointer + 1));
    if (!keyword) {
        compile_no_memory(compiler);
        return NULL;
    }
    return compile_node(compiler, json, &(struct spot){root, keyword, NULL, NO_INDEX});
}

/* ---- fragments ---- */

static void decode_percent(const char *from, struct text *out)
{
    for (; *from; from++) {
        int byte = from[0] == '%' ? hex_byte(from + 1) : -1;
        text_putc(out, byte >= 0 ? (char)byte : *from);
        if (byte >= 0)
            from += 2;
    }
}

/* One token of a pointer, without its "/"; returns what comes behind it. */
static const char *read_token(const char *pointer, struct text *token)
{
    text_reset(token);
    for (; *pointer && *pointer != '/'; pointer++) {
        bool escaped = pointer[0] == '~' && (pointer[1] == '0' || pointer[1] == '1');
        text_putc(token, !escaped ? *pointer : pointer[1] == '1' ? '/' : '~');
        pointer += escaped;
    }
    return pointer;
}

static const json_t *element(const json_t *array, const char *token)
{
    char *end;
    unsigned long index = strtoul(token, &end, 10);
    bool good = *token >= '0' && *token <= '9' && !*end && (*token != '0' || !token[1]);
    return good ? json_array_get(array, index) : NULL;
}

/* NULL: there is nothing. */
static const json_t *follow(const json_t *json, const char *pointer)
{
    struct text token = TEXT_INIT;
    while (json && *pointer == '/') {
        pointer = read_token(pointer + 1, &token);
        const char *name = text_cstr(&token);
        json = json_is_array(json) ? element(json, name) : json_object_get(json, name);
    }
    bool failed = token.failed || *pointer;
    text_release(&token);
    return failed ? NULL : json;
}

/* ---- one reference ---- */

static const struct resource *find_resource(struct compiler *compiler,
                                            const struct reference *reference, size_t length)
{
    const struct resource *from = reference->from->resource;
    if (!length)
        return from;
    struct text uri = TEXT_INIT;
    uri_resolve(from->uri, reference->uri, length, &uri);
    const struct resource *resource = compiler->schema->resources;
    while (resource && strcmp(resource->uri, text_cstr(&uri)) != 0)
        resource = resource->next;
    if (uri.failed)
        compile_no_memory(compiler);
    else if (!resource)
        compile_wrong(compiler, reference->from, reference->keyword,
                      "names '%.200s', which is not in the schema: nothing is fetched, so copy it "
                      "into its \"$defs\", with its \"$id\"",
                      reference->uri);
    bool failed = uri.failed;
    text_release(&uri);
    return failed ? NULL : resource;
}

static bool find_target(struct compiler *compiler, struct reference *reference,
                        const struct resource *resource, const char *fragment)
{
    const struct anchor *anchor = NULL;
    const json_t *json = NULL;
    if (!*fragment)
        reference->target = resource->root;
    else if (*fragment == '/')
        json = follow(resource->root->json, fragment);
    else
        anchor = resource_anchor(resource, fragment);
    if (json)
        reference->target = node_at(compiler, json, resource->root, fragment);
    if (anchor) {
        reference->target = anchor->node;
        if (anchor->dynamic)
            reference->anchor = anchor->name; /* only a "$dynamicRef" looks at it */
    }
    if (json || reference->target)
        return reference->target != NULL;
    return compile_wrong(compiler, reference->from, reference->keyword,
                         "names '%.200s', which is not in the schema", reference->uri);
}

static bool resolve(struct compiler *compiler, struct reference *reference)
{
    size_t length = strcspn(reference->uri, "#");
    const struct resource *resource = find_resource(compiler, reference, length);
    if (!resource)
        return false;
    struct text fragment = TEXT_INIT;
    decode_percent(reference->uri[length] ? reference->uri + length + 1 : "", &fragment);
    bool good = fragment.failed ? compile_no_memory(compiler)
                                : find_target(compiler, reference, resource, text_cstr(&fragment));
    text_release(&fragment);
    return good;
}

/* ---- references that go round ---- */

enum { LOOP_UNSEEN, LOOP_ON_THE_WAY, LOOP_ENDS };

struct walk {
    struct compiler *compiler;
    unsigned depth;
};

static bool walk(struct walk *state, const struct node *node, const struct reference *by);

static bool walk_list(struct walk *state, const struct node_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!walk(state, list->nodes[i], NULL))
            return false;
    return true;
}

/* What a rule applies to the same value. */
static bool walk_rule(struct walk *state, const struct rule *rule)
{
    switch (rule->kind) {
    case RULE_REFERENCE:
    case RULE_DYNAMIC:
        return walk(state, rule->as.reference->target, rule->as.reference);
    case RULE_ALL:
    case RULE_ANY:
    case RULE_ONE:
        return walk_list(state, &rule->as.list);
    case RULE_NOT:
        return walk(state, rule->as.node, NULL);
    case RULE_IF:
        return walk(state, rule->as.condition->test, NULL) &&
               walk(state, rule->as.condition->then, NULL) &&
               walk(state, rule->as.condition->otherwise, NULL);
    case RULE_WHEN_MEMBER:
        for (size_t i = 0; i < rule->as.dependent.count; i++)
            if (!walk(state, rule->as.dependent.entries[i].node, NULL))
                return false;
        return true;
    default:
        return true;
    }
}

static bool walk(struct walk *state, const struct node *node, const struct reference *by)
{
    if (!node || node->loop_mark == LOOP_ENDS)
        return true;
    if (node->loop_mark == LOOP_ON_THE_WAY)
        return compile_wrong(state->compiler, by ? by->from : node, by ? by->keyword : NULL,
                             "leads back to itself: a check would never end");
    if (state->depth >= SCHEMA_DEPTH_MAX)
        return compile_wrong(state->compiler, node, NULL, "is reached by more than %d references",
                             SCHEMA_DEPTH_MAX);
    struct node *mine = state->compiler->nodes.items[node->number];
    mine->loop_mark = LOOP_ON_THE_WAY;
    state->depth++;
    for (unsigned i = 0; i < node->rule_count; i++)
        if (!walk_rule(state, &node->rules[i]))
            return false;
    state->depth--;
    mine->loop_mark = LOOP_ENDS;
    return true;
}

bool compile_references(struct compiler *compiler)
{
    for (size_t i = 0; i < compiler->references.count; i++)
        if (!resolve(compiler, compiler->references.items[i]))
            return false;
    struct walk state = {.compiler = compiler};
    for (size_t i = 0; compiler->references.count && i < compiler->nodes.count; i++)
        if (!walk(&state, compiler->nodes.items[i], NULL))
            return false;
    return true;
}
