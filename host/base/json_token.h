/*
 * json_token - JSON text in tokens, with the place and the reason where it is none.
 *
 * The lower half of json_read.h.  Everything is decided from the bytes: that the text is UTF-8
 * was looked at once, before the first token.  What is wrong is described in jansson's words and
 * at jansson's places, because callers tell its errors apart and show them.
 */
#ifndef BASE_JSON_TOKEN_H
#define BASE_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/text.h"

/* How many bytes from the first can stand in a JSON string as they are: up to a quote, a
 * backslash or a control character. */
size_t json_plain(const char *data, size_t length);

/* The signs { } [ ] : , are tokens by their own number. */
enum {
    JSON_TOKEN_BAD = -1,
    JSON_TOKEN_END = 0,
    JSON_TOKEN_STRING = 256,
    JSON_TOKEN_INTEGER,
    JSON_TOKEN_REAL, /* has a point or an exponent */
    JSON_TOKEN_TRUE,
    JSON_TOKEN_FALSE,
    JSON_TOKEN_NULL
};

struct json_tokens {
    const char *start, *at, *end;
    bool is_cut; /* the byte at `end` is there, and no UTF-8 */
    bool failed;
    json_error_t *problem; /* what was wrong first; NULL: nobody asks */
    /* The token: [first, at). */
    int token;
    const char *first;
    bool has_escapes; /* of a string */
};

void json_tokens_init(struct json_tokens *tokens, const char *data, size_t length,
                      json_error_t *problem);
void json_tokens_next(struct json_tokens *tokens);

/* Notes what is wrong at the token, unless something was wrong before.  Returns false. */
bool json_tokens_fail(struct json_tokens *tokens, enum json_error_code code, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* What stands between the quotes of a string token, as it is written. */
struct slice json_tokens_string(const struct json_tokens *tokens);
/* Appends what such a string says. */
void json_unescape(struct text *out, struct slice string);

#endif
