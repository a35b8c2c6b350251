/* store_fixture - a store in a folder of its own, and items of every kind to put into it. */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include "conversation/store_sqlite.h"

struct fixture {
    char folder[64];
    char path[128];
    struct store *store;
};

/* For cmocka: *state is the fixture, with an open store. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
struct store *fixture_open(const struct fixture *fixture); /* one more; it has to open */

/* Creates a session without items. */
void fixture_session(struct store *store, const char *id);

/* Items of every kind, with everything that an item can have: two responses, attachments,
 * unreadable arguments, and texts with quotes, U+2028, newlines and a replaced NUL. */
#define SAMPLE_COUNT 10
void sample_make(struct item *items[SAMPLE_COUNT]);
void sample_free(struct item *items[SAMPLE_COUNT]);
/* The same in every member, and in which items share a response. */
void assert_same_items(struct item *const *items, size_t count, struct item *const *wanted,
                       size_t wanted_count);

#endif
