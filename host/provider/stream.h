/*
 * stream - where a provider's decoder puts what it understood of one attempt.
 *
 * It numbers blocks, joins split surrogate pairs, gives ids to calls that have none or a
 * taken one (D14), merges usage, remembers terminal evidence and errors, closes what was
 * left open, and emits the events.  One stream per request, stream_begin() per attempt.
 */
#ifndef PROVIDER_STREAM_H
#define PROVIDER_STREAM_H

#include "base/id.h"
#include "base/json.h"
#include "base/text.h"
#include "timeline/timeline.h"

#define STREAM_MAX_BLOCKS 1024

struct stream_block {
    enum block_kind kind;
    bool open;
    struct json_half half;
    struct text text;         /* everything that was shown of it */
    char *id;                  /* TOOL_USE */
};

struct stream {
    struct timeline *timeline;
    /* Whether the session has already used this call id. */
    bool (*id_taken)(void *context, const char *id);
    void *id_context;
    /* Makes the id of the next call, which has none of its own, or one that is taken; NULL: any. */
    void (*make_id)(void *context, char id[ID_SIZE]);
    void *make_id_context;

    /* Asked after each event was shown; false ends the attempt.  NULL: nobody is asked. */
    bool (*admits)(void *context, const struct event *event);
    void *admits_context;

    struct {
        struct stream_block **items;
        size_t count, capacity;
    } blocks;
    struct usage usage;
    enum stop_reason stop;
    struct error error;  /* kind ERROR_NONE while all is well */
    uint64_t event_count; /* of this attempt, SETTLED not counted */
    bool refused; /* by `admits`: the error is then of kind ERROR_HOOK */
    bool context_full; /* what cut it at STOP_LENGTH was the context, not a limit of the answer */
    bool ended;           /* set by the decoder at the terminal event, and by stream_fail():
                           * whoever reads stops there, what comes behind it is ignored */
};

void stream_init(struct stream *stream, struct timeline *timeline);
void stream_release(struct stream *stream);
void stream_begin(struct stream *stream);

/* Opens a block and returns its index, or -1 after stream_fail() (too many, no memory).
 * `id` may be NULL, empty or taken: stream_call_id() then tells the one that was made. */
int stream_open(struct stream *stream, enum block_kind kind, const char *id, const char *name);
const char *stream_call_id(const struct stream *stream, int block);
/* `lone` is what json_parse() said of the event that the delta came from. */
void stream_delta(struct stream *stream, int block, const char *data, size_t length, bool lone);
/* Emits BLOCK_STOP with the whole text; closing twice is harmless. */
void stream_close(struct stream *stream, int block);
/* Whether a block was opened in this attempt: then it cannot be made again unnoticed. */
bool stream_has_shown(const struct stream *stream);

/* The attempt failed, and another one comes: what was shown of it does not count. */
void stream_tell_retry(const struct stream *stream, unsigned attempt, int64_t wait_ms);

/* Takes over the numbers that are known (>= 0; 0 does not replace a larger one). */
void stream_usage(struct stream *stream, const struct usage *usage);
void stream_ping(struct stream *stream);
void stream_status(struct stream *stream, const char *text);
void stream_verbatim(struct stream *stream, const char *json, size_t length);
/* Terminal evidence.  The last one wins until stream_finish().  STOP_ERROR says that the
 * server itself broke the response off. */
void stream_stop(struct stream *stream, enum stop_reason reason);
/* The first error stays; no block is opened and no delta shown after it. */
void stream_fail(struct stream *stream, const struct error *error);
/* The bytes end here.  Closes blocks; without stop or error the error becomes
 * stream_truncated; a stop with an error becomes STOP_ERROR.  Emits USAGE when a number is
 * known and STOP when there was evidence.  True when the attempt succeeded. */
bool stream_finish(struct stream *stream);
/* The socket has nothing more right now. */
void stream_settled(struct stream *stream);

#endif
