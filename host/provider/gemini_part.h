/*
 * gemini_part - the parts of a Gemini response: what is shown of each, and the form in which they
 * go back.
 *
 * A server that signs its parts wants them as they came: the same order, each signature on its own
 * part, also on one without text (FAULTS 111, 112).  Pieces of text that have nothing beside
 * them are one part.  One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_GEMINI_PART_H
#define PROVIDER_GEMINI_PART_H

#include "base/json.h"
#include "base/json_walk.h"
#include "provider/stream.h"

struct gemini_part;

struct gemini_parts {
    struct stream *stream;
    struct {
        struct gemini_part **items;
        size_t count, capacity;
    } parts;
    int block;            /* of text or reasoning that is open; -1 = none */
    enum block_kind kind; /* of it */
    bool has_call;
};

void gemini_parts_init(struct gemini_parts *parts, struct stream *stream);
void gemini_parts_release(struct gemini_parts *parts);

/* One part as it came; `raw` is its text, or empty.  `lone` as json_parse() said.  What goes
 * wrong is told to the stream. */
void gemini_parts_take(struct gemini_parts *parts, json_t *part, struct json_piece raw, bool lone);
/* No more will come: closes the block that is open. */
void gemini_parts_end(struct gemini_parts *parts);
/* Appends them as a JSON array; "[]" when there are none. */
void gemini_parts_write(const struct gemini_parts *parts, struct text *out);

#endif
