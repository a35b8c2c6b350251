#include "base/json_walk.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_token.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct json_walk *walk)
{
    while (walk->at < walk->end && is_space(*walk->at))
        walk->at++;
}

/* Behind the closing quote. */
static void skip_string(struct json_walk *walk)
{
    for (walk->at++; walk->at < walk->end; walk->at++) {
        walk->at += json_plain(walk->at, (size_t)(walk->end - walk->at));
        if (walk->at == walk->end)
            return;
        if (*walk->at == '"')
            break;
        if (*walk->at == '\\' && walk->at + 1 < walk->end)
            walk->at++;
    }
    if (walk->at < walk->end)
        walk->at++;
}

/* Behind the bracket that closes the one before. */
static void skip_nested(struct json_walk *walk)
{
    size_t depth = 0;
    do {
        if (*walk->at == '"') {
            skip_string(walk);
            continue;
        }
        if (*walk->at == '{' || *walk->at == '[')
            depth++;
        else if (*walk->at == '}' || *walk->at == ']')
            depth--;
        walk->at++;
    } while (depth && walk->at < walk->end);
}

static void skip_word(struct json_walk *walk)
{
    while (walk->at < walk->end && !is_space(*walk->at) && !memchr(",:]}", *walk->at, 4))
        walk->at++;
}

static struct json_piece take(struct json_walk *walk)
{
    struct json_piece piece = {walk->at, 0};
    if (walk->at == walk->end)
        return piece;
    if (*walk->at == '"')
        skip_string(walk);
    else if (*walk->at == '{' || *walk->at == '[')
        skip_nested(walk);
    else
        skip_word(walk);
    piece.length = (size_t)(walk->at - piece.data);
    return piece;
}

bool json_walk_into(struct json_walk *walk, struct json_piece piece, char bracket)
{
    if (!piece.length)
        return false;
    *walk = (struct json_walk){piece.data, piece.data + piece.length};
    skip_space(walk);
    if (walk->at == walk->end || *walk->at != bracket)
        return false;
    walk->at++;
    return true;
}

/* Past one of the signs between entries. */
static void skip_sign(struct json_walk *walk, char sign)
{
    skip_space(walk);
    if (walk->at < walk->end && *walk->at == sign)
        walk->at++;
    skip_space(walk);
}

bool json_walk_next(struct json_walk *walk, struct json_piece *key, struct json_piece *value)
{
    skip_sign(walk, ',');
    if (key) {
        *key = take(walk);
        skip_sign(walk, ':');
    }
    *value = take(walk);
    return value->length > 0;
}

struct json_piece json_walk_member(struct json_piece object, const char *name)
{
    struct json_walk walk;
    struct json_piece key, value, found = {NULL, 0};
    if (json_walk_into(&walk, object, '{'))
        while (json_walk_next(&walk, &key, &value))
            if (json_piece_is(key, name))
                found = value;
    return found;
}

bool json_piece_is(struct json_piece key, const char *name)
{
    size_t length = strlen(name);
    return key.length == length + 2 && memcmp(key.data + 1, name, length) == 0;
}

bool json_piece_is_string(struct json_piece piece)
{
    return piece.length >= 2 && *piece.data == '"';
}

bool json_piece_text(struct json_piece piece, struct text *out)
{
    if (!json_piece_is_string(piece))
        return false;
    if (!memchr(piece.data, '\\', piece.length)) {
        text_append(out, piece.data + 1, piece.length - 2);
        return !out->failed;
    }
    struct error error = ERROR_INIT;
    json_t *string = json_parse(piece.data, piece.length, NULL, &error);
    bool read = json_is_string(string);
    if (read)
        text_append(out, json_string_value(string), json_string_length(string));
    else if (error.kind == ERROR_INTERNAL)
        out->failed = true;
    json_decref(string);
    return read && !out->failed;
}
