#include "secrets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mortise/tool.h>

/* ---- characters ---- */

enum {
    DIGIT = 1 << 0,
    UPPER = 1 << 1,
    LOWER = 1 << 2,
    TOKEN = 1 << 3,  /* _ - */
    BEARER = 1 << 4, /* . ~ + / = */
    ALNUM = DIGIT | UPPER | LOWER
};

static unsigned kind_of(char c)
{
    if (c >= '0' && c <= '9')
        return DIGIT;
    if (c >= 'A' && c <= 'Z')
        return UPPER;
    if (c >= 'a' && c <= 'z')
        return LOWER;
    if (c == '_' || c == '-')
        return TOKEN;
    return c && strchr(".~+/=", c) ? BEARER : 0;
}

/* The end of the characters of these kinds from `at` on. */
static size_t run_end(const char *text, size_t length, size_t at, unsigned kinds)
{
    while (at < length && (kind_of(text[at]) & kinds))
        at++;
    return at;
}

static bool has_digit(const char *text, size_t from, size_t to)
{
    while (from < to && kind_of(text[from]) != DIGIT)
        from++;
    return from < to;
}

static bool is_hex(char c)
{
    return c && strchr("0123456789abcdefABCDEF", c);
}

/* Whether a word can begin at `at`: not inside of another, but behind an escape (\n, %3D). */
static bool at_boundary(const char *text, size_t at)
{
    if (at == 0 || !(kind_of(text[at - 1]) & ALNUM))
        return true;
    if (at >= 2 && text[at - 2] == '\\' && strchr("bfnrt", text[at - 1]))
        return true;
    return at >= 3 && text[at - 3] == '%' && is_hex(text[at - 2]) && is_hex(text[at - 1]);
}

/* ---- keys ---- */

static const struct key {
    const char *prefix; /* `?` is any letter or digit */
    unsigned kinds;     /* of what follows */
    size_t at_least;    /* characters that follow */
} keys[] = {
    {"sk-", ALNUM | TOKEN, 20},
    {"ghp_", ALNUM, 30},
    {"gho_", ALNUM, 30},
    {"ghu_", ALNUM, 30},
    {"ghs_", ALNUM, 30},
    {"ghr_", ALNUM, 30},
    {"github_pat_", ALNUM | TOKEN, 30},
    {"glpat-", ALNUM | TOKEN, 20},
    {"AKIA", UPPER | DIGIT, 16},
    {"ASIA", UPPER | DIGIT, 16},
    {"xox?-", ALNUM | TOKEN, 10},
    {"AIza", ALNUM | TOKEN, 35},
};

/* As much of what follows is looked at to tell a key from words with hyphens. */
enum { KEY_LOOK = 64 };

static bool has_prefix(const char *text, size_t length, const char *prefix)
{
    for (size_t i = 0; prefix[i]; i++)
        if (i >= length ||
            (prefix[i] != text[i] && !(prefix[i] == '?' && (kind_of(text[i]) & ALNUM))))
            return false;
    return true;
}

/* A match: [start, end), of which what is before `hidden` may be read. */
struct match {
    size_t hidden, end;
};

static bool match_key(const char *text, size_t length, size_t at, struct match *match)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!has_prefix(text + at, length - at, keys[i].prefix))
            continue;
        size_t body = at + strlen(keys[i].prefix);
        size_t look = length - body > KEY_LOOK ? body + KEY_LOOK : length;
        size_t end = run_end(text, look, body, keys[i].kinds);
        if (end - body >= keys[i].at_least && has_digit(text, body, end)) {
            *match = (struct match){at, run_end(text, length, end, keys[i].kinds)};
            return true;
        }
    }
    return false;
}

static bool match_bearer(const char *text, size_t length, size_t at, struct match *match)
{
    static const char word[] = "bearer ";
    size_t body = at + sizeof(word) - 1;
    if (length - at < sizeof(word) || strncasecmp(text + at, word, sizeof(word) - 1) != 0)
        return false;
    *match = (struct match){body, run_end(text, length, body, ALNUM | TOKEN | BEARER)};
    return match->end - body >= 20;
}

/* Three parts of base64url.  *dead is the end of a first part that the rest did not follow:
 * whatever begins before it is no JWT either, and need not be read again. */
static bool match_jwt(const char *text, size_t length, size_t at, size_t *dead, struct match *match)
{
    if (at < *dead || !has_prefix(text + at, length - at, "eyJ"))
        return false;
    size_t first = run_end(text, length, at, ALNUM | TOKEN);
    bool dot = first < length && text[first] == '.';
    size_t second = dot ? run_end(text, length, first + 1, ALNUM | TOKEN) : first;
    if (!dot || second == length || text[second] != '.' || second - first <= 10) {
        *dead = first;
        return false;
    }
    *match = (struct match){at, run_end(text, length, second + 1, ALNUM | TOKEN)};
    return first - at >= 10;
}

/* A block from BEGIN to END; without an END, what looks like its inside. */
static bool match_private_key(const char *text, size_t length, size_t at, struct match *match)
{
    static const char begin[] = "-----BEGIN ", dashes[] = "-----", end[] = "-----END ";
    static const char what[] = "PRIVATE KEY";
    if (!has_prefix(text + at, length - at, begin))
        return false;
    size_t title = at + sizeof(begin) - 1, title_end = title;
    while (title_end < length &&
           (kind_of(text[title_end]) & (UPPER | DIGIT) || text[title_end] == ' '))
        title_end++;
    if (!memmem(text + title, title_end - title, what, sizeof(what) - 1) ||
        !has_prefix(text + title_end, length - title_end, dashes))
        return false;
    size_t i = title_end + sizeof(dashes) - 1;
    while (i < length && (kind_of(text[i]) || (text[i] && strchr(" \t\r\n\\:,", text[i])))) {
        if (text[i] == '-' && has_prefix(text + i, length - i, end)) {
            i = run_end(text, length, i, TOKEN);
            while (i < length && (kind_of(text[i]) & UPPER || text[i] == ' '))
                i++;
            i = run_end(text, length, i, TOKEN);
            break;
        }
        i++;
    }
    *match = (struct match){at, i};
    return true;
}

/* ---- one piece of text, without a "[redacted]" in it ---- */

static bool match_literal(const struct secrets *secrets, const char *text, size_t length, size_t at,
                          struct match *match)
{
    for (size_t i = 0; i < secrets->literal_count; i++) {
        const struct literal *literal = &secrets->literals[i];
        if (literal->length <= length - at &&
            memcmp(text + at, literal->text, literal->length) == 0) {
            *match = (struct match){at, at + literal->length};
            return true;
        }
    }
    return false;
}

static bool match_any_key(const char *text, size_t length, size_t at, bool boundary, size_t *dead,
                          struct match *match)
{
    if (match_private_key(text, length, at, match))
        return true;
    return boundary &&
           (match_key(text, length, at, match) || match_bearer(text, length, at, match) ||
            match_jwt(text, length, at, dead, match));
}

static void hide(struct buffer *out, const char *text, size_t *copied, struct match match)
{
    buffer_add(out, text + *copied, match.hidden - *copied);
    buffer_add(out, REDACTED, sizeof(REDACTED) - 1);
    *copied = match.end;
}

/* Literals and keys.  Returns whether there were any; `out` gets the piece either way. */
static bool redact_words(const struct secrets *secrets, const char *text, size_t length,
                         struct buffer *out)
{
    size_t copied = 0, dead = 0;
    for (size_t i = 0; i < length;) {
        struct match match;
        bool found =
            secrets->starts[(unsigned char)text[i]] &&
            (match_literal(secrets, text, length, i, &match) ||
             (secrets->keys &&
              match_any_key(text, length, i, i == copied || at_boundary(text, i), &dead, &match)));
        if (found)
            hide(out, text, &copied, match);
        i = found ? match.end : i + 1;
    }
    buffer_add(out, text + copied, length - copied);
    return copied > 0;
}

/* One pattern in one line.  `flags` tell which ends of the line are none. */
static bool redact_line(const regex_t *pattern, const char *text, size_t length, int flags,
                        struct buffer *out)
{
    size_t copied = 0, at = 0;
    while (at < length) {
        regmatch_t found = {.rm_so = (regoff_t)at, .rm_eo = (regoff_t)length};
        if (regexec(pattern, text, 1, &found, flags | REG_STARTEND) != 0)
            break;
        if (found.rm_so == found.rm_eo) { /* of nothing */
            at = (size_t)found.rm_eo + 1;
            continue;
        }
        hide(out, text, &copied, (struct match){(size_t)found.rm_so, (size_t)found.rm_eo});
        at = copied;
    }
    buffer_add(out, text + copied, length - copied);
    return copied > 0;
}

/* ---- a whole text ---- */

/* Where a "[redacted]" begins at or behind `at`; else `length`. */
static size_t next_mark(const char *text, size_t length, size_t at)
{
    const char *mark =
        at < length ? memmem(text + at, length - at, REDACTED, sizeof(REDACTED) - 1) : NULL;
    return mark ? (size_t)(mark - text) : length;
}

static bool redact_piece(const struct secrets *secrets, const regex_t *pattern, const char *text,
                         size_t length, bool is_first, bool is_last, struct buffer *out)
{
    bool changed = false;
    if (!pattern)
        return redact_words(secrets, text, length, out);
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        int flags =
            (at == 0 && !is_first ? REG_NOTBOL : 0) | (end == length && !is_last ? REG_NOTEOL : 0);
        changed |= redact_line(pattern, text + at, end - at, flags, out);
        if (newline)
            buffer_add(out, "\n", 1);
        at = end + 1;
    }
    return changed;
}

/* Puts one pattern, or the words, to each piece between the marks. */
static bool redact_once(const struct secrets *secrets, const regex_t *pattern, const char *text,
                        size_t length, struct buffer *out)
{
    bool changed = false;
    for (size_t at = 0;;) {
        size_t mark = next_mark(text, length, at);
        changed |=
            redact_piece(secrets, pattern, text + at, mark - at, at == 0, mark == length, out);
        if (mark == length)
            return changed;
        buffer_add(out, REDACTED, sizeof(REDACTED) - 1);
        at = mark + sizeof(REDACTED) - 1;
    }
}

/* Until nothing is found: what one pattern cut may be what another was looking for.  Each round
 * makes what is left shorter. */
bool secrets_redact(const struct secrets *secrets, const char *text, size_t length,
                    struct buffer *out)
{
    bool changed = false, again;
    do {
        again = false;
        for (size_t i = 0; i <= secrets->pattern_count; i++) {
            struct buffer next = {0};
            if (redact_once(secrets, i > 0 ? &secrets->patterns[i - 1] : NULL,
                            changed ? out->data : text, changed ? out->length : length, &next)) {
                buffer_release(out);
                *out = next;
                changed = again = true;
            } else {
                out->failed |= next.failed;
                buffer_release(&next);
            }
            if (out->failed)
                return true;
        }
    } while (again);
    return changed;
}

/* ---- filling ---- */

static bool add_literal(struct secrets *secrets, const char *text, size_t length)
{
    struct literal *more = realloc(secrets->literals, (secrets->literal_count + 1) * sizeof(*more));
    if (!more)
        return false;
    secrets->literals = more;
    char *copy = malloc(length + 1);
    if (!copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    size_t place = secrets->literal_count++; /* the longest first: one may begin another */
    for (; place > 0 && more[place - 1].length < length; place--)
        more[place] = more[place - 1];
    more[place] = (struct literal){copy, length};
    secrets->starts[(unsigned char)copy[0]] = true;
    return true;
}

bool secrets_add_text(struct secrets *secrets, const char *text)
{
    size_t length = strlen(text), size = mortise_json_quote(NULL, 0, text, length) + 1;
    char *quoted = malloc(size);
    bool ok = quoted && add_literal(secrets, text, length);
    if (ok) {
        mortise_json_quote(quoted, size, text, length);
        if (size - 3 != length || memcmp(quoted + 1, text, length) != 0)
            ok = add_literal(secrets, quoted + 1, size - 3);
    }
    free(quoted);
    return ok;
}

void secrets_add_keys(struct secrets *secrets)
{
    secrets->keys = true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        secrets->starts[(unsigned char)keys[i].prefix[0]] = true;
    for (const char *first = "bBe-"; *first; first++)
        secrets->starts[(unsigned char)*first] = true;
}

const char *secrets_add_pattern(struct secrets *secrets, const char *pattern, char *why,
                                size_t size)
{
    for (const char *p = pattern; *p; p++)
        if (*p == '\\' && *++p >= '1' && *p <= '9')
            return "it refers back to a group, which can take for ever";
        else if (!*p)
            break;
    regex_t *more = realloc(secrets->patterns, (secrets->pattern_count + 1) * sizeof(*more));
    if (!more)
        return "out of memory";
    secrets->patterns = more;
    int error = regcomp(&more[secrets->pattern_count], pattern, REG_EXTENDED);
    if (error) {
        regerror(error, &more[secrets->pattern_count], why, size);
        return why;
    }
    secrets->pattern_count++;
    return regexec(&more[secrets->pattern_count - 1], "", 0, NULL, 0) == 0 ? "it matches nothing"
                                                                           : NULL;
}

void secrets_release(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->literal_count; i++)
        free(secrets->literals[i].text);
    for (size_t i = 0; i < secrets->pattern_count; i++)
        regfree(&secrets->patterns[i]);
    free(secrets->literals);
    free(secrets->patterns);
}
