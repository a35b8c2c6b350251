/* suggest - "did you mean …?" */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The name that is nearest to the word, if not much more than a third of its letters are
 * wrong; else NULL. */
const char *suggest(const char *word, size_t length, const char *const *names, size_t count);

#endif
