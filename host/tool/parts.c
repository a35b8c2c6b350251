#include "tool/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/part.h"
#include "base/utf8.h"

static bool refuse(struct error *error, const char *what)
{
    return error_set(error, ERROR_BAD_REQUEST, "%s", what);
}

/* ---- what is refused ---- */

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$&-^_.+", c));
}

/* "image/png", perhaps with parameters: "text/plain; charset=utf-8". */
static bool is_mime_type(const char *type)
{
    const char *at = type;
    while (is_token(*at))
        at++;
    if (at == type || *at++ != '/' || !is_token(*at))
        return false;
    while (is_token(*at))
        at++;
    if (*at && *at != ';' && *at != ' ')
        return false;
    while (*at >= ' ' && *at <= '~')
        at++;
    return !*at && at - type <= 127;
}

static size_t bytes_of_all(const struct tool_result *result)
{
    size_t bytes = 0;
    for (size_t i = 0; i < result->attachment_count; i++)
        bytes += result->attachments[i].data.length;
    return bytes;
}

static bool check_size(size_t length, struct error *error)
{
    if (length <= PART_BYTES_MAX)
        return true;
    struct text size = TEXT_INIT;
    part_size(&size, length);
    error_set(error, ERROR_BAD_REQUEST, "%s are more than the 10 MiB that a part may have",
              text_cstr(&size));
    text_release(&size);
    return false;
}

static bool check(const struct tool_result *result, const char *mime_type, const struct bytes *data,
                  const char *uri, struct error *error)
{
    if (!is_mime_type(mime_type))
        return refuse(error, "the mime type must look like 'image/png'");
    if (!data->data && (!uri || !*uri))
        return refuse(error, "it has neither data nor a URI");
    if (uri && strlen(uri) > PART_URI_MAX)
        return refuse(error, "the URI is longer than 8192 bytes; give the data itself");
    if (!check_size(data->length, error))
        return false;
    if (result->attachment_count == RESULT_PARTS_MAX)
        return error_set(error, ERROR_BAD_REQUEST, "a result may have %d parts", RESULT_PARTS_MAX);
    return bytes_of_all(result) + data->length <= RESULT_PART_BYTES_MAX ||
           refuse(error, "all parts of a result together may have 32 MiB");
}

/* ---- adding ---- */

static char *copy_text(const char *string, size_t most)
{
    struct text clean = TEXT_INIT;
    utf8_append_clean(&clean, string, strlen(string));
    clean.length = utf8_cut(text_cstr(&clean), clean.length, most);
    if (clean.data)
        clean.data[clean.length] = '\0';
    return text_take(&clean, NULL);
}

/* In one line, wherever it is shown. */
static char *copy_name(const char *name)
{
    char *copy = copy_text(name, PART_NAME_MAX);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = ' ';
    return copy;
}

static bool append(struct tool_result *result, const struct attachment *part)
{
    size_t count = result->attachment_count;
    struct attachment *grown = realloc(result->attachments, (count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    grown[count] = *part;
    result->attachments = grown;
    result->attachment_count = count + 1;
    return true;
}

bool parts_add(struct tool_result *result, const char *mime_type, const char *name,
               struct bytes data, const char *uri, struct error *error)
{
    if (!check(result, mime_type, &data, uri, error)) {
        free(data.data);
        return false;
    }
    struct attachment part = {.mime_type = copy_text(mime_type, SIZE_MAX), .data = data};
    bool made = part.mime_type && (!name || (part.name = copy_name(name))) &&
                (!uri || (part.uri = copy_text(uri, SIZE_MAX))) && append(result, &part);
    if (made)
        return true;
    attachment_release(&part);
    return error_memory(error);
}

bool parts_attach(struct tool_result *result, const mortise_attachment *from, struct error *error)
{
    struct bytes data = {0};
    if (from->data) {
        if (!check_size(from->length, error))
            return false;
        data = (struct bytes){malloc(from->length + 1), from->length};
        if (!data.data)
            return error_memory(error);
        memcpy(data.data, from->data, from->length);
        data.data[from->length] = '\0';
    }
    return parts_add(result, from->mime_type ? from->mime_type : "application/octet-stream",
                     from->name, data, from->uri, error);
}

void parts_order(struct tool_result *result)
{
    struct attachment *parts = result->attachments;
    size_t front = 0;
    for (size_t i = 0; i < result->attachment_count; i++) {
        if (!parts[i].data.data)
            continue;
        struct attachment part = parts[i];
        memmove(&parts[front + 1], &parts[front], (i - front) * sizeof(part));
        parts[front++] = part;
    }
}
