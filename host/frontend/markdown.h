/*
 * markdown - the answer of a model on a terminal, rendered while it comes.
 *
 * Text is shown word by word, as soon as nothing that may follow can change how it looks, and
 * nothing that was shown is ever taken back: no flicker, and the output is the same however
 * the text is cut into deltas.  What waits: an emphasis, a code span or a link until it is
 * closed or its paragraph ends; a line of code until its line end; a table until it is whole.
 *
 * The lines are told apart by markdown_line.h, what is inside them by md4c, and wrap.h breaks
 * them.  A line break in the source is one on the terminal, since models mean them.  Control
 * characters never get through.  One thread.
 */
#ifndef FRONTEND_MARKDOWN_H
#define FRONTEND_MARKDOWN_H

#include "frontend/markdown_line.h"
#include "frontend/wrap.h"

enum { MARKDOWN_MAX_OPEN = 16 };

/* A delimiter that waits for its other half. */
struct markdown_open {
    char what;
    unsigned length;
};

struct markdown {
    struct output *output;
    struct wrap wrap;
    bool ask_width;    /* of the terminal, each time */
    bool started;      /* text came since the last end */

    struct text held;  /* the bytes of a character that is cut */
    struct text line;  /* of the current line, as long as it is not clear what it is */
    bool whole_line;   /* it is clear, and waits for its end */
    bool in_text;      /* it is clear, and what follows is text */

    struct text piece; /* text in which a span is open */
    unsigned style;    /* of the text around it */
    struct markdown_open open[MARKDOWN_MAX_OPEN];
    unsigned open_count;
    bool stuck;        /* more are open than can be followed: waits for the end */
    char run;          /* the delimiter whose length is being counted */
    unsigned run_length;
    char before_run;
    char previous;     /* byte */
    bool escaped;
    bool piece_spans_line;

    struct text table; /* its lines so far */
    unsigned table_quotes;

    bool in_fence;
    char fence;
    unsigned fence_length;
    unsigned fence_indent;

    struct line_context context;
    unsigned quotes;   /* of the line before */
    unsigned hang;     /* where text of the open item stands */
    bool blank;        /* a blank line is owed */
    bool any;          /* something was shown */
};

/* Whether answers on this output are rendered: a terminal with colours. */
bool markdown_suits(const struct output *output);

/* `width`: columns; 0 asks the terminal, again for each piece. */
void markdown_init(struct markdown *markdown, struct output *output, unsigned width);
void markdown_release(struct markdown *markdown);

void markdown_feed(struct markdown *markdown, const char *data, size_t length);
/* The text ends here: shows what waits.  Ready for another text then. */
void markdown_end(struct markdown *markdown);
/* Forgets what waits. */
void markdown_drop(struct markdown *markdown);

#endif
