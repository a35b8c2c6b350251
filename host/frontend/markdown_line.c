#include "frontend/markdown_line.h"

#include <string.h>

enum { LONGEST_LEAD = 256 };

struct scan {
    const char *data;
    size_t length;
    bool ended;
};

static bool at_end(const struct scan *scan, size_t at)
{
    return at >= scan->length;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_spaces(const struct scan *scan, size_t at, unsigned *columns)
{
    for (; !at_end(scan, at) && is_space(scan->data[at]); at++)
        *columns += scan->data[at] == '\t' ? 4 : 1;
    return at;
}

static size_t run_length(const struct scan *scan, size_t at)
{
    size_t end = at;
    while (!at_end(scan, end) && scan->data[end] == scan->data[at])
        end++;
    return end - at;
}

size_t line_skip_quotes(const char *data, size_t length, unsigned quotes, unsigned *found)
{
    size_t at = 0;
    for (*found = 0; *found < quotes; ++*found) {
        size_t next = at;
        while (next < length && next - at < 3 && data[next] == ' ')
            next++;
        if (next >= length || data[next] != '>')
            break;
        at = next + 1;
        if (at < length && data[at] == ' ')
            at++;
    }
    return at;
}

bool line_closes_fence(const char *data, size_t length, char fence, unsigned fence_length)
{
    struct scan scan = {data, length, true};
    unsigned columns = 0;
    size_t at = skip_spaces(&scan, 0, &columns);
    if (at_end(&scan, at) || data[at] != fence)
        return false;
    size_t run = run_length(&scan, at);
    return run >= fence_length && at_end(&scan, skip_spaces(&scan, at + run, &columns));
}

/* "#" to "######" and a space. */
static enum line_kind heading(struct line *line, const struct scan *scan, size_t at)
{
    unsigned columns = 0;
    size_t run = run_length(scan, at);
    if (at_end(scan, at + run))
        return scan->ended && run <= 6 ? (line->content = at + run, LINE_HEADING)
               : run > 6               ? LINE_TEXT
                                       : LINE_UNDECIDED;
    if (run > 6 || !is_space(scan->data[at + run]))
        return LINE_TEXT;
    line->content = skip_spaces(scan, at + run, &columns);
    return at_end(scan, line->content) && !scan->ended ? LINE_UNDECIDED : LINE_HEADING;
}

static enum line_kind fence(struct line *line, const struct scan *scan, size_t at)
{
    size_t run = run_length(scan, at);
    if (run < 3)
        return at_end(scan, at + run) && !scan->ended ? LINE_UNDECIDED : LINE_TEXT;
    if (scan->data[at] == '`' &&
        memchr(scan->data + at + run, '`', scan->length - at - run)) /* a span of code */
        return LINE_TEXT;
    line->fence = scan->data[at];
    line->fence_length = run > 1000 ? 1000 : (unsigned)run;
    line->content = at + run;
    return LINE_FENCE;
}

/* Behind the marker: spaces, perhaps a box. */
static enum line_kind item(struct line *line, const struct scan *scan, size_t at)
{
    unsigned columns = 0;
    size_t start = skip_spaces(scan, at, &columns);
    line->content = start;
    if (at_end(scan, start))
        return scan->ended ? LINE_ITEM : LINE_UNDECIDED;
    if (scan->data[start] != '[')
        return LINE_ITEM;
    const char *box = scan->data + start;
    size_t left = scan->length - start;
    if (left < 4 && !scan->ended)
        return LINE_UNDECIDED;
    if (left >= 4 && strchr(" xX", box[1]) && box[1] && box[2] == ']' && box[3] == ' ') {
        line->task = box[1] == ' ' ? ' ' : 'x';
        line->content = start + 4;
    }
    return LINE_ITEM;
}

static enum line_kind ordered(struct line *line, const struct scan *scan, size_t at,
                              const struct line_context *context)
{
    size_t end = at;
    while (!at_end(scan, end) && end - at < 10 && scan->data[end] >= '0' && scan->data[end] <= '9')
        end++;
    if (end - at > 9)
        return LINE_TEXT;
    if (at_end(scan, end))
        return scan->ended ? LINE_TEXT : LINE_UNDECIDED;
    if (scan->data[end] != '.' && scan->data[end] != ')')
        return LINE_TEXT;
    end++;
    if (at_end(scan, end) && !scan->ended)
        return LINE_UNDECIDED;
    if (!at_end(scan, end) && !is_space(scan->data[end]))
        return LINE_TEXT;
    /* "It was in\n1984. Then …" is no list. */
    bool first = end - at == 2 && scan->data[at] == '1';
    if (context->in_paragraph && !context->in_list && !first)
        return LINE_TEXT;
    memcpy(line->marker, scan->data + at, end - at);
    line->marker[end - at] = '\0';
    return item(line, scan, end);
}

/* "-", "*", "+", "_": an item or a rule. */
static enum line_kind dashes(struct line *line, const struct scan *scan, size_t at)
{
    char c = scan->data[at];
    size_t count = 0, i = at;
    for (; !at_end(scan, i) && (scan->data[i] == c || is_space(scan->data[i])); i++)
        count += scan->data[i] == c;
    bool only_these = at_end(scan, i);
    if (only_these && !scan->ended)
        return LINE_UNDECIDED;
    if (only_these && count >= 3 && c != '+')
        return LINE_RULE;
    bool marks = c != '_' && (at_end(scan, at + 1) || is_space(scan->data[at + 1]));
    return marks ? item(line, scan, at + 1) : LINE_TEXT;
}

static enum line_kind kind_of(struct line *line, const struct scan *scan,
                              const struct line_context *context)
{
    size_t at = 0;
    for (;;) {
        line->indent = 0;
        at = skip_spaces(scan, at, &line->indent);
        line->start = line->content = at;
        if (at_end(scan, at))
            return scan->ended ? LINE_BLANK : LINE_UNDECIDED;
        if (scan->data[at] != '>' || line->indent > 3 || line->quotes >= LINE_MAX_QUOTES)
            break;
        line->quotes++;
        at++;
        if (at_end(scan, at))
            return scan->ended ? LINE_BLANK : LINE_UNDECIDED;
        if (scan->data[at] == ' ')
            at++;
    }
    if (line->indent > 3 && !context->in_list)
        return context->in_paragraph ? LINE_TEXT : LINE_CODE;
    switch (scan->data[at]) {
    case '#':
        return heading(line, scan, at);
    case '`':
    case '~':
        return fence(line, scan, at);
    case '|':
        return LINE_TABLE;
    case '-':
    case '*':
    case '+':
    case '_':
        return dashes(line, scan, at);
    default:
        return scan->data[at] >= '0' && scan->data[at] <= '9' ? ordered(line, scan, at, context)
                                                              : LINE_TEXT;
    }
}

void line_classify(struct line *line, const char *data, size_t length, bool ended,
                   const struct line_context *context)
{
    struct scan scan = {data, length, ended};
    *line = (struct line){0};
    line->kind = kind_of(line, &scan, context);
    if (line->kind == LINE_UNDECIDED && length >= LONGEST_LEAD) {
        line->kind = LINE_TEXT;
        line->content = line->start;
    }
    if (line->indent > LINE_MAX_INDENT)
        line->indent = LINE_MAX_INDENT;
}
