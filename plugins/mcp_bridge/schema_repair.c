#include "schema_repair.h"

#include <string.h>

#include <mortise/json.h>

/* What is deeper stays as it is.  Each level reads all that is below it once more. */
enum { DEPTH_MAX = 50 };

struct repair {
    struct buffer *out;
    bool has_changed;
};

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

static bool is_null(const char *value)
{
    return strncmp(value, "null", 4) == 0;
}

static bool is_boolean(const char *value)
{
    return *value == 't' || *value == 'f';
}

/* ---- members ---- */

struct member {
    const char *raw, *value; /* where its name and its value begin */
    char name[32];
    bool is_first; /* of those that are written */
};

/* From the place before a name to the name. */
static const char *to_name(const char *place)
{
    return place + strspn(place, " \t\r\n,{");
}

static bool next(const char *object, struct member *member)
{
    const char *before =
        member->value ? member->value + mortise_json_length(member->value) : object;
    if (mortise_json_next_member(object, &member->value, member->name, sizeof(member->name)) !=
        MORTISE_OK)
        return false;
    member->raw = to_name(before);
    return true;
}

static void put_name(struct repair *repair, struct member *member)
{
    buffer_puts(repair->out, member->is_first ? "" : ",");
    buffer_put(repair->out, member->raw, mortise_json_length(member->raw));
    buffer_puts(repair->out, ":");
    member->is_first = false;
}

static void put_value(struct repair *repair, const char *value)
{
    buffer_put(repair->out, value, mortise_json_length(value));
}

/* ---- what is wrong ---- */

/* The limit of an earlier draft is made of two: {"minimum": 0, "exclusiveMinimum": true}. */
static const char *exclusive_of(const char *limit)
{
    return strcmp(limit, "minimum") == 0 ? "exclusiveMinimum" : "exclusiveMaximum";
}

/* Whether a keyword is to be left out.  Null is a value for some. */
static bool is_wrong(const struct member *member)
{
    static const char *const takes_null[] = {"default", "const", "examples", "example", NULL};
    bool is_limit = strcmp(member->name, "exclusiveMinimum") == 0 ||
                    strcmp(member->name, "exclusiveMaximum") == 0;
    if (is_null(member->value))
        return !is_one_of(member->name, takes_null);
    return is_boolean(member->value) && (is_limit || strcmp(member->name, "required") == 0);
}

/* What an object says of its two limits; looked for once, however often they are written. */
struct limits_of {
    const char *object;
    bool is_known[2], is_exclusive[2];
};

static bool is_exclusive(struct limits_of *limits, const char *other)
{
    bool is_upper = strcmp(other, "exclusiveMaximum") == 0;
    if (!limits->is_known[is_upper])
        mortise_json_boolean(limits->object, other, &limits->is_exclusive[is_upper]);
    limits->is_known[is_upper] = true;
    return limits->is_exclusive[is_upper];
}

/* Writes a limit under the name that it has by now. */
static bool put_limit(struct repair *repair, struct limits_of *limits, struct member *member)
{
    bool is_limit = strcmp(member->name, "minimum") == 0 || strcmp(member->name, "maximum") == 0;
    const char *other = is_limit ? exclusive_of(member->name) : NULL;
    if (!is_limit || !is_exclusive(limits, other))
        return false;
    buffer_printf(repair->out, "%s\"%s\":", member->is_first ? "" : ",", other);
    put_value(repair, member->value);
    member->is_first = false;
    repair->has_changed = true;
    return true;
}

/* ---- walking ---- */

static void put_schema(struct repair *repair, const char *schema, int depth);

static void put_schemas(struct repair *repair, const char *list, int depth)
{
    const char *item = NULL;
    buffer_puts(repair->out, "[");
    for (bool is_first = true; mortise_json_next(list, &item) == MORTISE_OK; is_first = false) {
        buffer_puts(repair->out, is_first ? "" : ",");
        put_schema(repair, item, depth);
    }
    buffer_puts(repair->out, "]");
}

static void put_named_schemas(struct repair *repair, const char *object, int depth)
{
    struct member member = {.is_first = true};
    buffer_puts(repair->out, "{");
    while (next(object, &member)) {
        put_name(repair, &member);
        put_schema(repair, member.value, depth);
    }
    buffer_puts(repair->out, "}");
}

static void put_keyword(struct repair *repair, const struct member *member, int depth)
{
    static const char *const of_names[] = {"properties",  "patternProperties", "$defs",
                                           "definitions", "dependentSchemas",  NULL};
    static const char *const of_one[] = {"items",
                                         "additionalItems",
                                         "additionalProperties",
                                         "not",
                                         "if",
                                         "then",
                                         "else",
                                         "contains",
                                         "propertyNames",
                                         "unevaluatedItems",
                                         "unevaluatedProperties",
                                         NULL};
    static const char *const of_list[] = {"allOf", "anyOf", "oneOf", "prefixItems", "items", NULL};
    if (*member->value == '{' && is_one_of(member->name, of_names))
        put_named_schemas(repair, member->value, depth);
    else if (*member->value == '{' && is_one_of(member->name, of_one))
        put_schema(repair, member->value, depth);
    else if (*member->value == '[' && is_one_of(member->name, of_list))
        put_schemas(repair, member->value, depth);
    else
        put_value(repair, member->value);
}

static void put_schema(struct repair *repair, const char *schema, int depth)
{
    struct member member = {.is_first = true};
    struct limits_of limits = {.object = schema};
    if (*schema != '{' || depth == DEPTH_MAX) {
        put_value(repair, schema);
        return;
    }
    buffer_puts(repair->out, "{");
    while (next(schema, &member)) {
        if (is_wrong(&member)) {
            repair->has_changed = true;
        } else if (!put_limit(repair, &limits, &member)) {
            put_name(repair, &member);
            put_keyword(repair, &member, depth + 1);
        }
    }
    buffer_puts(repair->out, "}");
}

void schema_repair(const char *schema, struct buffer *out)
{
    struct repair repair = {.out = out};
    size_t before = out->length;
    put_schema(&repair, schema, 0);
    if (repair.has_changed || out->failed)
        return;
    out->length = before;
    buffer_put(out, schema, mortise_json_length(schema));
}
