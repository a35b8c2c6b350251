#include "result.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mortise/tool.h>

#include "base64.h"
#include "buffer.h"

enum {
    TYPE_BYTES = 128, /* of a media type */
    NAME_BYTES = 256,
    URI_BYTES = 8193,   /* the longest that the host takes, and its NUL */
    ERROR_BYTES = 8192, /* of the message of an error, and of its data */
    PARTS_MAX = 20, /* that the host takes; of more, and of as many that it refused, lines tell */
    REFUSED_MAX = 5
};

/* A result on its way. */
struct mapping {
    mortise_call *call;
    const struct result_source *source;
    struct buffer text;
    bool is_error; /* attachments do not go with one */
    unsigned attached, refused;
    bool has_no_memory;
};

/* ---- JSON ---- */

/* NULL: it is absent, or null. */
static const char *member(const char *object, const char *key)
{
    const char *value = NULL;
    return mortise_json_value(object, key, &value) == MORTISE_OK ? value : NULL;
}

/* "": it is none, or longer. */
static const char *string(const char *object, const char *key, char *out, size_t size)
{
    if (mortise_json_string(object, key, out, size) != MORTISE_OK)
        out[0] = '\0';
    return out;
}

/* ---- lines of text ---- */

static void begin_line(struct mapping *mapping)
{
    if (mapping->text.length)
        buffer_put(&mapping->text, "\n", 1);
}

/* The text of a member; nothing if that is none. */
static void put_string(struct mapping *mapping, const char *object, const char *key)
{
    char *text = NULL;
    mortise_status status = mortise_json_copy(object, key, &text);
    mapping->has_no_memory = mapping->has_no_memory || status == MORTISE_NO_MEMORY;
    if (status == MORTISE_OK && *text) {
        begin_line(mapping);
        buffer_puts(&mapping->text, text);
    }
    free(text);
}

static void put_line(struct mapping *mapping, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_line(struct mapping *mapping, const char *format, ...)
{
    char line[URI_BYTES + NAME_BYTES + TYPE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    begin_line(mapping);
    buffer_puts(&mapping->text, line);
}

/* ---- bytes ---- */

/* What a name of a file would be, or NULL. */
static const char *last_part(const char *uri)
{
    const char *slash = strrchr(uri, '/');
    const char *name = slash ? slash + 1 : uri;
    return *name ? name : NULL;
}

static bool may_attach(const struct mapping *mapping)
{
    return !mapping->is_error && mapping->attached < PARTS_MAX && mapping->refused < REFUSED_MAX;
}

/* False: in the place of what cannot go with the result is a line that tells of it. */
static bool count_attached(struct mapping *mapping, mortise_status status)
{
    mapping->has_no_memory = mapping->has_no_memory || status == MORTISE_NO_MEMORY;
    mapping->attached += status == MORTISE_OK;
    mapping->refused += status != MORTISE_OK;
    return status == MORTISE_OK;
}

static bool attach(struct mapping *mapping, const char *type, const char *name, const char *bytes,
                   size_t length)
{
    return may_attach(mapping) &&
           count_attached(mapping, mortise_attach_bytes(mapping->call, type, name, bytes, length));
}

/* The bytes that `object` has in base64 at `key`, malloc'ed; NULL: it has none. */
static char *bytes_of(const char *object, const char *key, size_t *length)
{
    char *text = NULL;
    char *bytes = NULL;
    if (mortise_json_copy(object, key, &text) == MORTISE_OK)
        bytes = base64_decode(text, strlen(text), length);
    free(text);
    return bytes;
}

/* An image or a sound. */
static void put_media(struct mapping *mapping, const char *block, const char *kind)
{
    char type[TYPE_BYTES];
    size_t length = 0;
    char *bytes = bytes_of(block, "data", &length);
    string(block, "mimeType", type, sizeof(type));
    if (!bytes)
        put_line(mapping, "[%s %s, whose data cannot be read]", kind, type);
    else if (!length || !attach(mapping, type, NULL, bytes, length))
        put_line(mapping, "[%s %s, %zu bytes]", kind, type, length);
    free(bytes);
}

static bool is_shown(const char *type)
{
    return strncasecmp(type, "image/", 6) == 0 || strncasecmp(type, "audio/", 6) == 0 ||
           strncasecmp(type, "application/pdf", 15) == 0;
}

/* ---- resources ---- */

static void put_blob(struct mapping *mapping, const char *resource, const char *uri,
                     const char *type)
{
    size_t length = 0;
    char *bytes = bytes_of(resource, "blob", &length);
    const char *said = *type ? type : "application/octet-stream";
    if (!bytes)
        put_line(mapping, "[resource %s, whose data cannot be read]", uri);
    else if (!length || !is_shown(type) || !attach(mapping, type, last_part(uri), bytes, length))
        put_line(mapping, "[resource %s, %s, %zu bytes]", uri, said, length);
    free(bytes);
}

static void put_resource(struct mapping *mapping, const char *block)
{
    const char *resource;
    char uri[URI_BYTES], type[TYPE_BYTES];
    if (mortise_json_object(block, "resource", &resource) != MORTISE_OK) {
        put_line(mapping, "[a resource without content]");
        return;
    }
    string(resource, "uri", uri, sizeof(uri));
    string(resource, "mimeType", type, sizeof(type));
    const char *text = member(resource, "text");
    if (text && *text == '"')
        put_string(mapping, resource, "text");
    else
        put_blob(mapping, resource, uri, type);
}

static void put_link(struct mapping *mapping, const char *block)
{
    char uri[URI_BYTES], type[TYPE_BYTES], name[NAME_BYTES];
    string(block, "uri", uri, sizeof(uri));
    string(block, "mimeType", type, sizeof(type));
    string(block, "name", name, sizeof(name));
    bool is_attached =
        *uri && may_attach(mapping) &&
        count_attached(mapping,
                       mortise_attach_uri(mapping->call, *type ? type : "application/octet-stream",
                                          *name ? name : NULL, uri));
    if (!is_attached)
        put_line(mapping, "[link %s%s%s]", name, *name ? ": " : "", *uri ? uri : "to nowhere");
}

/* ---- all of it ---- */

static void put_block(struct mapping *mapping, const char *block)
{
    char kind[32];
    string(block, "type", kind, sizeof(kind));
    if (strcmp(kind, "text") == 0)
        put_string(mapping, block, "text");
    else if (strcmp(kind, "image") == 0 || strcmp(kind, "audio") == 0)
        put_media(mapping, block, kind);
    else if (strcmp(kind, "resource") == 0)
        put_resource(mapping, block);
    else if (strcmp(kind, "resource_link") == 0)
        put_link(mapping, block);
    else
        put_line(mapping, "[content of the unknown type '%s']", kind);
}

static mortise_status reply(struct mapping *mapping, uint32_t type, const char *text, size_t length)
{
    return mapping->call->ops->reply(mapping->call, type, text, length);
}

/* The host would take an object with these lists apart. */
static bool has_parts(const char *structured)
{
    const char *list;
    return mortise_json_array(structured, "inline_data", &list) == MORTISE_OK ||
           mortise_json_array(structured, "file_data", &list) == MORTISE_OK;
}

static mortise_status succeed(struct mapping *mapping, const char *structured)
{
    struct buffer *text = &mapping->text;
    bool is_structured =
        structured && (mapping->source->has_output_schema || (!text->length && !mapping->attached));
    if (is_structured)
        return reply(mapping, has_parts(structured) ? MORTISE_TEXT_RESULT : MORTISE_JSON_RESULT,
                     structured, mortise_json_length(structured));
    return reply(mapping, MORTISE_TEXT_RESULT, text->length ? text->text : "", text->length);
}

static mortise_status fail(struct mapping *mapping, const char *structured)
{
    struct buffer *text = &mapping->text;
    if (!text->length && structured)
        buffer_put(text, structured, mortise_json_length(structured));
    if (!text->length)
        buffer_puts(text, "the tool failed, and gave no reason");
    if (text->failed)
        return MORTISE_NO_MEMORY;
    const mortise_error error = {.size = sizeof(error),
                                 .component = mapping->source->server,
                                 .code = "mcp.tool_error",
                                 .message = text->text,
                                 .message_length = text->length};
    return mapping->call->ops->fail(mapping->call, &error);
}

bool result_wants_input(const char *result)
{
    char type[32];
    return strcmp(string(result, "resultType", type, sizeof(type)), "input_required") == 0;
}

/* Another type of result than the usual one, of which nothing can be made. */
static bool is_complete(const char *result)
{
    char type[32];
    const char *said = member(result, "resultType");
    return !said || strcmp(string(said, NULL, type, sizeof(type)), "complete") == 0;
}

static mortise_status refuse(mortise_call *call, const struct result_source *source,
                             const char *result)
{
    char type[NAME_BYTES];
    return mortise_fail_as(call, MORTISE_NOT_SUPPORTED, "mcp.result_type",
                           "'%s' answered with a result of the type '%s', which is not known here",
                           source->server, string(result, "resultType", type, sizeof(type)));
}

mortise_status result_give(mortise_call *call, const struct result_source *source,
                           const char *result)
{
    struct mapping mapping = {.call = call, .source = source};
    const char *blocks, *block = NULL;
    if (*result != '{')
        return mortise_fail_as(call, MORTISE_INTERNAL, "mcp.bad_result",
                               "'%s' answered with a result that is no object", source->server);
    if (!is_complete(result))
        return refuse(call, source, result);
    mortise_json_boolean(result, "isError", &mapping.is_error);
    if (mortise_json_array(result, "content", &blocks) == MORTISE_OK)
        while (mortise_json_next(blocks, &block) == MORTISE_OK)
            put_block(&mapping, block);
    const char *structured = member(result, "structuredContent");
    mortise_status status = MORTISE_NO_MEMORY;
    if (!mapping.text.failed && !mapping.has_no_memory)
        status = mapping.is_error ? fail(&mapping, structured) : succeed(&mapping, structured);
    buffer_release(&mapping.text);
    return status;
}

/* ---- errors of the protocol ---- */

static mortise_category category_of(int64_t code)
{
    switch (code) {
    case -32602:
        return MORTISE_INVALID_INPUT;
    case -32601:
        return MORTISE_NOT_SUPPORTED;
    default:
        return MORTISE_INTERNAL;
    }
}

/* More than a program would read of it. */
static void put_data(struct buffer *text, const char *data)
{
    size_t length = data ? mortise_json_length(data) : 0;
    if (!data || length > ERROR_BYTES)
        return;
    buffer_puts(text, " (");
    buffer_put(text, data, length);
    buffer_puts(text, ")");
}

mortise_status result_give_error(mortise_call *call, const struct result_source *source,
                                 const char *error)
{
    int64_t code = 0;
    char message[ERROR_BYTES], name[32];
    struct buffer text = BUFFER_INIT;
    mortise_json_integer(error, "code", &code);
    string(error, "message", message, sizeof(message));
    snprintf(name, sizeof(name), "mcp.%" PRId64, code);
    buffer_printf(&text, "'%s' answered with error %" PRId64, source->server, code);
    buffer_printf(&text, ": %s", *message ? message : "(no message)");
    put_data(&text, member(error, "data"));
    const mortise_error given = {.size = sizeof(given),
                                 .category = category_of(code),
                                 .component = source->server,
                                 .code = name,
                                 .message = text.text,
                                 .message_length = text.length};
    mortise_status status = text.failed ? MORTISE_NO_MEMORY : call->ops->fail(call, &given);
    buffer_release(&text);
    return status;
}
