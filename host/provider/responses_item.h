/*
 * responses_item - one output item of an OpenAI response, from its first event to the form in
 * which it goes back.
 *
 * The same text may come up to four times: in deltas, when a part is done, when the item is
 * done and when the response is (FAULTS 89 to 91).  What came first is shown at once; each later
 * form only adds what is still missing.  One thread: the one that runs the turn loop.
 */
#ifndef PROVIDER_RESPONSES_ITEM_H
#define PROVIDER_RESPONSES_ITEM_H

#include "base/json.h"
#include "provider/stream.h"

enum responses_type {
    RESPONSES_OTHER, /* the server's own tools, what is not known */
    RESPONSES_MESSAGE,
    RESPONSES_REASONING,
    RESPONSES_CALL
};

/* Where a piece of text stands in its item. */
struct responses_place {
    enum block_kind kind;
    const char *list; /* "content" or "summary" */
    json_int_t index; /* in the list */
};

struct responses_part {
    struct responses_place place;
    int block; /* of the stream */
    bool done;
};

struct responses_item {
    enum responses_type type;
    json_int_t index; /* "output_index"; -1: not told */
    struct text id;   /* never that of a call's result */
    json_t *whole;    /* as it was when it was done, or NULL */
    bool matched;     /* with an item of the whole response */

    /* text, reasoning, refusal */
    struct {
        struct responses_part *items;
        size_t count, capacity;
    } parts;
    const char *list; /* of reasoning: which of its two lists is shown; the other says the same */

    /* RESPONSES_CALL */
    struct text call_id;
    struct text name;
    struct text early; /* arguments that came before id and name */
    bool early_lone;   /* what json_parse() said of them */
    int block;         /* of the stream; -1: not opened yet */
    bool settled;      /* the whole arguments are known */
    bool disputed;     /* they are not those that were streamed */
};

enum responses_type responses_type_of(const json_t *object);

struct responses_item *responses_item_new(enum responses_type type); /* NULL: no memory */
void responses_item_free(struct responses_item *item);

/* These tell `stream` what they understood, also when there is no memory. */

/* Takes over ids and name as far as they are not known. */
void responses_item_identify(struct responses_item *item, struct stream *stream,
                             const json_t *object);
/* A piece of text, or (`whole`) all of it. */
void responses_item_text(struct responses_item *item, struct stream *stream,
                         const struct responses_place *place, const json_t *string, bool whole,
                         bool lone);
/* The same for the arguments of a call. */
void responses_item_arguments(struct responses_item *item, struct stream *stream,
                              const json_t *value, bool whole, bool lone);
/* The item as it is at its end. */
void responses_item_done(struct responses_item *item, struct stream *stream, const json_t *object,
                         bool lone);
/* Nothing more comes.  Ending twice is harmless. */
void responses_item_end(struct responses_item *item, struct stream *stream);
/* Whether its own events say that nothing is missing. */
bool responses_item_is_done(const struct responses_item *item);

/* Appends the item to an array that begins with '['; nothing for a message without text.
 * False: it cannot be sent as it came. */
bool responses_item_write(const struct responses_item *item, const struct stream *stream,
                          struct text *array);

#endif
