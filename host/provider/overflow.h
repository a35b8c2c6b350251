/*
 * overflow - the numbers in what a server says of a request that did not fit into its model's
 * context: they tell how much smaller it has to be.
 */
#ifndef PROVIDER_OVERFLOW_H
#define PROVIDER_OVERFLOW_H

#include <stdint.h>

/* Tokens; -1 = it did not say. */
struct overflow {
    int64_t limit;  /* what the model takes */
    int64_t input;  /* what was sent */
    int64_t output; /* what was asked for on top, where that counts too */
};

/* What is no message of that kind says nothing. */
void overflow_read(struct overflow *overflow, const char *message);

#endif
