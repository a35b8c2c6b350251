/* listing - the tools of a server as it last told them; never changes. */
#ifndef LISTING_H
#define LISTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listing {
    atomic_int refs;
    char *tools; /* a JSON list in one line, each tool to the byte as it came */
    size_t count;
    bool is_modern;
    char version[32];   /* of the protocol */
    char *server;       /* what it says of itself, a JSON object, or NULL */
    int64_t expires_ms; /* since 1970; 0: it does not */
};

/* Takes what is allocated; NULL, and it is freed: no memory. */
struct listing *listing_new(char *tools, size_t count, char *server);
struct listing *listing_ref(struct listing *listing);
void listing_unref(struct listing *listing); /* NULL is fine */

#endif
