/*
 * wire_test - a response goes in, as bytes or from a recorded fixture; what was understood
 * comes out and is compared.
 */
#ifndef TEST_WIRE_TEST_H
#define TEST_WIRE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "provider/provider.h"
#include "provider/sse.h"
#include "timeline/collect.h"

struct answer {
    struct timeline timeline;
    struct collect collect;
    struct stream stream;
    struct text status; /* status events, one a line */
    unsigned pings;
    unsigned deltas;
    bool succeeded;
};

/* Reads server-sent events, fed in pieces of `step` bytes (0 = whole).  `clean`: the bytes end
 * by themselves and not because a connection broke. */
void answer_read(struct answer *answer, const struct wire *wire, const char *body, size_t length,
                 size_t step, bool clean);
/* Reads the body of a response with this status, whatever it is, as it comes from the network. */
void answer_read_body(struct answer *answer, const struct wire *wire, int status, const char *body,
                      size_t length, size_t step);
/* Reads one JSON document. */
void answer_read_whole(struct answer *answer, const struct wire *wire, const char *body,
                       size_t length);
/* The events of `lines`, each of which is the data of one event; a NULL ends them. */
void answer_read_events(struct answer *answer, const struct wire *wire, const char *const *lines);
void answer_release(struct answer *answer);

/* Compares with "text=… reasoning=… refusal=… calls=name(arguments) … stop=…": what is not
 * there is left out. */
void answer_equals(const struct answer *answer, const char *expected);

/* Runs all fixtures of a provider with every step in turn and compares with their `expect`.
 * Returns how many there were. */
size_t fixtures_check(const char *provider, const struct wire *wire);

/* The bytes of a fixture's file; the caller frees them. */
char *fixture_read(const char *name, const char *file, size_t *length);

#endif
