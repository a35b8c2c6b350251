/*
 * markdown_text - the text of a line: shown as far as every span that was opened in it is
 * closed.  Private to markdown.c.
 */
#ifndef FRONTEND_MARKDOWN_TEXT_H
#define FRONTEND_MARKDOWN_TEXT_H

#include "frontend/markdown.h"

/* Nothing is open. */
void markdown_text_reset(struct markdown *markdown);
/* One character that is no line end. */
void markdown_text_character(struct markdown *markdown, const char *character, size_t length);
void markdown_text_add(struct markdown *markdown, const char *data, size_t length);
void markdown_text_end_line(struct markdown *markdown);
/* The span that is open goes on in the next line. */
void markdown_text_continue(struct markdown *markdown);
void markdown_text_end_paragraph(struct markdown *markdown);

#endif
