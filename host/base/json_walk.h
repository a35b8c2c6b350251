/*
 * json_walk - looks into JSON text without building its values.
 *
 * For text that json_is_valid() has passed and of which most goes on to the byte: a number is
 * not rounded, and ten megabytes in a string are not copied.  Text that is not valid gives
 * pieces that make no sense, but never one outside of the text.
 */
#ifndef BASE_JSON_WALK_H
#define BASE_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* One value or key as it is written, without space around it.  Borrowed. */
struct json_piece {
    const char *data;
    size_t length;
};

struct json_walk {
    const char *at;
    const char *end;
};

/* Whether the piece is an object ('{') or a list ('['); then the walk stands before its first
 * entry. */
bool json_walk_into(struct json_walk *walk, struct json_piece piece, char bracket);
/* The next entry; `key` is NULL in a list.  False: no more. */
bool json_walk_next(struct json_walk *walk, struct json_piece *key, struct json_piece *value);
/* The value of an object's member, the last of its name; empty when there is none. */
struct json_piece json_walk_member(struct json_piece object, const char *name);

/* Whether a key is this one, written without escapes. */
bool json_piece_is(struct json_piece key, const char *name);
bool json_piece_is_string(struct json_piece piece);
/* Appends what a string says.  False: it is none, or there is no memory (out->failed). */
bool json_piece_text(struct json_piece piece, struct text *out);

#endif
