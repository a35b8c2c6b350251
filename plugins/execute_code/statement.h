/*
 * statement - where the last statement of a script may begin.
 *
 * For scripts with `await` outside of functions, which are only valid inside of one: there the
 * value of the last expression must be returned, and so it must be found.  This is no parser: it
 * gives places where a statement may begin, outside of brackets, strings and comments, and the
 * engine is asked which of them are good.
 */
#ifndef STATEMENT_H
#define STATEMENT_H

#include <stddef.h>

enum { STATEMENT_MOST = 64 };

struct statements {
    size_t starts[STATEMENT_MOST]; /* the last ones, in their order */
    size_t count;
    size_t end; /* behind the last of the code, without `;`, spaces and comments */
};

void statements_find(struct statements *statements, const char *code);

#endif
