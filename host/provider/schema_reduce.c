#include "provider/schema_reduce.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "provider/schema_pointer.h"

/* References that lead into references double with every level, and may lead to something large
 * again and again: what is deeper, or for what no bytes are left, says nothing, which allows
 * everything. */
#define MAX_DEPTH    24
#define MAX_BYTES    ((size_t)1 << 20)
#define VALUE_BYTES  64 /* what a value takes beside its text */

#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

struct projection {
    const json_t *root;
    const json_t *following[MAX_DEPTH]; /* what the references on the way led to */
    unsigned follow_count;
    unsigned depth;
    size_t bytes; /* that are left */
    bool failed;  /* no memory */
};

static json_t *project(struct projection *projection, const json_t *schema);
static json_t *collect(struct projection *projection, const json_t *schema);

static json_t *unconst(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

/* Takes what a value needs with its text, or with its members and their texts, but not with what is
 * below those.  False: so much is not left. */
static bool has_room(struct projection *projection, const json_t *value)
{
    const char *name;
    size_t i, length;
    json_t *one;
    size_t count = 1 + json_array_size(value) + json_object_size(value);
    if (count > projection->bytes / VALUE_BYTES)
        return false;
    size_t bytes = count * VALUE_BYTES + json_string_length(value);
    json_array_foreach (value, i, one)
        bytes += json_string_length(one);
    json_object_keylen_foreach(unconst(value), name, length, one)
        bytes += length;
    if (bytes > projection->bytes)
        return false;
    projection->bytes -= bytes;
    return true;
}

/* Takes over `value`. */
static void set(struct projection *projection, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        projection->failed = true;
}

static void append(struct projection *projection, json_t *list, json_t *value)
{
    if (!value || json_array_append_new(list, value) != 0)
        projection->failed = true;
}

/* ---- references ---- */

static bool is_followed(const struct projection *projection, const json_t *target)
{
    for (unsigned i = 0; i < projection->follow_count; i++)
        if (projection->following[i] == target)
            return true;
    return false;
}

/* ---- keywords ---- */

/* Whether all are texts, or all numbers; *type is then what they are. */
static bool are_alike(const json_t *values, const char **type)
{
    size_t i;
    json_t *value;
    *type = NULL;
    json_array_foreach (values, i, value) {
        const char *its = json_is_string(value)    ? "string"
                          : json_is_integer(value) ? "integer"
                          : json_is_real(value)    ? "number"
                                                   : NULL;
        if (!its || (*type && (**type == 's') != (*its == 's')))
            return false;
        if (!*type || *its == 'n')
            *type = its;
    }
    return *type != NULL;
}

/* `values` are those of "enum", or the one of "const". */
static void put_enum(struct projection *projection, json_t *out, const json_t *values)
{
    const char *type;
    if (!json_array_size(values) || !has_room(projection, values) || !are_alike(values, &type))
        return;
    set(projection, out, "enum", json_deep_copy(values));
    if (!json_object_get(out, "type"))
        set(projection, out, "type", json_string(type));
}

static void put_const(struct projection *projection, json_t *out, const json_t *value)
{
    json_t *one = value ? json_pack("[O]", unconst(value)) : NULL;
    if (one)
        put_enum(projection, out, one);
    else if (value)
        projection->failed = true;
    json_decref(one);
}

static bool is_known_format(const char *format)
{
    static const char *const formats[] = {"date-time", "date", "time", "enum"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(format, formats[i]))
            return true;
    return false;
}

/* A limit by exclusion is told as the one beside it: a little too much, and better than nothing. */
static void put_numbers(struct projection *projection, json_t *out, const json_t *schema)
{
    static const char *const keys[][2] = {{"minimum", "minimum"},
                                          {"maximum", "maximum"},
                                          {"exclusiveMinimum", "minimum"},
                                          {"exclusiveMaximum", "maximum"}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *value = json_object_get(schema, keys[i][0]);
        if (json_is_number(value) && !json_object_get(out, keys[i][1]))
            set(projection, out, keys[i][1], json_copy(unconst(value)));
    }
    static const char *const counts[] = {"minItems", "maxItems"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_object_get(schema, counts[i]);
        if (json_is_integer(value))
            set(projection, out, counts[i], json_copy(unconst(value)));
    }
}

static bool is_type_name(const json_t *value)
{
    static const char *const names[] = {"object",  "array",   "string", "number",
                                        "integer", "boolean", "null"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (json_is_string(value) && !strcmp(json_string_value(value), names[i]))
            return true;
    return false;
}

static bool is_type(const json_t *value)
{
    size_t i;
    json_t *name;
    json_array_foreach (value, i, name)
        if (!is_type_name(name))
            return false;
    return is_type_name(value) || json_array_size(value) > 0;
}

static void put_plain(struct projection *projection, json_t *out, const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const char *format = json_member_string(schema, "format");
    static const char *const words[] = {"title", "description"};
    if (type && has_room(projection, type) && is_type(type))
        set(projection, out, "type", json_deep_copy(type));
    if (format && is_known_format(format))
        set(projection, out, "format", json_string(format));
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_object_get(schema, words[i]);
        if (json_is_string(value) && has_room(projection, value))
            set(projection, out, words[i], json_copy(unconst(value)));
    }
    put_numbers(projection, out, schema);
    put_enum(projection, out, json_object_get(schema, "enum"));
    put_const(projection, out, json_object_get(schema, "const"));
}

static void put_properties(struct projection *projection, json_t *out, const json_t *properties)
{
    const char *name;
    size_t length;
    json_t *schema;
    if (!json_is_object(properties) || !has_room(projection, properties))
        return;
    json_t *known = json_object_get(out, "properties");
    if (!known) {
        set(projection, out, "properties", json_object());
        known = json_object_get(out, "properties");
    }
    json_object_keylen_foreach(unconst(properties), name, length, schema)
    {
        if (json_object_getn(known, name, length))
            continue;
        json_t *value = project(projection, schema);
        if (!value || json_object_setn_new(known, name, length, value) != 0)
            projection->failed = true;
    }
}

static bool holds(const json_t *list, const json_t *string)
{
    size_t i;
    json_t *value;
    json_array_foreach (list, i, value)
        if (json_equal(value, string))
            return true;
    return false;
}

/* Adds the names to those that are there. */
static void put_required(struct projection *projection, json_t *out, const json_t *names)
{
    size_t i;
    json_t *name;
    if (!json_is_array(names) || !has_room(projection, names))
        return;
    json_array_foreach (names, i, name) {
        json_t *known = json_object_get(out, "required");
        if (!json_is_string(name) || holds(known, name))
            continue;
        if (!known) {
            set(projection, out, "required", json_array());
            known = json_object_get(out, "required");
        }
        append(projection, known, json_copy(name));
    }
}

static void put_list(struct projection *projection, json_t *out, const char *key,
                     const json_t *schemas)
{
    size_t i;
    json_t *schema;
    if (!json_array_size(schemas) || json_object_get(out, key) || !has_room(projection, schemas))
        return;
    json_t *list = json_array();
    json_array_foreach (schemas, i, schema)
        append(projection, list, project(projection, schema));
    set(projection, out, key, list);
}

static void put_applied(struct projection *projection, json_t *out, const json_t *schema)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *others = json_object_get(schema, "additionalProperties");
    put_properties(projection, out, json_object_get(schema, "properties"));
    put_required(projection, out, json_object_get(schema, "required"));
    if (json_is_boolean(others))
        set(projection, out, "additionalProperties", json_copy(unconst(others)));
    else if (json_is_object(others))
        set(projection, out, "additionalProperties", project(projection, others));
    put_list(projection, out, "prefixItems", json_object_get(schema, "prefixItems"));
    if (json_is_array(items))
        put_list(projection, out, "prefixItems", items);
    else if (items)
        set(projection, out, "items", project(projection, items));
    put_list(projection, out, "anyOf", json_object_get(schema, "anyOf"));
    put_list(projection, out, "anyOf", json_object_get(schema, "oneOf"));
}

/* ---- schemas ---- */

/* Adds the members that are not there. */
static void merge_members(struct projection *projection, json_t *out, const json_t *more)
{
    const char *key;
    size_t length;
    json_t *value;
    json_object_keylen_foreach(
        unconst(more), key, length,
        value) if (!json_object_getn(out, key, length) &&
                   json_object_setn_new(out, key, length, json_incref(value)) != 0)
        projection->failed = true;
}

/* Adds what another schema says of the same value; what is said already stays. */
static void merge(struct projection *projection, json_t *out, const json_t *more)
{
    json_t *properties = json_object_get(out, "properties");
    if (properties)
        merge_members(projection, properties, json_object_get(more, "properties"));
    put_required(projection, out, json_object_get(more, "required"));
    merge_members(projection, out, more);
}

static void merge_schema(struct projection *projection, json_t *out, const json_t *schema)
{
    json_t *more = collect(projection, schema);
    if (more)
        merge(projection, out, more);
    json_decref(more);
}

static void put_all(struct projection *projection, json_t *out, const json_t *schemas)
{
    size_t i;
    json_t *schema;
    if (!json_array_size(schemas) || !has_room(projection, schemas))
        return;
    json_array_foreach (schemas, i, schema)
        merge_schema(projection, out, schema);
}

/* A reference that leads to where it comes from says nothing more. */
static void put_reference(struct projection *projection, json_t *out, const json_t *reference)
{
    if (!json_is_string(reference) || !has_room(projection, reference))
        return;
    const json_t *target = schema_pointed_at(projection->root, json_string_value(reference),
                                             &projection->failed);
    if (!target || is_followed(projection, target) || projection->follow_count == MAX_DEPTH)
        return;
    projection->following[projection->follow_count++] = target;
    merge_schema(projection, out, target);
    projection->follow_count--;
}

/* All that a schema says, also by others that it refers to. */
static json_t *collect(struct projection *projection, const json_t *schema)
{
    json_t *out = json_object();
    if (!out)
        projection->failed = true;
    if (!out || !json_is_object(schema) || projection->depth == MAX_DEPTH ||
        !has_room(projection, NULL))
        return out;
    projection->depth++;
    put_plain(projection, out, schema);
    put_applied(projection, out, schema);
    put_all(projection, out, json_object_get(schema, "allOf"));
    put_reference(projection, out, json_object_get(schema, "$ref"));
    projection->depth--;
    return out;
}

/* The server refuses a name that no property has. */
static void drop_unknown_names(json_t *out)
{
    json_t *names = json_object_get(out, "required");
    const json_t *properties = json_object_get(out, "properties");
    for (size_t i = json_array_size(names); i-- > 0;) {
        const json_t *name = json_array_get(names, i);
        if (!json_object_getn(properties, json_string_value(name), json_string_length(name)))
            json_array_remove(names, i);
    }
    if (!json_array_size(names))
        json_object_del(out, "required");
}

static json_t *project(struct projection *projection, const json_t *schema)
{
    json_t *out = collect(projection, schema);
    drop_unknown_names(out);
    return out;
}

void schema_put_reduced(const char *schema, struct text *out)
{
    struct error error = ERROR_INIT;
    if (!schema || !*schema) {
        text_puts(out, NO_ARGUMENTS);
        return;
    }
    json_t *root = json_parse_wide(schema, strlen(schema), &error);
    struct projection projection = {.root = root, .bytes = MAX_BYTES};
    projection.following[projection.follow_count++] = root;
    json_t *projected = root ? project(&projection, root) : NULL;
    if (projected && !json_object_get(projected, "type"))
        set(&projection, projected, "type", json_string("object"));
    if (projected && !projection.failed)
        text_json(out, projected);
    else if (projection.failed || error.kind == ERROR_INTERNAL)
        out->failed = true;
    else
        text_puts(out, NO_ARGUMENTS);
    json_decref(projected);
    json_decref(root);
}
