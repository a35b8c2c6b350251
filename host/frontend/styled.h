/*
 * styled - a piece of text with its colours, and how many columns of a terminal it takes.
 *
 * Text goes in as valid UTF-8 without control characters.  Widths are those of Unicode's East
 * Asian Width, counted by grapheme: an emoji that is joined of five code points takes two.
 */
#ifndef FRONTEND_STYLED_H
#define FRONTEND_STYLED_H

#include <stdint.h>

#include "base/text.h"
#include "frontend/text_api.h"

enum style {
    STYLE_BOLD = 1,
    STYLE_ITALIC = 2,
    STYLE_UNDERLINE = 4,
    STYLE_STRIKE = 8,
    STYLE_CODE = 16,
    STYLE_DIM = 32
};

struct styled {
    struct text bytes; /* with escape sequences; ends in plain style after styled_end() */
    unsigned width;
    unsigned style;         /* the one in force at the end of `bytes` */
    int32_t last;           /* the last code point; 0: none */
    int32_t break_state;    /* of utf8proc */
    unsigned cluster_width; /* of the grapheme that `last` belongs to */
};

/* One character of `length` bytes. */
void styled_add(struct styled *styled, const char *bytes, size_t length, unsigned style);
/* Back to plain style. */
void styled_end(struct styled *styled);
void styled_reset(struct styled *styled); /* empty; keeps its memory */
void styled_release(struct styled *styled);

/* The first character of valid text that is not empty: its code point, its length in *length. */
int32_t styled_decode(const char *data, size_t left, size_t *length);
/* 0, 1 or 2; without the libraries every character takes one column. */
unsigned styled_char_width(int32_t code);

#endif
