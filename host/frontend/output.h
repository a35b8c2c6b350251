/*
 * output - a stream to the user: buffered, complete or failed, and safe for a terminal.
 *
 * Text for a terminal passes utf8_append_visible(); a pipe or file gets the bytes as they
 * are.  One thread.
 */
#ifndef FRONTEND_OUTPUT_H
#define FRONTEND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct output {
    int fd;
    bool terminal;
    bool color;        /* escape sequences of the host's own may be written */
    bool erases;       /* a terminal that can erase a line */
    bool transient;    /* the cursor is in a line that output_transient() wrote */
    bool failed;       /* a write failed: the reader is gone or the disk is full */
    int failure;       /* its errno */
    bool at_line_start;
    struct text buffer;
};

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
/* "auto", "always", "never"; anything else, and NULL, is auto. */
enum color_choice color_parse(const char *name);

void output_init(struct output *output, int fd, enum color_choice choice);
void output_release(struct output *output);

/* Text from a model, a tool, the network. */
void output_foreign(struct output *output, const char *data, size_t length);
/* Text of the host's own, escape sequences included. */
void output_own(struct output *output, const char *text);
void output_printf(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "\033[2m" and "\033[0m" where color is on. */
void output_dim(struct output *output);
void output_plain(struct output *output);
/* A newline, unless the last character was one. */
void output_end_line(struct output *output);
/* What was to be written could not even be made: `failed`, with this errno. */
void output_fail(struct output *output, int failure);
/* A line that stays only until something else is written, or until the next one: visible text
 * that fits into one row.  Nothing happens where lines cannot be erased. */
void output_transient(struct output *output, const char *text, size_t length);
/* Erases that line now, so that another stream may write to the terminal. */
void output_erase(struct output *output);
/* The columns of the terminal; 80 where that is not known. */
unsigned output_width(const struct output *output);
/* Writes what is buffered; afterwards `failed` is certain. */
void output_flush(struct output *output);

#endif
