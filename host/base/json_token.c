#include "base/json_token.h"

#include <ctype.h>
#include <endian.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum {
    BLOCK = 32,     /* bytes that are looked at together */
    NEAR_BYTES = 20 /* the longest token that an error quotes */
};

/* ---- plain bytes ---- */

static inline bool is_special(unsigned char byte)
{
    return (byte < 0x20) | (byte == '"') | (byte == '\\');
}

/* A loop that the compiler makes a few wide instructions of. */
static bool has_special(const unsigned char *block)
{
    unsigned char any = 0;
    for (size_t i = 0; i < BLOCK; i++)
        any |= (unsigned char)is_special(block[i]);
    return any;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of each byte that is special, exactly as far as the first of them: what is
 * subtracted from that borrows from those behind it. */
static uint64_t specials(uint64_t eight)
{
    uint64_t control = eight - EACH(0x20);
    uint64_t quote = (eight ^ EACH('"')) - EACH(1);
    uint64_t backslash = (eight ^ EACH('\\')) - EACH(1);
    return (control | quote | backslash) & ~eight & EACH(0x80);
}

/* How many of the eight bytes at `bytes` stand before the first special one. */
static size_t plain_of_eight(const unsigned char *bytes)
{
    uint64_t eight;
    memcpy(&eight, bytes, sizeof(eight));
    eight = le64toh(eight);
    uint64_t found = specials(eight);
    return found ? (size_t)__builtin_ctzll(found) / 8 : sizeof(eight);
}

size_t json_plain(const char *data, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)data;
    size_t i = 0;
    while (length - i >= BLOCK && !has_special(bytes + i))
        i += BLOCK;
    while (length - i >= 8) {
        size_t plain = plain_of_eight(bytes + i);
        i += plain;
        if (plain < 8)
            return i;
    }
    while (i < length && !is_special(bytes[i]))
        i++;
    return i;
}

/* ---- what is wrong ---- */

static void set_place(const struct json_tokens *tokens, json_error_t *problem)
{
    problem->line = 1;
    problem->column = 0;
    for (const char *c = tokens->start; c < tokens->at; c++) {
        if (*c == '\n') {
            problem->line++;
            problem->column = 0;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            problem->column++;
        }
    }
    problem->position = (int)(tokens->at - tokens->start);
}

bool json_tokens_fail(struct json_tokens *tokens, enum json_error_code code, const char *format,
                      ...)
{
    json_error_t *problem = tokens->problem;
    bool is_first = !tokens->failed;
    tokens->failed = true;
    if (!problem || !is_first)
        return false;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(problem->text, sizeof(problem->text), format, args);
    va_end(args);
    char *rest = problem->text + length;
    size_t room = sizeof(problem->text) - 1 - (size_t)length; /* the last byte is the code */
    size_t seen = (size_t)(tokens->at - tokens->first);
    bool at_cut = tokens->is_cut && tokens->at == tokens->end;
    if (seen && seen <= NEAR_BYTES)
        snprintf(rest, room, " near '%.*s'", (int)seen, tokens->first);
    else if (!seen && !at_cut)
        snprintf(rest, room, " near end of file");
    if (!seen && code == json_error_invalid_syntax)
        code = json_error_premature_end_of_input;
    problem->text[sizeof(problem->text) - 1] = (char)code;
    set_place(tokens, problem);
    return false;
}

/* ---- bytes ---- */

/* Nothing more can be read: the text is over, or what follows is no text. */
static bool is_over(struct json_tokens *tokens)
{
    if (tokens->at < tokens->end)
        return false;
    if (tokens->is_cut)
        json_tokens_fail(tokens, json_error_invalid_utf8, "unable to decode byte 0x%x",
                         (unsigned)(unsigned char)*tokens->at);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- strings ---- */

/* The unit of the four digits at `digits`. */
static unsigned unit_of(const char *digits)
{
    unsigned unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = (unsigned char)digits[i];
        unit = unit * 16 + (digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return unit;
}

/* Behind the backslash.  What is wrong is taken as well. */
static bool scan_escape(struct json_tokens *tokens, bool *has_units)
{
    if (is_over(tokens))
        return false;
    char letter = *tokens->at++;
    if (letter != 'u')
        return letter && strchr("\"\\/bfnrt", letter);
    *has_units = true;
    for (int i = 0; i < 4; i++)
        if (is_over(tokens) || !isxdigit((unsigned char)*tokens->at++))
            return false;
    return true;
}

/* Surrogates come in pairs. */
static bool check_units(struct json_tokens *tokens)
{
    struct slice string = json_tokens_string(tokens);
    const char *end = string.data + string.length;
    const char *at = string.data;
    while ((at = memchr(at, '\\', (size_t)(end - at)))) {
        unsigned unit = at[1] == 'u' ? unit_of(at + 2) : 0;
        at += at[1] == 'u' ? 6 : 2;
        if (unit < 0xD800 || unit > 0xDFFF)
            continue;
        bool is_pair = unit < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u';
        unsigned low = is_pair ? unit_of(at + 2) : 0;
        if (!is_pair)
            return json_tokens_fail(tokens, json_error_invalid_syntax, "invalid Unicode '\\u%04X'",
                                    unit);
        if (low < 0xDC00 || low > 0xDFFF)
            return json_tokens_fail(tokens, json_error_invalid_syntax,
                                    "invalid Unicode '\\u%04X\\u%04X'", unit, low);
        at += 6;
    }
    return true;
}

static bool scan_string(struct json_tokens *tokens)
{
    bool has_units = false;
    tokens->has_escapes = false;
    tokens->at++;
    for (;;) {
        tokens->at += json_plain(tokens->at, (size_t)(tokens->end - tokens->at));
        if (is_over(tokens))
            return json_tokens_fail(tokens, json_error_premature_end_of_input,
                                    "premature end of input");
        unsigned byte = (unsigned char)*tokens->at;
        if (byte == '\n')
            return json_tokens_fail(tokens, json_error_invalid_syntax, "unexpected newline");
        if (byte < 0x20)
            return json_tokens_fail(tokens, json_error_invalid_syntax, "control character 0x%x",
                                    byte);
        tokens->at++;
        if (byte == '"')
            return !has_units || check_units(tokens);
        tokens->has_escapes = true;
        if (!scan_escape(tokens, &has_units))
            return json_tokens_fail(tokens, json_error_invalid_syntax, "invalid escape");
    }
}

struct slice json_tokens_string(const struct json_tokens *tokens)
{
    return (struct slice){tokens->first + 1, (size_t)(tokens->at - tokens->first) - 2};
}

static void append_code(struct text *out, unsigned code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 63));
    bytes[0] = (char)(lead[length] | code);
    text_append(out, bytes, length);
}

/* The escape at `at`; returns how many bytes it has. */
static size_t unescape(struct text *out, const char *at)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (at[1] != 'u') {
        const char *letter = strchr(letters, at[1]);
        text_putc(out, letter ? meant[letter - letters] : at[1]);
        return 2;
    }
    unsigned unit = unit_of(at + 2);
    if (unit < 0xD800 || unit > 0xDFFF) {
        append_code(out, unit);
        return 6;
    }
    append_code(out, 0x10000 + ((unit - 0xD800) << 10) + (unit_of(at + 8) - 0xDC00));
    return 12;
}

void json_unescape(struct text *out, struct slice string)
{
    const char *at = string.data, *end = string.data + string.length, *escape;
    while ((escape = memchr(at, '\\', (size_t)(end - at)))) {
        text_append(out, at, (size_t)(escape - at));
        at = escape + unescape(out, escape);
    }
    text_append(out, at, (size_t)(end - at));
}

/* ---- numbers and words ---- */

/* Past `byte`, where it stands there. */
static const char *skip(const char *at, const char *end, char byte)
{
    return at + (at < end && *at == byte);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* The number at *at, which is left behind it, or where it goes wrong. */
static int scan_number(const char **at, const char *end)
{
    const char *first = skip(*at, end, '-');
    const char *behind = skip(first, end, '0');
    *at = behind > first ? behind : skip_digits(first, end);
    if (*at == first || (behind > first && behind < end && is_digit(*behind)))
        return JSON_TOKEN_BAD;
    int token = JSON_TOKEN_INTEGER;
    if (*at < end && **at == '.') {
        token = JSON_TOKEN_REAL;
        first = *at + 1;
        *at = skip_digits(first, end);
        if (*at == first)
            return JSON_TOKEN_BAD;
    }
    if (*at < end && (**at == 'e' || **at == 'E')) {
        token = JSON_TOKEN_REAL;
        const char *sign = *at + 1;
        first = sign + (sign < end && (*sign == '+' || *sign == '-'));
        *at = skip_digits(first, end);
        if (*at == first)
            return JSON_TOKEN_BAD;
    }
    return token;
}

static int scan_word(const char **at, const char *end)
{
    struct slice word = {*at, 0};
    while (*at < end && is_letter(**at))
        (*at)++;
    word.length = (size_t)(*at - word.data);
    return slice_is(word, "true")    ? JSON_TOKEN_TRUE
           : slice_is(word, "false") ? JSON_TOKEN_FALSE
           : slice_is(word, "null")  ? JSON_TOKEN_NULL
                                     : JSON_TOKEN_BAD;
}

/* ---- tokens ---- */

void json_tokens_init(struct json_tokens *tokens, const char *data, size_t length,
                      json_error_t *problem)
{
    size_t valid = utf8_valid(data, length);
    *tokens = (struct json_tokens){
        .start = data,
        .at = data,
        .end = data + valid,
        .is_cut = valid < length,
        .problem = problem,
        .first = data,
    };
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* The whole of a character that begins nothing. */
static int scan_bad(const char **at, const char *end)
{
    do
        (*at)++;
    while (*at < end && ((unsigned char)**at & 0xC0) == 0x80);
    return JSON_TOKEN_BAD;
}

static int scan(struct json_tokens *tokens)
{
    char byte = *tokens->at;
    switch (byte) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
        tokens->at++;
        return byte;
    case '"':
        return scan_string(tokens) ? JSON_TOKEN_STRING : JSON_TOKEN_BAD;
    default:
        break;
    }
    if (!is_digit(byte) && byte != '-' && !is_letter(byte))
        return scan_bad(&tokens->at, tokens->end);
    int token = is_letter(byte) ? scan_word(&tokens->at, tokens->end)
                                : scan_number(&tokens->at, tokens->end);
    is_over(tokens); /* it may go on with what is no text */
    return token;
}

void json_tokens_next(struct json_tokens *tokens)
{
    tokens->first = tokens->at = skip_space(tokens->at, tokens->end);
    if (is_over(tokens))
        tokens->token = tokens->is_cut ? JSON_TOKEN_BAD : JSON_TOKEN_END;
    else
        tokens->token = scan(tokens);
}
