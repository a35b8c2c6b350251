/*
 * output - what a command writes: made valid and visible, shown while it comes, and kept as far
 * as a model is to see it: the beginning and the end.
 *
 * Bytes that are no UTF-8, and NUL, become \xNN.  One thread.
 */
#ifndef SHELL_OUTPUT_H
#define SHELL_OUTPUT_H

#include <mortise/tool.h>

enum {
    OUTPUT_LINE = 8000,   /* bytes that are shown at once */
    OUTPUT_WAIT_MS = 200, /* after which a line is shown whose end has not come */
};

/* One of the two streams. */
struct stream {
    const char *name;
    unsigned char part[4]; /* of a character whose rest has not come */
    size_t part_length;
    char line[OUTPUT_LINE]; /* not yet shown */
    size_t line_length;
    int64_t since_ms; /* when its first byte came */
};

struct output {
    mortise_call *call;
    int64_t now_ms; /* when the last bytes came */
    struct stream out, err;
    char *head, *tail; /* `half` bytes each; the tail goes round */
    size_t half;
    size_t total; /* bytes of text so far */
    size_t lines;
};

/* `bytes`: of head and tail together.  False: no memory.  It is that of the call. */
bool output_begin(struct output *output, mortise_call *call, size_t bytes);
void output_add(struct output *output, struct stream *stream, const char *data, size_t length,
                int64_t now_ms);
/* Shows what has waited for the end of its line long enough, such as a question or a row of dots;
 * to be called at least every OUTPUT_WAIT_MS. */
void output_show_waiting(struct output *output, int64_t now_ms);
/* No more comes: a part of a character is none. */
void output_end(struct output *output, struct stream *stream);
/* What is kept, as a text of the call, and a line end behind it unless there is none; NULL: no
 * memory. */
char *output_text(const struct output *output, size_t *length);

#endif
