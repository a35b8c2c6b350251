/*
 * bench_answers - what a model's server streams, in each of the four formats.
 *
 * An answer is written event by event into one buffer, as it stands in the body: with the
 * "event:" lines and the repeated texts that the real servers send.  The caller takes away what
 * is in the buffer whenever it likes.
 */
#ifndef BENCH_ANSWERS_H
#define BENCH_ANSWERS_H

#include "bench_buffer.h"

struct answer_format; /* how one of the formats says it */

struct answer {
    const struct answer_format *format;
    struct buffer text; /* all that was said, as it stands in JSON */
    struct buffer *out;
};

/* By the word of run.py ("chat", "responses", "anthropic", "gemini"), or by the path of a request
 * (NUL-terminated, its end may be other text); NULL: none of the four. */
const struct answer_format *answer_format_named(const char *name);
const struct answer_format *answer_format_of_path(const char *path);

/* `out` gets the events; the text is freed by answer_end(). */
void answer_begin(struct answer *answer, const struct answer_format *format, struct buffer *out);
/* The text as it stands between the quotes. */
void answer_delta(struct answer *answer, const char *text);
/* The same with `padding` bytes beside the text, in a member that nobody reads. */
void answer_padded(struct answer *answer, const char *text, size_t padding);
void answer_end(struct answer *answer);

/* A piece of an ordinary text: `number` counts them. */
const char *answer_word(size_t number);

/* A response with one call, in the form of Chat: its `part` of ANSWER_CALL_PARTS. */
enum { ANSWER_CALL_PARTS = 6 };
void answer_call_part(struct buffer *out, int part, long number, const char *tool);

#endif
