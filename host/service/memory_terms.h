/*
 * memory_terms - what to look for when somebody asks for a text.
 *
 * A text of a language with spaces is cut into words.  Where words are not set apart (Chinese,
 * Japanese, Korean, Thai, …) it is cut where one kind of letters ends, and what is longer than
 * three characters into threes: 東京タワーの夜 asks for 東京, タワー, の and 夜.
 */
#ifndef SERVICE_MEMORY_TERMS_H
#define SERVICE_MEMORY_TERMS_H

#include <stdbool.h>
#include <stddef.h>

enum { MEMORY_TERMS_MAX = 64 };

struct memory_term {
    const char *text; /* in the query */
    size_t length;    /* bytes */
    size_t characters;
    double weight; /* 1 for a word; what is a part of one, or says little, counts less */
    bool is_word;  /* stands between spaces: a short one is no part of another */
};

struct memory_terms {
    struct memory_term items[MEMORY_TERMS_MAX]; /* what is more is left out */
    size_t count;
};

/* `query` is valid UTF-8 and outlives the terms.  Without a letter or digit in it, it is one
 * term as it stands; blanks alone are none. */
void memory_terms_find(struct memory_terms *terms, const char *query, size_t length);

/* Whether the text has the term: for those that are too short for the index of threes. */
bool memory_term_is_in(const struct memory_term *term, const char *text, size_t length);

#endif
