/*
 * markdown_line - what a line of Markdown is, told from as little of its beginning as possible.
 *
 * This is the block structure of an answer.  Each line begins one thing and no later line
 * changes what it is, so that text can be shown while it comes: a heading is written with #,
 * not underlined, and the rows of a table begin with |.
 */
#ifndef FRONTEND_MARKDOWN_LINE_H
#define FRONTEND_MARKDOWN_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum line_kind {
    LINE_UNDECIDED, /* more of it is needed */
    LINE_BLANK,
    LINE_TEXT,
    LINE_HEADING,
    LINE_ITEM,  /* of a list */
    LINE_RULE,
    LINE_FENCE, /* the whole line is needed */
    LINE_TABLE, /* the same */
    LINE_CODE   /* the same; indented by four */
};

enum { LINE_MAX_QUOTES = 8, LINE_MAX_INDENT = 40 };

struct line {
    enum line_kind kind;
    unsigned quotes;  /* ">" before it */
    unsigned indent;  /* spaces behind those */
    size_t start;     /* of what follows the indent */
    size_t content;   /* of the text, behind the marker */
    char marker[12];  /* of an ordered item: "12." */
    char task;        /* of an item: ' ' or 'x' for a box, else 0 */
    char fence;       /* '`' or '~' */
    unsigned fence_length;
};

/* What the lines before it tell. */
struct line_context {
    bool in_paragraph; /* the line before is text */
    bool in_list;
};

/* `ended`: the line has no more than these bytes. */
void line_classify(struct line *line, const char *data, size_t length, bool ended,
                   const struct line_context *context);

/* The same fence again, or a longer one, and nothing else, closes. */
bool line_closes_fence(const char *data, size_t length, char fence, unsigned fence_length);
/* Skips at most `quotes` markers; how many there were is in *found. */
size_t line_skip_quotes(const char *data, size_t length, unsigned quotes, unsigned *found);

#endif
