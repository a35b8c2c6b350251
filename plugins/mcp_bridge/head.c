#include "head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mortise/json.h>

#include "base64.h"

enum {
    DEPTH_MAX = 60,  /* of schemas within schemas */
    MARKS_MAX = 100, /* of one tool */
    KEY_BYTES = 256  /* of a property that is followed */
};

static const char mark[] = "x-mcp-header";
static const char sentinel[] = "=?base64?";

/* ---- lines ---- */

static void add_line(struct head *head, const char *prefix, const char *name, const char *value)
{
    buffer_puts(&head->text, prefix);
    buffer_puts(&head->text, name);
    buffer_put(&head->text, "", 1);
    buffer_puts(&head->text, value);
    buffer_put(&head->text, "", 1);
    head->count++;
}

void head_add(struct head *head, const char *name, const char *value)
{
    add_line(head, "", name, value);
}

/* Whether a line can have it as it is, and whoever reads it takes it for what it is. */
static bool is_plain(const char *value, size_t length)
{
    if (length && (strchr(" \t", value[0]) || strchr(" \t", value[length - 1])))
        return false;
    for (size_t i = 0; i < length; i++)
        if (value[i] < ' ' || value[i] > '~')
            return false;
    size_t first = sizeof(sentinel) - 1;
    return length < first + 2 || memcmp(value, sentinel, first) != 0 ||
           memcmp(value + length - 2, "?=", 2) != 0;
}

static void add_encoded(struct head *head, const char *prefix, const char *name, const char *value)
{
    size_t length = strlen(value);
    if (is_plain(value, length)) {
        add_line(head, prefix, name, value);
        return;
    }
    struct buffer encoded = BUFFER_INIT;
    buffer_puts(&encoded, sentinel);
    base64_encode(&encoded, value, length);
    buffer_puts(&encoded, "?=");
    if (encoded.failed)
        head->text.failed = true;
    else
        add_line(head, prefix, name, encoded.text);
    buffer_release(&encoded);
}

bool head_finish(struct head *head)
{
    if (!head->text.failed)
        head->headers = calloc(head->count + 1, sizeof(*head->headers));
    if (!head->headers)
        return false;
    const char *at = head->text.text;
    for (size_t i = 0; i < head->count; i++) {
        head->headers[i].name = at;
        head->headers[i].value = at + strlen(at) + 1;
        at = head->headers[i].value + strlen(head->headers[i].value) + 1;
    }
    return true;
}

void head_release(struct head *head)
{
    free(head->headers);
    buffer_release(&head->text);
    *head = (struct head)HEAD_INIT;
}

bool head_is_reserved(const char *name)
{
    static const char *const names[] = {
        "Accept", "Content-Type", "Last-Event-ID", "Host",    "Content-Length",
        "TE",     "Connection",   "Upgrade",       "Trailer", "Transfer-Encoding"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return strncasecmp(name, "Mcp-", 4) == 0;
}

/* ---- arguments that go along ---- */

/* As the schema was checked, only these three kinds are marked. */
static void add_argument(struct head *head, const char *name, const char *value)
{
    static const char prefix[] = "Mcp-Param-";
    int64_t integer;
    bool boolean;
    if (mortise_json_boolean(value, NULL, &boolean) == MORTISE_OK) {
        add_line(head, prefix, name, boolean ? "true" : "false");
    } else if (mortise_json_integer(value, NULL, &integer) == MORTISE_OK) {
        char digits[32];
        snprintf(digits, sizeof(digits), "%" PRId64, integer);
        add_line(head, prefix, name, digits);
    } else {
        char *text = NULL;
        mortise_status status = mortise_json_copy(value, NULL, &text);
        head->text.failed = head->text.failed || status == MORTISE_NO_MEMORY;
        if (status == MORTISE_OK)
            add_encoded(head, prefix, name, text);
        free(text);
    }
}

/* Most schemas have no mark; one that is written with \u is found by reading. */
static bool may_be_marked(const char *schema)
{
    return strstr(schema, mark) || strchr(schema, '\\');
}

/* The marked properties that `arguments` has, and those of objects in it. */
static void add_arguments(struct head *head, const char *schema, const char *arguments,
                          unsigned depth)
{
    const char *properties, *property = NULL;
    char key[KEY_BYTES], name[KEY_BYTES];
    if (depth > DEPTH_MAX || mortise_json_object(schema, "properties", &properties) != MORTISE_OK)
        return;
    while (mortise_json_next_member(properties, &property, key, sizeof(key)) == MORTISE_OK) {
        const char *more, *value;
        if (mortise_json_string(property, mark, name, sizeof(name)) == MORTISE_OK) {
            if (mortise_json_value(arguments, key, &value) == MORTISE_OK)
                add_argument(head, name, value);
        } else if (mortise_json_object(property, "properties", &more) == MORTISE_OK) {
            if (mortise_json_object(arguments, key, &value) == MORTISE_OK)
                add_arguments(head, property, value, depth + 1);
        }
    }
}

void head_add_message(struct head *head, const struct link_message *message)
{
    if (message->version)
        head_add(head, "MCP-Protocol-Version", message->version);
    if (!message->is_modern || !message->method)
        return;
    head_add(head, "Mcp-Method", message->method);
    if (message->name)
        add_encoded(head, "", "Mcp-Name", message->name);
    if (message->arguments && message->schema && may_be_marked(message->schema))
        add_arguments(head, message->schema, message->arguments, 0);
}

/* ---- marks that can be used ---- */

struct check {
    struct buffer names; /* "NAME\0…" of the marks so far */
    size_t count;
    char *problem;
    size_t size;
};

static bool bad(struct check *check, const char *property, const char *what)
{
    snprintf(check->problem, check->size, "its parameter '%.200s' is marked with %s %s", property,
             mark, what);
    return false;
}

/* A word of RFC 9110. */
static bool is_token(const char *text)
{
    static const char characters[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz";
    size_t length = strspn(text, characters);
    return length > 0 && !text[length];
}

static bool is_taken(const struct check *check, const char *name)
{
    const char *at = check->names.text;
    for (size_t i = 0; i < check->count; i++, at += strlen(at) + 1)
        if (strcasecmp(at, name) == 0)
            return true;
    return false;
}

static bool is_plain_type(const char *type)
{
    return strcmp(type, "string") == 0 || strcmp(type, "integer") == 0 ||
           strcmp(type, "boolean") == 0;
}

/* A string, an integer or a boolean; or one of these and null. */
static bool has_plain_type(const char *schema)
{
    const char *types, *type = NULL;
    char text[16];
    bool found = false;
    if (mortise_json_array(schema, "type", &types) != MORTISE_OK)
        return mortise_json_string(schema, "type", text, sizeof(text)) == MORTISE_OK &&
               is_plain_type(text);
    while (mortise_json_next(types, &type) == MORTISE_OK) {
        if (mortise_json_string(type, NULL, text, sizeof(text)) != MORTISE_OK)
            return false;
        if (strcmp(text, "null") == 0)
            continue;
        if (!is_plain_type(text))
            return false;
        found = true;
    }
    return found;
}

static bool check_mark(struct check *check, const char *schema, const char *property,
                       bool is_reached)
{
    char name[KEY_BYTES];
    mortise_status status = mortise_json_string(schema, mark, name, sizeof(name));
    if (status == MORTISE_NOT_FOUND)
        return true;
    if (!is_reached)
        return bad(check, property, "at a place that a call does not always have");
    if (status != MORTISE_OK || !is_token(name))
        return bad(check, property, "that is no name of a header");
    if (!has_plain_type(schema))
        return bad(check, property, "and is neither a string nor an integer nor a boolean");
    if (is_taken(check, name))
        return bad(check, property, "that another parameter has");
    if (++check->count > MARKS_MAX)
        return bad(check, property, "as are too many others");
    buffer_put(&check->names, name, strlen(name) + 1);
    return !check->names.failed || bad(check, property, "and there is no memory");
}

/* What a keyword of JSON Schema holds, if that is more schemas. */
enum holds { NOTHING, PROPERTIES, NAMED, ONE_OR_LIST };

static enum holds held_by(const char *keyword)
{
    static const struct {
        const char *keyword;
        enum holds holds;
    } keywords[] = {
        {"properties", PROPERTIES},
        {"patternProperties", NAMED},
        {"$defs", NAMED},
        {"definitions", NAMED},
        {"dependentSchemas", NAMED},
        {"dependencies", NAMED},
        {"items", ONE_OR_LIST},
        {"prefixItems", ONE_OR_LIST},
        {"additionalItems", ONE_OR_LIST},
        {"unevaluatedItems", ONE_OR_LIST},
        {"contains", ONE_OR_LIST},
        {"additionalProperties", ONE_OR_LIST},
        {"unevaluatedProperties", ONE_OR_LIST},
        {"propertyNames", ONE_OR_LIST},
        {"contentSchema", ONE_OR_LIST},
        {"allOf", ONE_OR_LIST},
        {"anyOf", ONE_OR_LIST},
        {"oneOf", ONE_OR_LIST},
        {"not", ONE_OR_LIST},
        {"if", ONE_OR_LIST},
        {"then", ONE_OR_LIST},
        {"else", ONE_OR_LIST},
    };
    for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
        if (strcmp(keywords[i].keyword, keyword) == 0)
            return keywords[i].holds;
    return NOTHING;
}

/* One schema of a tree, and where it stands: `is_reached` by "properties" alone. */
struct place {
    const char *schema, *property;
    bool is_reached;
    unsigned depth;
};

static bool check_place(struct check *check, struct place place);

static bool check_named(struct check *check, const char *named, bool is_reached, unsigned depth)
{
    const char *schema = NULL;
    char key[KEY_BYTES];
    while (mortise_json_next_member(named, &schema, key, sizeof(key)) == MORTISE_OK) {
        bool is_cut = strlen(key) == sizeof(key) - 1; /* it cannot be found in arguments */
        if (!check_place(check, (struct place){.schema = schema,
                                               .property = key,
                                               .is_reached = is_reached && !is_cut,
                                               .depth = depth}))
            return false;
    }
    return true;
}

static bool check_held(struct check *check, const char *value, const struct place *place)
{
    struct place inner = {.schema = value, .property = place->property, .depth = place->depth + 1};
    const char *item = NULL;
    if (*value == '{')
        return check_place(check, inner);
    while (*value == '[' && mortise_json_next(value, &item) == MORTISE_OK) {
        inner.schema = item;
        if (!check_place(check, inner))
            return false;
    }
    return true;
}

static bool check_place(struct check *check, struct place place)
{
    const char *value = NULL;
    char keyword[32];
    if (*place.schema != '{')
        return true;
    if (place.depth > DEPTH_MAX) {
        snprintf(check->problem, check->size, "its input schema is nested too deeply");
        return false;
    }
    if (!check_mark(check, place.schema, place.property, place.is_reached && place.depth > 0))
        return false;
    while (mortise_json_next_member(place.schema, &value, keyword, sizeof(keyword)) == MORTISE_OK) {
        enum holds holds = held_by(keyword);
        bool is_good = true;
        if (holds == PROPERTIES || holds == NAMED)
            is_good =
                check_named(check, value, place.is_reached && holds == PROPERTIES, place.depth + 1);
        else if (holds == ONE_OR_LIST)
            is_good = check_held(check, value, &place);
        if (!is_good)
            return false;
    }
    return true;
}

bool head_check_schema(const char *schema, char *problem, size_t size)
{
    struct check check = {.problem = problem, .size = size};
    if (!may_be_marked(schema))
        return true;
    bool is_good =
        check_place(&check, (struct place){.schema = schema, .property = "", .is_reached = true});
    buffer_release(&check.names);
    return is_good;
}
