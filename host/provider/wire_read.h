/*
 * wire_read - what the decoders of all wire formats share: from the data of an event to JSON.
 *
 * One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_WIRE_READ_H
#define PROVIDER_WIRE_READ_H

#include "base/json.h"
#include "provider/stream.h"

/* What was seen of a response beside its JSON. */
struct wire_input {
    bool done;       /* the sentinel [DONE] */
    bool broken;     /* the last event was cut JSON: at the end of the bytes, no harm */
    struct text odd; /* the beginning of what was no JSON */
};

void wire_input_release(struct wire_input *input);

/* The JSON of one event; the caller owns it.  NULL: there is nothing to understand (the
 * sentinel, text that is no JSON), or it failed and the stream knows.  `lone` as json_parse(). */
json_t *wire_read_event(struct wire_input *input, struct stream *stream, const char *data,
                        size_t length, bool *lone);
/* The JSON of a whole body, also with a sentinel behind it.  NULL: the stream failed. */
json_t *wire_read_whole(struct stream *stream, const char *data, size_t length, bool *lone);
/* Without terminal evidence: fails with what was odd, which says more than "truncated". */
void wire_read_end(struct wire_input *input, struct stream *stream);

/* Fails the stream; the error is the server's unless `kind` says otherwise. */
void wire_fail(struct stream *stream, enum error_kind kind, bool retryable, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void wire_fail_memory(struct stream *stream);
/* Fails the stream with the error that the event holds; false when it holds none. */
bool wire_fail_event(struct stream *stream, const json_t *event);
/* Tells the user something odd that the server said: "ABOUT: 'WORD'". */
void wire_note(struct stream *stream, const char *about, const char *word);

/* A word for why the response was cut: whether it means that the context is full (FAULTS 44). */
void wire_note_cut(struct stream *stream, const char *word);

/* The text of a value that should be a string: itself, or the JSON of another kind, which
 * lies in `scratch` then.  Empty for null and for nothing.  False: no memory, the stream failed. */
bool wire_read_text(struct stream *stream, const json_t *value, struct text *scratch,
                    struct slice *out);
/* Takes over what the next request sends of this response to the letter (D15), a list; it is let go
 * when it is not `whole`, or empty. */
void wire_keep_verbatim(struct stream *stream, struct text *array, bool whole);
/* A copy without the surrogates that json_parse() kept.  NULL: no memory. */
json_t *wire_clean(const json_t *value);

#endif
