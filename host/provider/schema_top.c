#include "provider/schema_top.h"

#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "provider/schema_pointer.h"

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"
/* Alternatives within alternatives are followed so far, and so many schemas, properties and names
 * are looked at; what is beyond says nothing. */
#define MAX_DEPTH    8
#define MAX_VALUES   4000

struct top {
    json_t *out;
    const json_t *root;
    size_t values; /* that were looked at */
    bool failed;   /* no memory */
};

static const char *const refused[] = {"allOf", "anyOf", "oneOf", "not", "enum", "const"};

#define REFUSED_COUNT (sizeof(refused) / sizeof(refused[0]))

/* Takes over `value`. */
static void set(struct top *top, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        top->failed = true;
}

static bool is_fine(const json_t *root)
{
    const char *type = json_member_string(root, "type");
    for (size_t i = 0; i < REFUSED_COUNT; i++)
        if (json_object_get(root, refused[i]))
            return false;
    return type && !strcmp(type, "object") && json_is_object(json_object_get(root, "properties"));
}

/* The object `key` of the result, with what it had in the schema. */
static json_t *object_of(struct top *top, const char *key)
{
    json_t *known = json_object_get(top->out, key);
    json_t *own = json_is_object(known) ? json_copy(known) : json_object();
    set(top, top->out, key, own);
    return json_object_get(top->out, key);
}

static bool holds(const json_t *list, const json_t *value)
{
    size_t i;
    json_t *one;
    json_array_foreach (list, i, one)
        if (json_equal(one, value))
            return true;
    return false;
}

/* The list that is all that a schema says, if that is so. */
static const json_t *list_of(const json_t *schema, const char *key)
{
    const json_t *list = json_object_size(schema) == 1 ? json_object_get(schema, key) : NULL;
    return json_is_array(list) ? list : NULL;
}

/* A property of which several say something is told as all that they say, in one list. */
static void add_property(struct top *top, json_t *properties, const char *name, json_t *schema,
                         bool is_alternative)
{
    const char *key = is_alternative ? "anyOf" : "allOf";
    json_t *known = json_object_get(properties, name);
    const json_t *list = list_of(known, key);
    if (!known) {
        set(top, properties, name, json_incref(schema));
        return;
    }
    if (json_equal(known, schema) || holds(list, schema))
        return;
    json_t *longer = list ? json_copy((json_t *)(uintptr_t)list) : json_pack("[O]", known);
    if (json_array_append(longer, schema) != 0)
        top->failed = true;
    json_t *both = json_object();
    set(top, both, key, longer);
    set(top, properties, name, both);
}

static void add_properties(struct top *top, const json_t *more, bool is_alternative)
{
    const char *name;
    json_t *schema;
    json_t *properties = json_object_get(top->out, "properties");
    json_object_foreach ((json_t *)(uintptr_t)more, name, schema)
        if (top->values++ < MAX_VALUES)
            add_property(top, properties, name, schema, is_alternative);
}

/* No name twice: that would be no JSON Schema. */
static void add_required(struct top *top, const json_t *names)
{
    size_t i;
    json_t *name;
    json_t *known = json_object_get(top->out, "required");
    json_t *all = json_is_array(known) ? json_copy(known) : json_array();
    json_array_foreach (names, i, name) {
        if (top->values++ >= MAX_VALUES || !json_is_string(name) || holds(all, name))
            continue;
        if (json_array_append(all, name) != 0)
            top->failed = true;
    }
    set(top, top->out, "required", all);
}

/* What `schema` says beside what the result has already. */
static void add_schema(struct top *top, const json_t *schema, bool is_alternative, unsigned depth)
{
    json_t *value;
    size_t i;
    if (top->values++ >= MAX_VALUES || !json_is_object(schema) || depth > MAX_DEPTH || top->failed)
        return;
    if (depth) {
        add_properties(top, json_object_get(schema, "properties"), is_alternative);
        if (!is_alternative && json_array_size(json_object_get(schema, "required")))
            add_required(top, json_object_get(schema, "required"));
        add_schema(top,
                   schema_pointed_at(top->root, json_member_string(schema, "$ref"), &top->failed),
                   is_alternative, depth + 1);
    }
    json_array_foreach (json_object_get(schema, "allOf"), i, value)
        add_schema(top, value, is_alternative, depth + 1);
    json_array_foreach (json_object_get(schema, "anyOf"), i, value)
        add_schema(top, value, true, depth + 1);
    json_array_foreach (json_object_get(schema, "oneOf"), i, value)
        add_schema(top, value, true, depth + 1);
}

static void rewrite(const json_t *root, struct text *out)
{
    struct top top = {.out = json_copy((json_t *)(uintptr_t)root),
                      .root = root,
                      .values = json_array_size(json_object_get(root, "required"))};
    set(&top, top.out, "type", json_string("object"));
    object_of(&top, "properties");
    if (!top.failed)
        add_schema(&top, root, false, 0);
    for (size_t i = 0; i < REFUSED_COUNT; i++)
        json_object_del(top.out, refused[i]);
    if (top.failed)
        out->failed = true;
    else
        text_json(out, top.out);
    json_decref(top.out);
}

void schema_put_top(const char *schema, struct text *out)
{
    struct error error = ERROR_INIT;
    json_t *root = schema && *schema ? json_parse_wide(schema, strlen(schema), &error) : NULL;
    if (!root && error.kind == ERROR_INTERNAL)
        out->failed = true;
    else if (!json_is_object(root))
        text_puts(out, NO_ARGUMENTS);
    else if (is_fine(root))
        text_puts(out, schema);
    else
        rewrite(root, out);
    json_decref(root);
}
