#include "statement.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 256 };

struct scan {
    const char *code, *at;
    struct statements *found;
    int depth;
    int templates[DEEPEST]; /* depths of the `${` that are open */
    int template_count;
    bool may_begin; /* a statement, with what comes next */
    char last;      /* that was no space and no comment; 0: none */
    size_t word;    /* where the word that ends there begins */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Whether a `/` here begins a regular expression and divides nothing. */
static bool is_regex(const struct scan *scan)
{
    static const char *const words[] = {"return", "typeof", "case", "in", "of", "delete", "void",
                                        "instanceof", "new", "do", "else", "await", "yield"};
    if (!scan->last || strchr("(,=:[!&|?{};+-*%<>~^", scan->last))
        return true;
    if (!is_word(scan->last))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        const char *begin = scan->code + scan->word;
        if (strncmp(begin, words[i], length) == 0 && !is_word(begin[length]))
            return true;
    }
    return false;
}

static void add(struct scan *scan)
{
    struct statements *found = scan->found;
    if (found->count == STATEMENT_MOST)
        memmove(found->starts, found->starts + 1, --found->count * sizeof(found->starts[0]));
    found->starts[found->count++] = (size_t)(scan->at - scan->code);
}

/* Behind the end of a string or a regular expression, or at the end of the line or code. */
static const char *skip_quoted(const char *at)
{
    char mark = *at++;
    bool in_class = false;
    for (; *at && *at != '\n'; at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (mark == '/' && (*at == '[' || *at == ']'))
            in_class = *at == '[';
        else if (*at == mark && !in_class)
            return at + 1;
    }
    return at;
}

/* In a template's text, up to behind its end or its next `${`. */
static const char *skip_template(struct scan *scan, const char *at)
{
    for (; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
        } else if (*at == '`') {
            return at + 1;
        } else if (*at == '$' && at[1] == '{' && scan->template_count < DEEPEST) {
            scan->templates[scan->template_count++] = scan->depth++;
            return at + 2;
        }
    }
    return at;
}

static const char *skip_comment(const char *at)
{
    const char *end = strstr(at + 2, at[1] == '/' ? "\n" : "*/");
    return !end ? at + strlen(at) : at[1] == '/' ? end : end + 2;
}

/* One token, or a part of one; returns what is behind it. */
static const char *step(struct scan *scan)
{
    const char *at = scan->at;
    char c = *at;
    if (c == '"' || c == '\'' || (c == '/' && is_regex(scan)))
        return skip_quoted(at);
    if (c == '`')
        return skip_template(scan, at + 1);
    if (strchr("([{", c))
        scan->depth++;
    if (strchr(")]}", c))
        scan->depth--;
    if (c == '}' && scan->template_count &&
        scan->templates[scan->template_count - 1] == scan->depth) {
        scan->template_count--;
        return skip_template(scan, at + 1);
    }
    return at + 1;
}

void statements_find(struct statements *statements, const char *code)
{
    struct scan scan = {.code = code, .at = code, .found = statements, .may_begin = true};
    statements->count = statements->end = 0;
    while (*scan.at) {
        char c = *scan.at;
        if (isspace((unsigned char)c)) {
            scan.may_begin = scan.may_begin || c == '\n';
            scan.at++;
            continue;
        }
        if (c == '/' && (scan.at[1] == '/' || scan.at[1] == '*')) {
            scan.at = skip_comment(scan.at);
            continue;
        }
        if (scan.may_begin && scan.depth == 0 && c != ';')
            add(&scan);
        bool goes_on = is_word(c) && scan.at > code && is_word(scan.at[-1]);
        if (is_word(c) && !goes_on)
            scan.word = (size_t)(scan.at - code);
        scan.at = step(&scan);
        scan.last = scan.at[-1];
        scan.may_begin = c == ';' || c == '}';
        if (c != ';')
            statements->end = (size_t)(scan.at - code);
    }
}
