#include "mcp/content.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/json_check.h"
#include "base/json_write.h"
#include "base/part.h"
#include "base/utf8.h"
#include "tool/output.h"

/* ---- types ---- */

static bool starts_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

static bool is_text_type(const char *mime_type)
{
    static const char *const types[] = {"application/json", "application/xml", "application/yaml",
                                        "application/toml", "application/javascript"};
    size_t length = strcspn(mime_type, "; ");
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (length == strlen(types[i]) && starts_with(mime_type, types[i]))
            return true;
    return starts_with(mime_type, "text/");
}

static bool is_text(const struct attachment *part)
{
    return is_text_type(part->mime_type) &&
           utf8_valid(part->data.data, part->data.length) == part->data.length;
}

/* ---- blocks ---- */

static void begin(struct text *out, const char *type)
{
    json_put_comma(out);
    text_putc(out, '{');
    json_put_string(out, "type", type);
}

static void put_base64(struct text *out, const char *key, const struct bytes *data)
{
    json_put_key(out, key);
    text_putc(out, '"');
    base64_append(out, data->data, data->length);
    text_putc(out, '"');
}

static void put_text_block(struct text *out, const char *text, size_t length)
{
    begin(out, "text");
    json_put_text(out, "text", text, length);
    text_putc(out, '}');
}

static void put_media(struct text *out, const char *type, const struct attachment *part)
{
    begin(out, type);
    put_base64(out, "data", &part->data);
    json_put_string(out, "mimeType", part->mime_type);
    text_putc(out, '}');
}

/* Bytes without a URI get one from their name, or else their place in the result. */
static void put_uri(struct text *out, const struct attachment *part, size_t index)
{
    struct text uri = TEXT_INIT;
    if (part->uri) {
        json_put_string(out, "uri", part->uri);
        return;
    }
    text_printf(&uri, "attachment:%zu", index);
    for (const char *c = part->name ? part->name : ""; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                        (*c >= '0' && *c <= '9') || strchr("-._~", *c);
        if (c == part->name)
            text_putc(&uri, '/');
        text_printf(&uri, is_plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
    json_put_text(out, "uri", text_cstr(&uri), uri.length);
    out->failed |= uri.failed;
    text_release(&uri);
}

static void put_resource(struct text *out, const struct attachment *part, size_t index)
{
    begin(out, "resource");
    json_put_key(out, "resource");
    text_putc(out, '{');
    put_uri(out, part, index);
    json_put_string(out, "mimeType", part->mime_type);
    if (is_text(part))
        json_put_text(out, "text", part->data.data, part->data.length);
    else
        put_base64(out, "blob", &part->data);
    text_puts(out, "}}");
}

static void put_link(struct text *out, const struct attachment *part, enum mcp_revision revision)
{
    struct text line = TEXT_INIT;
    if (revision >= MCP_2025_06_18) {
        begin(out, "resource_link");
        json_put_string(out, "uri", part->uri);
        json_put_string(out, "name", part->name ? part->name : part->uri);
        json_put_string(out, "mimeType", part->mime_type);
        text_putc(out, '}');
        return;
    }
    text_putc(&line, '[');
    part_describe(&line, part->mime_type, part->name, 0, part->uri);
    text_putc(&line, ']');
    put_text_block(out, text_cstr(&line), line.length);
    out->failed |= line.failed;
    text_release(&line);
}

static void put_part(struct text *out, const struct attachment *part, size_t index,
                     enum mcp_revision revision)
{
    if (!part->data.data)
        put_link(out, part, revision);
    else if (!part->uri && starts_with(part->mime_type, "image/"))
        put_media(out, "image", part);
    else if (!part->uri && starts_with(part->mime_type, "audio/") && revision > MCP_2024_11_05)
        put_media(out, "audio", part);
    else
        put_resource(out, part, index);
}

/* ---- structured content ---- */

/* In one line: a line feed in JSON is never inside of a string. */
static void put_structured(struct text *out, const struct text *json)
{
    json_put_key(out, "structuredContent");
    size_t start = out->length;
    text_append(out, json->data, json->length);
    for (size_t i = start; i < out->length && !out->failed; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
}

enum structure { STRUCTURE_NONE, STRUCTURE_FITS, STRUCTURE_FAILS };

/* A JSON result was checked when the tool gave it.  What a hook wrote in its place, and what the
 * tool called plain text, may still be what the schema says. */
static enum structure structure_of(const struct tool *tool, const struct tool_result *result,
                                   enum mcp_revision revision, struct error *error)
{
    const struct text *text = &result->text;
    if (!tool || !tool->meta.output_schema || !result->success || revision < MCP_2025_06_18)
        return STRUCTURE_NONE;
    if (result->is_json)
        return STRUCTURE_FITS;
    if (!json_is_valid(text_cstr(text), text->length))
        error_set(error, ERROR_BAD_REQUEST, "it is not JSON");
    else if (output_fits(tool, text_cstr(text), text->length, error))
        return STRUCTURE_FITS;
    return STRUCTURE_FAILS;
}

/* ---- the whole ---- */

static void put_violation(struct text *out, const struct tool *tool, const struct error *error)
{
    struct text line = TEXT_INIT;
    text_printf(&line, "The result of tool '%s' is not what its output schema says: %s", tool->name,
                error->message);
    put_text_block(out, text_cstr(&line), line.length);
    out->failed |= line.failed;
    text_release(&line);
}

void content_write(struct text *out, const struct tool *tool, const struct tool_result *result,
                   enum mcp_revision revision)
{
    struct error error = ERROR_INIT;
    enum structure structure = structure_of(tool, result, revision, &error);
    text_reserve(out, content_length(result) + 256);
    json_put_key(out, "content");
    text_putc(out, '[');
    if (result->text.length || !result->attachment_count)
        put_text_block(out, text_cstr(&result->text), result->text.length);
    for (size_t i = 0; i < result->attachment_count; i++)
        put_part(out, &result->attachments[i], i, revision);
    if (structure == STRUCTURE_FAILS)
        put_violation(out, tool, &error);
    text_putc(out, ']');
    if (structure == STRUCTURE_FITS)
        put_structured(out, &result->text);
    if (!result->success || structure == STRUCTURE_FAILS)
        json_put_boolean(out, "isError", true);
}

size_t content_length(const struct tool_result *result)
{
    size_t length = result->text.length;
    for (size_t i = 0; i < result->attachment_count; i++)
        length += result->attachments[i].data.length;
    return length;
}
