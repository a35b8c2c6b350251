/*
 * expand - variables in a configuration: ${NAME}, ${NAME:-fallback}, and as other clients write
 * it ${env:NAME} and ${env://NAME:-fallback}.  Nothing else is special, and no shell sees it.
 */
#ifndef EXPAND_H
#define EXPAND_H

#include <stdbool.h>
#include <stddef.h>

/* The text with what the environment has in place of its variables, malloc'ed.  NULL, with the
 * reason in `problem`: one has neither a value nor a fallback, or is of a kind that is not known;
 * or there is no memory. */
char *expand(const char *text, char *problem, size_t size);

#endif
