#include "base/suggest.h"

#include <string.h>

enum { MAX_WORD = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, one row at a time. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[MAX_WORD + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j];
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            row[j] = smaller(change, smaller(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b_length];
}

const char *suggest(const char *word, size_t length, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = length / 3 + 1;
    if (length == 0 || length > MAX_WORD)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t name_length = strlen(names[i]);
        if (name_length > MAX_WORD)
            continue;
        size_t d = distance(word, length, names[i], name_length);
        if (d < least || (d == least && !best)) {
            best = names[i];
            least = d;
        }
    }
    return best;
}
