#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json_walk.h"
#include "base/utf8.h"
#include "tool/parts.h"

/* A list of parts in the object of a result. */
struct list {
    const char *name;
    struct json_piece piece;
    bool is_there; /* a list, perhaps an empty one */
    bool has_any;
};

struct document {
    struct json_piece whole;
    struct list lists[2]; /* the order of the parts (F70) */
    struct json_piece response;
};

/* The members of an element that are known, by all the names that they go by. */
struct element {
    struct text mime_type, name, uri;
    struct json_piece data;
    bool has_mime_type, has_name, has_uri;
};

static bool refuse(struct error *error, const char *what)
{
    return error_set(error, ERROR_BAD_REQUEST, "%s", what);
}

/* ---- the object ---- */

static void look_at_list(struct list *list, struct json_piece value)
{
    struct json_walk walk;
    struct json_piece first;
    list->piece = value;
    list->is_there = json_walk_into(&walk, value, '[');
    list->has_any = list->is_there && json_walk_next(&walk, NULL, &first);
}

/* False: it has no parts.  Of members with one name the last one counts. */
static bool look(struct document *document)
{
    struct json_walk walk;
    struct json_piece key, value;
    if (!json_walk_into(&walk, document->whole, '{'))
        return false;
    while (json_walk_next(&walk, &key, &value)) {
        if (json_piece_is(key, "response"))
            document->response = value;
        for (size_t i = 0; i < 2; i++)
            if (json_piece_is(key, document->lists[i].name))
                look_at_list(&document->lists[i], value);
    }
    return document->lists[0].has_any || document->lists[1].has_any;
}

/* ---- bytes ---- */

/* 0 to 255, or -1. */
static int byte_of(struct json_piece piece)
{
    int byte = 0;
    for (size_t i = 0; i < piece.length; i++) {
        if (piece.data[i] < '0' || piece.data[i] > '9' || i == 3)
            return -1;
        byte = byte * 10 + (piece.data[i] - '0');
    }
    return byte < 256 ? byte : -1;
}

static bool read_numbers(struct json_walk *walk, struct text *bytes, struct error *error)
{
    struct json_piece number;
    for (size_t i = 0; json_walk_next(walk, NULL, &number); i++) {
        int byte = byte_of(number);
        if (byte < 0)
            return error_set(error, ERROR_BAD_REQUEST,
                             "'data' has %.*s at index %zu, which is no byte (0 to 255)",
                             (int)utf8_cut(number.data, number.length, 20), number.data, i);
        text_putc(bytes, (char)byte);
    }
    return !bytes->failed || error_memory(error);
}

static bool read_base64(struct json_piece string, struct text *bytes, struct error *error)
{
    struct text unescaped = TEXT_INIT;
    const char *data = string.data + 1;
    size_t length = string.length - 2;
    bool good = true;
    if (memchr(data, '\\', length)) { /* some escape every '/' */
        good = json_piece_text(string, &unescaped);
        data = text_cstr(&unescaped);
        length = unescaped.length;
    }
    good = good && base64_read(bytes, data, length);
    bool no_memory = unescaped.failed || bytes->failed;
    text_release(&unescaped);
    return good || (no_memory ? error_memory(error) : refuse(error, "'data' is not base64"));
}

static bool read_data(struct json_piece data, struct bytes *out, struct error *error)
{
    struct text bytes = TEXT_INIT;
    struct json_walk walk;
    bool read;
    if (json_piece_is_string(data))
        read = read_base64(data, &bytes, error);
    else if (json_walk_into(&walk, data, '['))
        read = read_numbers(&walk, &bytes, error);
    else
        read = refuse(error, data.length ? "'data' must be base64 or a list of bytes"
                                         : "'data' is missing");
    if (read) {
        out->data = text_take(&bytes, &out->length);
        read = out->data || error_memory(error);
    }
    text_release(&bytes);
    return read;
}

/* ---- elements ---- */

static void element_release(struct element *element)
{
    text_release(&element->mime_type);
    text_release(&element->name);
    text_release(&element->uri);
}

/* A member that is null is absent. */
static bool read_string(struct json_piece value, const char *key, struct text *out, bool *there,
                        struct error *error)
{
    if (value.length == 4 && memcmp(value.data, "null", 4) == 0)
        return true;
    *there = true;
    text_reset(out);
    if (json_piece_text(value, out))
        return true;
    return out->failed ? error_memory(error)
                       : error_set(error, ERROR_BAD_REQUEST, "'%s' must be a string", key);
}

static bool read_member(struct element *element, struct json_piece key, struct json_piece value,
                        struct error *error)
{
    const struct {
        const char *key;
        struct text *text;
        bool *there;
    } strings[] = {
        {"mime_type", &element->mime_type, &element->has_mime_type},
        {"mimeType", &element->mime_type, &element->has_mime_type},
        {"name", &element->name, &element->has_name},
        {"display_name", &element->name, &element->has_name},
        {"displayName", &element->name, &element->has_name},
        {"uri", &element->uri, &element->has_uri},
        {"file_uri", &element->uri, &element->has_uri},
        {"fileUri", &element->uri, &element->has_uri},
    };
    if (json_piece_is(key, "data"))
        element->data = value;
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        if (json_piece_is(key, strings[i].key))
            return read_string(value, strings[i].key, strings[i].text, strings[i].there, error);
    return true;
}

static bool read_element(struct element *element, struct json_piece piece, struct error *error)
{
    struct json_walk walk;
    struct json_piece key, value;
    if (!json_walk_into(&walk, piece, '{'))
        return refuse(error, "it must be an object");
    while (json_walk_next(&walk, &key, &value))
        if (!read_member(element, key, value, error))
            return false;
    return element->has_mime_type || refuse(error, "'mime_type' is missing");
}

static bool take_element(struct tool_result *result, bool is_inline, struct json_piece piece,
                         struct error *error)
{
    struct element element = {0};
    struct bytes data = {0};
    bool good = read_element(&element, piece, error);
    if (good && is_inline)
        good = read_data(element.data, &data, error);
    else if (good && !element.has_uri)
        good = refuse(error, "'uri' is missing");
    good = good && parts_add(result, text_cstr(&element.mime_type),
                             element.has_name ? text_cstr(&element.name) : NULL, data,
                             is_inline ? NULL : text_cstr(&element.uri), error);
    element_release(&element);
    return good;
}

static bool take_list(struct tool_result *result, const struct list *list, bool is_inline,
                      struct error *error)
{
    struct json_walk walk;
    struct json_piece piece;
    if (!json_walk_into(&walk, list->piece, '['))
        return true;
    for (size_t i = 0; json_walk_next(&walk, NULL, &piece); i++)
        if (!take_element(result, is_inline, piece, error)) {
            if (error->kind != ERROR_INTERNAL)
                error_prefix(error, "%s[%zu]", list->name, i);
            return false;
        }
    return true;
}

/* ---- what is left ---- */

static bool is_taken(const struct document *document, struct json_piece key)
{
    for (size_t i = 0; i < 2; i++)
        if (document->lists[i].is_there && json_piece_is(key, document->lists[i].name))
            return true;
    return false;
}

/* The other members, each as it was written. */
static void put_rest(const struct document *document, struct text *out)
{
    struct json_walk walk;
    struct json_piece key, value;
    json_walk_into(&walk, document->whole, '{');
    text_putc(out, '{');
    while (json_walk_next(&walk, &key, &value)) {
        if (is_taken(document, key))
            continue;
        if (out->length > 1)
            text_putc(out, ',');
        text_append(out, key.data, key.length);
        text_putc(out, ':');
        text_append(out, value.data, value.length);
    }
    text_putc(out, '}');
}

/* What a response says when it is a string, else its JSON. */
static bool put_response(const struct document *document, struct text *out)
{
    bool is_text = json_piece_is_string(document->response);
    if (is_text)
        json_piece_text(document->response, out);
    else if (document->response.length)
        text_append(out, document->response.data, document->response.length);
    else
        put_rest(document, out);
    return is_text;
}

bool parts_take_json(struct tool_result *result, struct error *error)
{
    const struct text *text = &result->text;
    struct document document = {.whole = {text_cstr(text), text->length},
                                .lists = {{.name = "inline_data"}, {.name = "file_data"}}};
    /* Most results have none, and are not walked through: both names end alike. */
    if (!memmem(text_cstr(text), text->length, "e_data\"", 7) || !look(&document))
        return true;
    if (!take_list(result, &document.lists[0], true, error) ||
        !take_list(result, &document.lists[1], false, error))
        return false;
    struct text left = TEXT_INIT;
    result->is_json = !put_response(&document, &left);
    text_release(&result->text);
    result->text = left;
    return !left.failed || error_memory(error);
}
