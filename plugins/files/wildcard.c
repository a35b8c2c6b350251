#include "wildcard.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { PATTERNS_MOST = 256, PATTERN_BYTES = 4096 };

/* ---- one name ------------------------------------------------------------------------------- */

/* The code point at `*at`, which moves behind it; a byte that is no UTF-8 stands for itself. */
static uint32_t take(const char **at, const char *end)
{
    size_t n = text_character(*at, (size_t)(end - *at));
    const unsigned char *c = (const unsigned char *)*at;
    *at += n ? n : 1;
    switch (n) {
    case 2:
        return (uint32_t)(c[0] & 0x1f) << 6 | (c[1] & 0x3f);
    case 3:
        return (uint32_t)(c[0] & 0x0f) << 12 | (uint32_t)(c[1] & 0x3f) << 6 | (c[2] & 0x3f);
    case 4:
        return (uint32_t)(c[0] & 0x07) << 18 | (uint32_t)(c[1] & 0x3f) << 12 |
               (uint32_t)(c[2] & 0x3f) << 6 | (c[3] & 0x3f);
    default:
        return n ? c[0] : 0x110000u + c[0];
    }
}

/* Skips "[:NAME:]" at `*at`; whether the character is of that class.  -1: it is none. */
static int in_class(const char **at, const char *end, uint32_t c)
{
    static const struct {
        const char *name;
        int (*has)(int);
    } classes[] = {{"[:alpha:]", isalpha}, {"[:digit:]", isdigit},  {"[:alnum:]", isalnum},
                   {"[:upper:]", isupper}, {"[:lower:]", islower},  {"[:space:]", isspace},
                   {"[:punct:]", ispunct}, {"[:xdigit:]", isxdigit}};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        size_t length = strlen(classes[i].name);
        if ((size_t)(end - *at) < length || memcmp(*at, classes[i].name, length) != 0)
            continue;
        *at += length;
        return c < 0x80 && classes[i].has((int)c);
    }
    return -1;
}

/* The set behind a '[' at `*at`, which moves behind its ']'; -1: it is none. */
static int in_set(const char **at, const char *end, uint32_t c)
{
    const char *p = *at;
    bool is_not = p < end && (*p == '!' || *p == '^'), is_in = false;
    p += is_not;
    for (bool is_first = true; p < end && (*p != ']' || is_first); is_first = false) {
        int is_of_class = in_class(&p, end, c);
        is_in = is_in || is_of_class > 0;
        if (is_of_class >= 0)
            continue;
        p += *p == '\\' && p + 1 < end;
        uint32_t low = take(&p, end), high = low;
        if (end - p > 1 && p[0] == '-' && p[1] != ']') {
            p++;
            p += *p == '\\' && p + 1 < end;
            high = take(&p, end);
        }
        is_in = is_in || (c >= low && c <= high);
    }
    if (p >= end)
        return -1;
    *at = p + 1;
    return is_in != is_not;
}

/* One character of the pattern (no '*') against one of the name; both move on. */
static bool match_one(const char **p, const char *p_end, const char **s, const char *s_end)
{
    uint32_t c = take(s, s_end);
    if (**p == '?') {
        ++*p;
        return true;
    }
    if (**p == '[') {
        const char *behind = *p + 1;
        int is_in = in_set(&behind, p_end, c);
        if (is_in >= 0) {
            *p = behind;
            return is_in;
        }
    }
    *p += **p == '\\' && *p + 1 < p_end;
    return take(p, p_end) == c;
}

static bool match_name(const char *p, const char *p_end, const char *s, const char *s_end)
{
    const char *star = NULL, *mark = NULL; /* behind the last '*', and where it ends in the name */
    while (s < s_end) {
        if (p < p_end && *p == '*') {
            star = ++p;
            mark = s;
            continue;
        }
        if (p < p_end && match_one(&p, p_end, &s, s_end))
            continue;
        if (!star)
            return false;
        p = star;
        take(&mark, s_end);
        s = mark;
    }
    while (p < p_end && *p == '*')
        p++;
    return p == p_end;
}

/* ---- a path --------------------------------------------------------------------------------- */

static const char *name_end(const char *at)
{
    return at + strcspn(at, "/");
}

static bool is_any_folders(const char *pattern)
{
    return pattern[0] == '*' && pattern[1] == '*' && (pattern[2] == '/' || !pattern[2]);
}

/* The same as match_name(), of names in a path in the place of characters in a name. */
bool wildcard_match(const char *pattern, const char *path)
{
    const char *star = NULL, *mark = NULL;
    while (*path) {
        if (is_any_folders(pattern)) {
            if (!pattern[2])
                return true;
            pattern = star = pattern + 3;
            mark = path;
            continue;
        }
        const char *p_end = name_end(pattern), *s_end = name_end(path);
        bool is_end = !*p_end == !*s_end;
        bool may_go_on = *p_end && *s_end;
        if (*pattern && match_name(pattern, p_end, path, s_end)) {
            if (may_go_on) {
                pattern = p_end + 1;
                path = s_end + 1;
                continue;
            }
            if (is_end)
                return true;
        }
        if (!star)
            return false;
        mark = name_end(mark);
        if (!*mark)
            return false;
        path = ++mark;
        pattern = star;
    }
    return false;
}

/* ---- braces --------------------------------------------------------------------------------- */

/* The '}' of the '{' at `open`, or NULL. */
static const char *closing(const char *open)
{
    size_t depth = 0;
    for (const char *p = open; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '{')
            depth++;
        else if (*p == '}' && --depth == 0)
            return p;
    }
    return NULL;
}

static const char *first_brace(const char *pattern)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '{' && closing(p))
            return p;
    }
    return NULL;
}

static const char *keep(struct wildcards *wildcards, const char *pattern)
{
    if (wildcards->count == PATTERNS_MOST)
        return "its braces stand for too many patterns (at most 256)";
    const char *in_front = strchr(pattern, '/') ? "" : "**/";
    size_t length = strlen(in_front) + strlen(pattern) + 1;
    char *copy = malloc(length);
    if (!copy)
        return "out of memory";
    strcpy(copy, in_front);
    strcat(copy, pattern[0] == '/' ? pattern + 1 : pattern);
    wildcards->patterns[wildcards->count++] = copy;
    return NULL;
}

/* Writes the first pair of braces out, once for each of its parts; the depth is that of the calls.
 */
static const char *expand(struct wildcards *wildcards, const char *pattern, int depth)
{
    const char *open = first_brace(pattern), *wrong = NULL;
    if (!open)
        return keep(wildcards, pattern);
    if (depth > 16)
        return "it has too many braces";
    const char *close = closing(open), *part = open + 1;
    size_t nested = 0;
    for (const char *p = part; !wrong && p <= close; p++) {
        if (*p == '\\' && p < close) {
            p++;
        } else if (*p == '{') {
            nested++;
        } else if (*p == '}' && nested) {
            nested--;
        } else if ((*p == ',' && !nested) || p == close) {
            struct text one = TEXT_INIT;
            text_put(&one, pattern, (size_t)(open - pattern));
            text_put(&one, part, (size_t)(p - part));
            text_puts(&one, close + 1);
            wrong = one.failed ? "out of memory" : expand(wildcards, one.data, depth + 1);
            text_release(&one);
            part = p + 1;
        }
    }
    return wrong;
}

const char *wildcards_init(struct wildcards *wildcards, const char *pattern)
{
    *wildcards = (struct wildcards){calloc(PATTERNS_MOST + 1, sizeof(char *)), 0};
    if (!wildcards->patterns)
        return "out of memory";
    pattern += strncmp(pattern, "./", 2) == 0 ? 2 : 0;
    size_t length = strlen(pattern);
    const char *wrong = length == 0              ? "it is empty"
                        : length > PATTERN_BYTES ? "it is longer than 4096 bytes"
                                                 : expand(wildcards, pattern, 0);
    if (wrong)
        wildcards_release(wildcards);
    return wrong;
}

void wildcards_release(struct wildcards *wildcards)
{
    for (size_t i = 0; wildcards->patterns && wildcards->patterns[i]; i++)
        free(wildcards->patterns[i]);
    free(wildcards->patterns);
    wildcards->patterns = NULL;
    wildcards->count = 0;
}

bool wildcards_match(const struct wildcards *wildcards, const char *path)
{
    for (size_t i = 0; i < wildcards->count; i++)
        if (wildcard_match(wildcards->patterns[i], path))
            return true;
    return false;
}
