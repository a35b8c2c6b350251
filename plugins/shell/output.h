/*
 * output - what a command writes: made valid and visible, shown while it comes, and kept as far
 * as a model is to see it: the beginning and the end.
 *
 * Bytes that are no UTF-8, and NUL, become \xNN.  One thread.
 */
#ifndef SHELL_OUTPUT_H
#define SHELL_OUTPUT_H

#include <mortise/tool.h>

enum { OUTPUT_LINE = 8000 }; /* bytes that are shown at once */

/* One of the two streams. */
struct stream {
    const char *name;
    unsigned char part[4]; /* of a character whose rest has not come */
    size_t part_length;
    char line[OUTPUT_LINE]; /* not yet shown */
    size_t line_length;
};

struct output {
    mortise_call *call;
    struct stream out, err;
    char *head, *tail; /* `half` bytes each; the tail goes round */
    size_t half;
    size_t total; /* bytes of text so far */
    size_t lines;
};

/* `bytes`: of head and tail together.  False: no memory.  It is that of the call. */
bool output_begin(struct output *output, mortise_call *call, size_t bytes);
void output_add(struct output *output, struct stream *stream, const char *data, size_t length);
/* Shows also a line that is not at its end. */
void output_show(struct output *output, struct stream *stream);
/* No more comes: a part of a character is none. */
void output_end(struct output *output, struct stream *stream);
/* What is kept, as a text of the call, and a line end behind it unless there is none; NULL: no
 * memory. */
char *output_text(const struct output *output, size_t *length);

#endif
