/*
 * json - jansson, with the answers to what models and servers really send.
 *
 * A json_t never crosses a thread: threads hand each other text.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

/* Any JSON value (not only objects).  NUL inside strings is allowed.  Text that jansson
 * refuses for its encoding (a lone surrogate escape, invalid UTF-8) is repaired and read
 * once more; invalid bytes become U+FFFD.  Lone surrogates become U+FFFD too, unless
 * `lone` is given: then each is kept as the code point 0x10D800 + (unit - 0xD800) and
 * *lone is set, for json_join_halves().  NULL with *error ("invalid JSON at line 1,
 * column 9 near 'oops': …", kind bad_request) otherwise.  The caller owns the result. */
json_t *json_parse(const char *data, size_t length, bool *lone, struct error *error);

/* json_parse() of what is only looked at, while its text goes on as it is: when an integer is
 * beyond 64 bits, all integers are read as reals. */
json_t *json_parse_wide(const char *data, size_t length, struct error *error);

/* json_loadb(), but fast, and one that fails when memory runs out: *no_memory tells.  The flags
 * are those of json_read.h. */
json_t *json_read(const char *data, size_t length, size_t flags, json_error_t *problem,
                  bool *no_memory);

/* A server may split a surrogate pair over two deltas of one block.  Each block keeps a
 * `struct json_half`; every delta goes through json_join_halves(), which appends it to
 * `out` with pairs joined and unpaired halves as U+FFFD.  `lone` is what json_parse()
 * said of the event.  At the end of the block json_half_end() appends what is pending. */
struct json_half {
    unsigned high; /* a high surrogate that waits for its low half; 0 = none */
};

void json_join_halves(struct json_half *half, struct text *out, const char *data, size_t length,
                      bool lone);
void json_half_end(struct json_half *half, struct text *out);

/* The first member that is not among `known`, a NULL-terminated list; NULL: none. */
const char *json_unknown_member(const json_t *object, const char *const *known);

/* The string member `key`, or NULL when it is absent, null or no string. */
const char *json_member_string(const json_t *object, const char *key);
/* Its length beside it; `length` is set to 0 when NULL is returned. */
const char *json_member_text(const json_t *object, const char *key, size_t *length);
/* An integer member, or `fallback`.  Reals with an integer value count. */
json_int_t json_member_integer(const json_t *object, const char *key, json_int_t fallback);
bool json_member_true(const json_t *object, const char *key);
/* Whether an equal value is in the list; NULL is an empty one. */
bool json_array_holds(const json_t *list, const json_t *value);

#endif
