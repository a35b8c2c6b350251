#include "listing.h"

#include <stdlib.h>

struct listing *listing_new(char *tools, size_t count, char *server)
{
    struct listing *listing = calloc(1, sizeof(*listing));
    if (!listing || !tools) {
        free(listing);
        free(tools);
        free(server);
        return NULL;
    }
    atomic_init(&listing->refs, 1);
    listing->tools = tools;
    listing->count = count;
    listing->server = server;
    return listing;
}

struct listing *listing_ref(struct listing *listing)
{
    atomic_fetch_add(&listing->refs, 1);
    return listing;
}

void listing_unref(struct listing *listing)
{
    if (!listing || atomic_fetch_sub(&listing->refs, 1) > 1)
        return;
    free(listing->tools);
    free(listing->server);
    free(listing);
}
