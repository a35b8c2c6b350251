/*
 * writer_test - what is asked of the writer of every wire format.  The conversations are the same
 * for all; a format's test says how they look in its requests.
 */
#ifndef TEST_WRITER_TEST_H
#define TEST_WRITER_TEST_H

#include "wire_history.h"

/* A session in which a response is known to the letter: it has two calls, "v1" and "call_made"
 * (an id that the server did not give), and their results "ok" and "noon". */
struct writer_verbatim {
    const char *provider, *model; /* whose the response was … */
    size_t item_count;            /* … and how many items it had; three of them are left */
    const char *asked;            /* the model that gets it now */
    const char *expected;         /* the messages */
};

struct writer_setting {
    const char *model, *reasoning;
    int64_t max_tokens;
    double temperature;
    const char *expected; /* a part of the request */
};

struct writer {
    const struct wire *wire;
    const char *provider;
    /* A request to "m1" with "Be brief." from the system and no setting given is `front`, `open`,
     * the messages and `close`. */
    const char *front, *open, *close;

    /* With two_tools(), every setting and the conversation it is `front`, `tools`, `open`,
     * `conversation` and `tail`. */
    const char *reasoning; /* what its setting says, or NULL */
    const char *tools, *conversation, *tail;

    /* Three results that came in another order than their calls, with a message in between: "" of
     * "c1", then the errors "error: two" and "". */
    const char *results;
    /* Nothing; a blank message of the assistant; and more that servers refuse. */
    const char *odd[3];

    struct {
        const struct writer_setting *items;
        size_t count;
    } settings;

    const char *verbatim; /* a list, or NULL: the format sends nothing back to the letter */
    struct {
        const struct writer_verbatim *items;
        size_t count;
    } verbatims;

    /* What is in a request that was written although some allocation failed. */
    const char *marks[3];
};

/* The tests, each with the writer as its state. */
void writer_makes_requests(void **state);
void writer_leaves_out_what_is_unset(void **state);
void writer_keeps_the_prefix(void **state);
void writer_orders_results(void **state);
void writer_bears_odd_conversations(void **state);
void writer_sends_settings(void **state);
void writer_sends_verbatim(void **state);
void writer_sends_no_other_format(void **state);
void writer_refuses_what_is_unpaired(void **state);
void writer_bears_a_lack_of_memory(void **state);

#define WRITER_TEST(test, writer)                                                                  \
    {                                                                                              \
#test, test, NULL, NULL, (writer)                                                          \
    }
/* Those that every format has. */
#define WRITER_TESTS(writer)                                                                       \
    WRITER_TEST(writer_makes_requests, writer),                                                    \
        WRITER_TEST(writer_leaves_out_what_is_unset, writer),                                      \
        WRITER_TEST(writer_keeps_the_prefix, writer), WRITER_TEST(writer_orders_results, writer),  \
        WRITER_TEST(writer_bears_odd_conversations, writer),                                       \
        WRITER_TEST(writer_refuses_what_is_unpaired, writer),                                      \
        WRITER_TEST(writer_bears_a_lack_of_memory, writer)

/* The request, which is JSON; `tools` and `config` may be NULL.  The caller frees it. */
char *write_as(const struct profile *profile, const char *model, const struct history *history,
               struct toolset *tools, const struct request_config *config);
char *write_with(const struct writer *writer, const char *model, const struct history *history,
                 struct toolset *tools, const struct request_config *config);
/* What stands between writer->open and writer->close. */
void messages_are(const struct writer *writer, const struct profile *profile, const char *model,
                  const struct history *history, const char *expected);

#endif
