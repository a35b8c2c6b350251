/*
 * reader_test - what is asked of the reader of every wire format.  A format's test says in tables
 * what its servers send and what that means; the tests here go through them.
 */
#ifndef TEST_READER_TEST_H
#define TEST_READER_TEST_H

#include "wire_test.h"

/* The data of some events, and what is to come of them. */
struct sample {
    const char *about;
    const char *events[10];
    const char *expected;
};

/* A body that is one document. */
struct document {
    const char *body;
    const char *expected;
};

/* A recorded response, and where its meta.json says what goes back: "replay" has it as `member`. */
struct replay {
    const char *fixture;
    const char *member;
};

#define TABLE(array)                                                                               \
    {                                                                                              \
        (array), sizeof(array) / sizeof((array)[0])                                                \
    }

struct samples {
    const struct sample *items;
    size_t count;
};

struct reader {
    const struct wire *wire;
    const char *provider; /* of its fixtures */
    size_t fixture_count;

    struct samples samples; /* `expected` as in answer_equals() */
    struct {
        const struct document *items;
        size_t count;
    } documents;
    struct samples notes;    /* `expected` is a part of what the user is told */
    struct samples failures; /* `expected` is a part of the error's message */

    struct {
        const char *events[6];
        struct usage total;
        unsigned pings;
    } usage;

    const char *delta; /* an event with the text "word " … */
    const char *last;  /* … and one that ends the response */

    /* What goes back to the letter (D15). */
    struct samples verbatims;
    struct {
        const struct replay *items;
        size_t count;
    } replays;
    /* Calls whose ids are bad in one way or another, the first of them 7 as a number.  Each goes
     * back with the id that the session uses, which id_of() finds in its item. */
    const char *odd_ids[5];
    const char *(*id_of)(const json_t *item);
    const char *no_id; /* something in them that is no call's id, or NULL */
    size_t ids_asked;  /* how many calls there are */
    size_t ids_given;  /* how many of them, from the first on, go back with an id at all */
};

/* The tests, each with the reader as its state. */
void reader_takes_fixtures(void **state);
void reader_takes_samples(void **state);
void reader_takes_documents(void **state);
void reader_tells_what_is_odd(void **state);
void reader_tells_what_failed(void **state);
void reader_adds_up_usage(void **state);
void reader_takes_many_deltas(void **state);
void reader_keeps_verbatim(void **state);
void reader_keeps_fixtures(void **state);
void reader_keeps_the_sessions_ids(void **state);
void reader_bears_a_lack_of_memory(void **state);

#define READER_TEST(test, reader)                                                                  \
    {                                                                                              \
#test, test, NULL, NULL, (void *)(reader)                                                  \
    }
/* Those that every format has: what goes back to the letter is not in all of them. */
#define READER_TESTS(reader)                                                                       \
    READER_TEST(reader_takes_fixtures, reader), READER_TEST(reader_takes_samples, reader),         \
        READER_TEST(reader_takes_documents, reader),                                               \
        READER_TEST(reader_tells_what_is_odd, reader),                                             \
        READER_TEST(reader_tells_what_failed, reader), READER_TEST(reader_adds_up_usage, reader),  \
        READER_TEST(reader_takes_many_deltas, reader),                                             \
        READER_TEST(reader_bears_a_lack_of_memory, reader)

/* A decoder that is fed event by event. */
struct reading {
    struct timeline timeline;
    struct stream stream;
    const struct wire *wire;
    struct wire_decoder *decoder; /* NULL: no memory */
};
void reading_begin(struct reading *reading, const struct wire *wire);
void reading_take(struct reading *reading, const char *event);
void reading_release(struct reading *reading);

/* The response must fail with `message` in its error. */
void reader_refuses(const struct wire *wire, const struct text *body, const char *message);

#endif
