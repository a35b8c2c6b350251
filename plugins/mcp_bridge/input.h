/*
 * input - a call whose server wants more before it answers ("input_required"): what is said to
 * that.
 *
 * Nobody is asked on the way: a question to the user is answered as one that was put aside, a
 * question for folders with none.  What only a model could answer cannot be, and the call fails.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

enum { INPUT_ROUNDS = 4 }; /* of one call; then it is given up */

/* Appends the members that go beside "name" and "arguments" in the next request:
 * ,"inputResponses":{…},"requestState":"…".  False: it cannot be answered, for the reason in
 * `problem`. */
bool input_answer(const char *result, struct buffer *params, char *problem, size_t size);

#endif
