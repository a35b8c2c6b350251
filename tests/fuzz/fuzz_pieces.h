/*
 * fuzz_pieces - bytes to a reader in pieces, each in memory of its own length, so that a byte too
 * far is seen.
 */
#ifndef FUZZ_PIECES_H
#define FUZZ_PIECES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef bool fuzz_feed(void *reader, const char *piece, size_t length);

/* Until `feed` fails.  The cuts are bytes of the input, each modulo `longest` + 1; without any it
 * is one piece. */
static inline bool fuzz_in_pieces(const char *data, size_t size, const uint8_t *cuts,
                                  size_t cut_count, unsigned longest, fuzz_feed *feed, void *reader)
{
    bool ok = true;
    size_t at = 0;
    for (size_t i = 0; ok && at < size; i++) {
        size_t step = cut_count ? cuts[i % cut_count] % (longest + 1) : size;
        step = step < size - at ? step : size - at;
        if (!step && cut_count)
            step = i % 3 ? 1 : 0;
        char *piece = malloc(step ? step : 1);
        if (!piece)
            abort();
        memcpy(piece, data + at, step);
        ok = feed(reader, piece, step);
        free(piece);
        at += step;
    }
    return ok;
}

static inline void fuzz_check_same(bool whole_ok, const struct text *whole, bool pieces_ok,
                                   const struct text *pieces)
{
    if (whole_ok != pieces_ok || whole->length != pieces->length ||
        (whole->length && memcmp(whole->data, pieces->data, whole->length) != 0))
        abort();
}

/* Reads `data`, in pieces if there are cuts, and writes what it gave. */
typedef bool fuzz_read(const char *data, size_t size, const uint8_t *cuts, size_t cut_count,
                       struct text *out);

/* Whole and cut it must give the same. */
static inline void fuzz_both_ways(fuzz_read *read, const char *data, size_t size,
                                  const uint8_t *cuts, size_t cut_count)
{
    struct text whole = TEXT_INIT, pieces = TEXT_INIT;
    bool whole_ok = read(data, size, NULL, 0, &whole);
    bool pieces_ok = read(data, size, cuts, cut_count, &pieces);
    fuzz_check_same(whole_ok, &whole, pieces_ok, &pieces);
    text_release(&whole);
    text_release(&pieces);
}

#endif
