#include "mcp/http_metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

#define MODERN       "2026-07-28"

#define DEPTH_MAX    16 /* of objects in a schema that name headers */

#define SAFE_INTEGER 9007199254740991.0

/* ---- one field ---------------------------------------------------------------------------- */

static int mismatch(struct text *problem, const char *field, const char *what)
{
    text_printf(problem, "header mismatch: %s %s", field, what);
    return MCP_HEADER_MISMATCH;
}

static bool is_plain(struct slice value)
{
    for (size_t i = 0; i < value.length; i++)
        if ((value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] > '~')
            return false;
    return true;
}

/* What the value of a field means: "=?base64?…?=" is what it says in Base64.  Strictly: what could
 * be read in two ways is refused. */
static bool decode(struct slice value, struct text *out)
{
    static const char start[] = "=?base64?", end[] = "?=";
    const size_t frame = sizeof(start) - 1 + sizeof(end) - 1;
    if (value.length < frame || memcmp(value.data, start, sizeof(start) - 1) != 0 ||
        memcmp(value.data + value.length - 2, end, 2) != 0) {
        text_append(out, value.data, value.length);
        return is_plain(value);
    }
    size_t length = value.length - frame;
    const char *data = value.data + sizeof(start) - 1;
    return length % 4 == 0 && !memchr(data, '-', length) && !memchr(data, '_', length) &&
           base64_read(out, data, length);
}

/* Whether the number in the header is the integer of the body: 42.0 is 42. */
static bool same_number(struct slice header, struct json_piece body)
{
    char one[32], other[32], *one_end, *other_end;
    if (!header.length || header.length >= sizeof(one) || body.length >= sizeof(other))
        return false;
    memcpy(one, header.data, header.length);
    memcpy(other, body.data, body.length);
    one[header.length] = other[body.length] = '\0';
    double left = strtod(one, &one_end), right = strtod(other, &other_end);
    return !*one_end && !*other_end && left == right && fabs(left) <= SAFE_INTEGER &&
           strspn(one, "0123456789+-.eE") == header.length;
}

static bool is_number(struct json_piece value)
{
    return *value.data == '-' || (*value.data >= '0' && *value.data <= '9');
}

/* Whether a decoded header says what the value in the body is. */
static bool says(const struct text *header, struct json_piece value)
{
    struct slice said = {text_cstr(header), header->length};
    if (is_number(value))
        return same_number(said, value);
    if (!json_piece_is_string(value))
        return said.length == value.length && memcmp(said.data, value.data, said.length) == 0;
    struct text text = TEXT_INIT;
    bool same = json_piece_text(value, &text) && text.length == said.length &&
                memcmp(said.data, text_cstr(&text), said.length) == 0;
    text_release(&text);
    return same;
}

/* A field that is there exactly when the value is. */
static int check_field(const struct http_head *head, const char *name, struct json_piece value,
                       struct text *problem)
{
    bool expected = value.length && !(value.length == 4 && memcmp(value.data, "null", 4) == 0);
    const struct http_field *field = http_head_next(head, name, NULL);
    if (!expected)
        return field ? mismatch(problem, name, "is there without its value in the body") : 0;
    if (!field)
        return mismatch(problem, name, "is missing");
    if (http_head_next(head, name, field))
        return mismatch(problem, name, "is there more than once");
    struct text said = TEXT_INIT;
    const char *wrong = NULL;
    if (!decode(field->value, &said))
        wrong = "cannot be read";
    else if (!says(&said, value))
        wrong = "is not what the body says";
    text_release(&said);
    return wrong ? mismatch(problem, name, wrong) : 0;
}

/* ---- fields that a tool's schema names ---------------------------------------------------- */

/* One that cannot be part of a header's name is the schema's mistake, and no matter here. */
static int check_named(const struct http_head *head, struct json_piece name,
                       struct json_piece value, struct text *problem)
{
    struct text field = TEXT_INIT;
    int code = 0;
    text_puts(&field, "Mcp-Param-");
    if (json_piece_text(name, &field) &&
        http_is_token((struct slice){text_cstr(&field), field.length}))
        code = check_field(head, text_cstr(&field), value, problem);
    text_release(&field);
    return code;
}

/* The member of an object under the name that a key of another one is. */
static struct json_piece member(struct json_piece object, struct json_piece key)
{
    struct text name = TEXT_INIT;
    struct json_piece value = {NULL, 0};
    if (json_piece_text(key, &name) && !memchr(text_cstr(&name), '\0', name.length))
        value = json_walk_member(object, text_cstr(&name));
    text_release(&name);
    return value;
}

static int check_properties(const struct http_head *head, struct json_piece schema,
                            struct json_piece arguments, unsigned depth, struct text *problem)
{
    struct json_walk walk;
    struct json_piece key, property;
    if (depth == DEPTH_MAX || !json_walk_into(&walk, json_walk_member(schema, "properties"), '{'))
        return 0;
    int code = 0;
    while (!code && json_walk_next(&walk, &key, &property)) {
        struct json_piece value = member(arguments, key);
        struct json_piece name = json_walk_member(property, "x-mcp-header");
        if (name.length)
            code = check_named(head, name, value, problem);
        else
            code = check_properties(head, property, value, depth + 1, problem);
    }
    return code;
}

/* ---- the message -------------------------------------------------------------------------- */

static bool is_date(struct slice text)
{
    static const char shape[] = "dddd-dd-dd";
    if (text.length != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (shape[i] == 'd' ? text.data[i] < '0' || text.data[i] > '9' : text.data[i] != shape[i])
            return false;
    return true;
}

/* Absent, it is taken for 2025-03-26, which did not have the field. */
static int check_legacy(const struct http_head *head, struct text *problem)
{
    const char *modern = mcp_revision_name(MCP_2026_07_28);
    struct slice version = http_head_value(head, "MCP-Protocol-Version");
    enum mcp_revision revision = MCP_2026_07_28;
    if (!http_head_next(head, "MCP-Protocol-Version", NULL) ||
        (mcp_revision_parse(version, &revision) && revision != MCP_2026_07_28))
        return 0;
    if (is_date(version) && memcmp(version.data, modern, version.length) >= 0) {
        text_puts(problem, "_meta lacks io.modelcontextprotocol/protocolVersion");
        return MCP_INVALID_PARAMS;
    }
    text_puts(problem, "this MCP-Protocol-Version is not supported");
    return MCP_INVALID_REQUEST;
}

/* The method was taken as it is written: without quotes and, if it is one of ours, escapes. */
static int check_method(const struct http_head *head, const struct mcp_message *message,
                        struct text *problem)
{
    struct slice value = http_head_value(head, "Mcp-Method");
    if (!value.data)
        return mismatch(problem, "Mcp-Method", "is missing, or there more than once");
    if (value.length != message->method.length ||
        memcmp(value.data, message->method.data, value.length) != 0)
        return mismatch(problem, "Mcp-Method", "is not what the body says");
    return 0;
}

static bool is_method(const struct mcp_message *message, const char *name)
{
    return slice_is((struct slice){message->method.data, message->method.length}, name);
}

static int check_name(const struct http_head *head, const struct mcp_message *message,
                      struct text *problem)
{
    const char *source = is_method(message, "resources/read") ? "uri" : "name";
    if (!is_method(message, "tools/call") && !is_method(message, "prompts/get") &&
        !is_method(message, "resources/read"))
        return 0;
    struct json_piece name = json_walk_member(message->params, source);
    return name.length ? check_field(head, "Mcp-Name", name, problem) : 0;
}

int http_metadata_check(const struct http_head *head, const struct mcp_message *message,
                        struct json_piece schema, struct text *problem)
{
    if (!message->is_modern)
        return check_legacy(head, problem);
    int code = check_field(head, "MCP-Protocol-Version", message->version, problem);
    if (!code)
        code = check_method(head, message, problem);
    if (!code)
        code = check_name(head, message, problem);
    if (!code && schema.length)
        code = check_properties(head, schema, json_walk_member(message->params, "arguments"), 0,
                                problem);
    return code;
}
