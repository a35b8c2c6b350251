/*
 * wrap - breaks styled text into lines of a terminal, between words and between the characters
 * of scripts that write none.
 *
 * A word is written when it is certain that it is whole; nothing that was written is ever
 * taken back.  Text goes in as valid UTF-8 without control characters but newline and tab.
 */
#ifndef FRONTEND_WRAP_H
#define FRONTEND_WRAP_H

#include "frontend/output.h"
#include "frontend/styled.h"

struct wrap {
    struct output *output;
    unsigned width;        /* of the terminal */
    unsigned column;       /* where the cursor is */
    bool open;             /* the line has something, if only its prefix */
    unsigned spaces;       /* between the last word and this one */
    struct styled word;    /* the one that is coming */
    struct styled first;   /* begins the next line */
    struct styled rest;    /* begins lines that come from breaking */
};

void wrap_init(struct wrap *wrap, struct output *output, unsigned width);
void wrap_release(struct wrap *wrap);

void wrap_text(struct wrap *wrap, const char *data, size_t length, unsigned style);
/* The same without breaking: for code. */
void wrap_verbatim(struct wrap *wrap, const char *data, size_t length, unsigned style);
/* Ends the line, also an empty one. */
void wrap_newline(struct wrap *wrap);
/* Forgets the word that is coming, and where the cursor is. */
void wrap_drop(struct wrap *wrap);
/* Ends the line unless it is empty. */
void wrap_end_line(struct wrap *wrap);

#endif
