/*
 * problem - what is wrong with a call's arguments, collected and told to the model at once.
 *
 *     Invalid argument: 'edits[2].old_text' must be a string, got 5
 *
 * One line for each problem, five at most.  Nothing is allocated as long as there is none.
 * What is wrong with a tool's result is told in the same words, without the first two.
 */
#ifndef SCHEMA_PROBLEM_H
#define SCHEMA_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

/* Where a value stands, from the inside out: each lives on the stack of its descent.
 * NULL: the whole. */
struct place {
    const struct place *outer;
    const char *name; /* of a member … */
    size_t index;     /* … or, when there is no name, of an element */
};

/* PROBLEM_EXAMPLE: arguments that an author wrote. */
enum problem_subject { PROBLEM_ARGUMENTS, PROBLEM_RESULT, PROBLEM_EXAMPLE };

struct problems {
    enum problem_subject subject;
    struct text text;
    unsigned count;
    bool no_memory;
};

/* Whether it is of no use to go on. */
bool problems_full(const struct problems *problems);

/* One line: the place in quotes, and what must be. */
void problem_add(struct problems *problems, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Goes on in the line that was just added, unless that one was left out. */
void problem_more(struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* ", got VALUE", shortened. */
void problem_got(struct problems *problems, const json_t *value);
/* "\"a\", \"b\"", with "…" for what is too much. */
void problem_choices(struct problems *problems, const char *const *choices);

/* Moves what was found to *error, and frees it.  True when there was nothing. */
bool problems_settle(struct problems *problems, struct error *error);

#endif
