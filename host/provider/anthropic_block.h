/*
 * anthropic_block - one content block of an Anthropic response, from its start to the form in
 * which it goes back.
 *
 * What is shown lives in the stream's block and is not copied here; beside it stands what the
 * server wants back: signatures, redacted thinking, citations, blocks that are not known.
 * One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_ANTHROPIC_BLOCK_H
#define PROVIDER_ANTHROPIC_BLOCK_H

#include "base/json.h"
#include "provider/stream.h"

enum anthropic_type {
    ANTHROPIC_OTHER, /* redacted thinking, the server's own tools, what is not known */
    ANTHROPIC_TEXT,
    ANTHROPIC_THINKING,
    ANTHROPIC_TOOL_USE
};

struct anthropic_block {
    json_int_t index;
    enum anthropic_type type;
    json_t *start;  /* as it began; members that changed are set in it */
    int block;      /* of the stream; -1 = nothing was shown */
    bool has_input; /* a delta of the input came */
    bool stopped;
    bool strange;          /* a delta came that is not known: no longer to the letter */
    struct text input;     /* of ANTHROPIC_OTHER */
    struct json_half half; /* of it */
};

struct anthropic_block *anthropic_block_new(json_int_t index); /* NULL: no memory */
void anthropic_block_free(struct anthropic_block *block);

/* These tell `stream` what they understood, also when there is no memory. */
void anthropic_block_start(struct anthropic_block *block, struct stream *stream,
                           const json_t *start, bool lone);
void anthropic_block_delta(struct anthropic_block *block, struct stream *stream,
                           const json_t *delta, struct text *scratch, bool lone);
/* Stopping twice is harmless. */
void anthropic_block_stop(struct anthropic_block *block, struct stream *stream);

/* Appends the block to an array that begins with '['; nothing for an empty text.  False: it
 * cannot be written as it came. */
bool anthropic_block_write(const struct anthropic_block *block, const struct stream *stream,
                           struct text *array);

#endif
