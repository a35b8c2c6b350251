/*
 * markdown_span - emphasis, code, links inside a piece of text, and whole tables: what md4c
 * finds in them, shown by wrap.h.
 */
#ifndef FRONTEND_MARKDOWN_SPAN_H
#define FRONTEND_MARKDOWN_SPAN_H

#include "frontend/wrap.h"

/* Stands for a line end in a piece, so that a piece is one line for md4c and nothing in it
 * begins a block.  Visible text has no such character. */
#define MARKDOWN_LINE_END "\001"

/* A piece of a paragraph in which every span that is opened is closed; `style` is that of the
 * text around it.  Visible text. */
void markdown_show_spans(struct wrap *wrap, const char *data, size_t length, unsigned style);

/* Lines that begin with |; ends with a line end. */
void markdown_show_table(struct wrap *wrap, const char *data, size_t length);

#endif
