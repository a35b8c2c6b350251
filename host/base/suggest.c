#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define NAME_MAX_BYTES 64

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein, one row at a time; the case of letters does not count. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned replaced = diagonal + !same_letter(a[i - 1], b[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[b_length];
}

void suggestion_begin(struct suggestion *suggestion, const char *wrong)
{
    *suggestion = (struct suggestion){.wrong = wrong};
}

void suggestion_consider(struct suggestion *suggestion, const char *name)
{
    size_t wrong_length = strlen(suggestion->wrong);
    size_t length = strlen(name);
    if (wrong_length > NAME_MAX_BYTES || length > NAME_MAX_BYTES)
        return;
    unsigned distance = edit_distance(suggestion->wrong, wrong_length, name, length);
    if (distance > 1 + length / 4 || distance >= length)
        return;
    if (!suggestion->best || distance < suggestion->distance) {
        suggestion->best = name;
        suggestion->distance = distance;
    }
}
