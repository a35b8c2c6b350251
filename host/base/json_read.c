#include "base/json_read.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_token.h"

enum { MAX_DEPTH = 2048 };

struct reader {
    struct json_tokens tokens;
    size_t flags;
    unsigned depth;
    bool builds;
    bool no_memory;
    json_int_t integer; /* what a number token says */
    double real;
    struct text spelled; /* keys with escapes, of all objects around; and a string, a number */
};

/* ---- numbers ---- */

static locale_t plain_locale;

static void make_plain_locale(void)
{
    plain_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

/* With a point, whatever locale a plugin has set. */
static double to_real(const char *text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain_locale);
    return plain_locale ? strtod_l(text, NULL, plain_locale) : strtod(text, NULL);
}

/* Few digits and a small power of ten: both are exact as they are, so one division or
 * multiplication is rounded as it should be. */
static bool read_short_real(const char *at, const char *end, double *real)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    enum { DIGITS = 15 };
    bool is_negative = *at == '-';
    uint64_t digits = 0;
    int count = 0, behind = -1; /* the point */
    for (at += is_negative; at < end; at++) {
        if (*at == '.') {
            behind = 0;
            continue;
        }
        if (*at > '9' || ++count > DIGITS) /* an exponent */
            return false;
        digits = digits * 10 + (uint64_t)(*at - '0');
        behind += behind >= 0;
    }
    double value = (double)digits / powers[behind > 0 ? behind : 0];
    *real = is_negative ? -value : value;
    return true;
}

static bool read_real(struct reader *reader)
{
    struct json_tokens *tokens = &reader->tokens;
    size_t start = reader->spelled.length;
    if (read_short_real(tokens->first, tokens->at, &reader->real))
        return true;
    text_append(&reader->spelled, tokens->first, (size_t)(tokens->at - tokens->first));
    if (reader->spelled.failed) {
        reader->no_memory = true;
        return false;
    }
    reader->real = to_real(reader->spelled.data + start);
    reader->spelled.length = start;
    return !isinf(reader->real) ||
           json_tokens_fail(tokens, json_error_numeric_overflow, "real number overflow");
}

static bool read_integer(struct reader *reader)
{
    const char *at = reader->tokens.first, *end = reader->tokens.at;
    bool is_negative = *at == '-';
    uint64_t limit = (uint64_t)INT64_MAX + is_negative, value = 0;
    for (at += is_negative; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (value > (limit - digit) / 10)
            return json_tokens_fail(&reader->tokens, json_error_numeric_overflow,
                                    is_negative ? "too big negative integer" : "too big integer");
        value = value * 10 + digit;
    }
    reader->integer = (json_int_t)(is_negative ? 0 - value : value);
    return true;
}

/* The next token; with the value of a number. */
static int next(struct reader *reader)
{
    struct json_tokens *tokens = &reader->tokens;
    json_tokens_next(tokens);
    if (!reader->builds)
        return tokens->token;
    if (tokens->token == JSON_TOKEN_INTEGER && (reader->flags & JSON_DECODE_INT_AS_REAL))
        tokens->token = JSON_TOKEN_REAL;
    if ((tokens->token == JSON_TOKEN_INTEGER && !read_integer(reader)) ||
        (tokens->token == JSON_TOKEN_REAL && !read_real(reader)))
        tokens->token = JSON_TOKEN_BAD;
    return tokens->token;
}

/* ---- strings ---- */

/* What the string says, in the text or at the end of `spelled`. */
static struct slice spell(struct reader *reader)
{
    struct slice string = json_tokens_string(&reader->tokens);
    if (!reader->tokens.has_escapes)
        return string;
    size_t start = reader->spelled.length;
    json_unescape(&reader->spelled, string);
    return (struct slice){text_cstr(&reader->spelled) + start, reader->spelled.length - start};
}

static json_t *make_string(struct reader *reader)
{
    size_t start = reader->spelled.length;
    struct slice string = spell(reader);
    reader->spelled.length = start;
    return reader->spelled.failed ? NULL : json_stringn_nocheck(string.data, string.length);
}

/* ---- lists and objects ---- */

static bool read_value(struct reader *reader, json_t **out);

static bool keep_element(struct reader *reader, json_t *list, json_t *value)
{
    if (reader->builds && json_array_append_new(list, value) != 0)
        reader->no_memory = true;
    return !reader->no_memory;
}

/* Behind the bracket, as far as the closing one. */
static bool read_elements(struct reader *reader, json_t *list)
{
    struct json_tokens *tokens = &reader->tokens;
    if (next(reader) == ']')
        return true;
    while (tokens->token != JSON_TOKEN_END) {
        json_t *value;
        if (!read_value(reader, &value) || !keep_element(reader, list, value))
            return false;
        if (next(reader) != ',')
            break;
        next(reader);
    }
    return tokens->token == ']' ||
           json_tokens_fail(tokens, json_error_invalid_syntax, "']' expected");
}

static bool check_key(struct reader *reader, const json_t *object, struct slice key)
{
    struct json_tokens *tokens = &reader->tokens;
    if (reader->tokens.has_escapes && memchr(key.data, '\0', key.length))
        return json_tokens_fail(tokens, json_error_null_byte_in_key,
                                "NUL byte in object key not supported");
    if ((reader->flags & JSON_REJECT_DUPLICATES) &&
        json_object_getn(object, key.data, key.length))
        return json_tokens_fail(tokens, json_error_duplicate_key, "duplicate object key");
    return true;
}

static bool keep_member(struct reader *reader, json_t *object, struct slice key, json_t *value)
{
    if (json_object_setn_new_nocheck(object, key.data, key.length, value) != 0)
        reader->no_memory = true;
    return !reader->no_memory;
}

static bool read_member_value(struct reader *reader, json_t **value)
{
    if (next(reader) != ':')
        return json_tokens_fail(&reader->tokens, json_error_invalid_syntax, "':' expected");
    next(reader);
    return read_value(reader, value);
}

static bool read_member(struct reader *reader, json_t *object)
{
    struct json_tokens *tokens = &reader->tokens;
    size_t start = reader->spelled.length;
    json_t *value;
    if (tokens->token != JSON_TOKEN_STRING)
        return json_tokens_fail(tokens, json_error_invalid_syntax, "string or '}' expected");
    if (!reader->builds)
        return read_member_value(reader, &value);
    bool is_spelled = tokens->has_escapes;
    struct slice key = spell(reader);
    reader->no_memory = reader->spelled.failed;
    if (reader->no_memory || !check_key(reader, object, key) || !read_member_value(reader, &value))
        return false;
    if (is_spelled) /* which may have moved */
        key.data = reader->spelled.data + start;
    reader->spelled.length = start;
    return keep_member(reader, object, key, value);
}

/* Behind the brace, as far as the closing one. */
static bool read_members(struct reader *reader, json_t *object)
{
    struct json_tokens *tokens = &reader->tokens;
    if (next(reader) == '}')
        return true;
    for (;;) {
        if (!read_member(reader, object))
            return false;
        if (next(reader) != ',')
            break;
        next(reader);
    }
    return tokens->token == '}' ||
           json_tokens_fail(tokens, json_error_invalid_syntax, "'}' expected");
}

static bool read_inside(struct reader *reader, json_t **out, json_t *(*make)(void),
                        bool (*read)(struct reader *reader, json_t *container))
{
    json_t *container = reader->builds ? make() : NULL;
    if (reader->builds && !container) {
        reader->no_memory = true;
        return false;
    }
    if (!read(reader, container)) {
        json_decref(container);
        return false;
    }
    *out = container;
    return true;
}

/* ---- values ---- */

/* True without a value where one is built: there was no memory. */
static bool read_one(struct reader *reader, json_t **out)
{
    struct json_tokens *tokens = &reader->tokens;
    bool builds = reader->builds;
    switch (tokens->token) {
    case JSON_TOKEN_STRING:
        *out = builds ? make_string(reader) : NULL;
        return true;
    case JSON_TOKEN_INTEGER:
        *out = builds ? json_integer(reader->integer) : NULL;
        return true;
    case JSON_TOKEN_REAL:
        *out = builds ? json_real(reader->real) : NULL;
        return true;
    case JSON_TOKEN_TRUE:
        *out = json_true();
        return true;
    case JSON_TOKEN_FALSE:
        *out = json_false();
        return true;
    case JSON_TOKEN_NULL:
        *out = json_null();
        return true;
    case '{':
        return read_inside(reader, out, json_object, read_members);
    case '[':
        return read_inside(reader, out, json_array, read_elements);
    case JSON_TOKEN_BAD:
        return json_tokens_fail(tokens, json_error_invalid_syntax, "invalid token");
    default:
        return json_tokens_fail(tokens, json_error_invalid_syntax, "unexpected token");
    }
}

static bool read_value(struct reader *reader, json_t **out)
{
    *out = NULL;
    if (++reader->depth > MAX_DEPTH)
        return json_tokens_fail(&reader->tokens, json_error_stack_overflow,
                                "maximum parsing depth reached");
    bool good = read_one(reader, out);
    reader->depth--;
    if (good && reader->builds && !*out)
        reader->no_memory = true;
    return good && !reader->no_memory;
}

static bool read_all(struct reader *reader, json_t **out)
{
    struct json_tokens *tokens = &reader->tokens;
    next(reader);
    if (!(reader->flags & JSON_DECODE_ANY) && tokens->token != '[' && tokens->token != '{')
        return json_tokens_fail(tokens, json_error_invalid_syntax, "'[' or '{' expected");
    if (!read_value(reader, out))
        return false;
    if (reader->flags & JSON_DISABLE_EOF_CHECK)
        return true;
    if (next(reader) == JSON_TOKEN_END)
        return true;
    json_decref(*out);
    *out = NULL;
    return json_tokens_fail(tokens, json_error_end_of_input_expected, "end of file expected");
}

bool json_read_text(const char *data, size_t length, size_t flags, json_t **value,
                    json_error_t *problem, bool *no_memory)
{
    struct reader reader = {.flags = flags, .builds = value};
    json_t *nothing;
    if (problem) {
        problem->line = problem->column = -1;
        problem->source[0] = problem->text[0] = problem->text[sizeof(problem->text) - 1] = '\0';
    }
    json_tokens_init(&reader.tokens, data, length, problem);
    bool good = read_all(&reader, value ? value : &nothing);
    text_release(&reader.spelled);
    *no_memory = reader.no_memory;
    if (problem && good)
        problem->position = (int)(reader.tokens.at - data);
    return good;
}

json_t *json_read(const char *data, size_t length, size_t flags, json_error_t *problem,
                  bool *no_memory)
{
    json_t *value = NULL;
    return json_read_text(data, length, flags, &value, problem, no_memory) ? value : NULL;
}
