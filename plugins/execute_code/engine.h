/*
 * engine - JavaScriptCore with one context, which has nothing but the language and a console.
 *
 * It is made in the process that calls are forked from, for that takes longer than most calls, and
 * used in each of these by one thread.  Two things make it fit for that: it runs no thread of its
 * own (jsc.c), and what all calls would have in common is made anew in each: random numbers, and
 * descriptors.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "jsc.h"
#include "run.h"

/* Text that was put into a script: so many characters at a line and a column, from 1. */
struct engine_move {
    size_t line, column, by;
};

/* What runs now. */
struct engine_script {
    struct run *run;
    const char *text; /* what was written, or what a compiler has made of it … */
    const char *map;  /* … with its source map in base64; else NULL */
    struct engine_move moves[2];
    size_t move_count;
};

/* Makes it, if it is not there; starts no thread that stays.  NULL: it is there; else what to do
 * about it. */
const char *engine_make(void);

/* In the process of a call, before all below: `script` is what runs there. */
void engine_begin(struct engine_script *script);

js_value engine_number(double number);

/* `name` is what positions in it are told by. */
js_value engine_evaluate(const char *text, const char *name, js_value *exception);
bool engine_is_valid(const char *text);

/* What runtime.js answers to `want`, with `value` or NULL; NULL: it has thrown.  When it returns,
 * all that was to happen after it has happened: what promises have set free is worked off. */
js_value engine_ask(const char *want, js_value value);

/* A value as a text, from malloc(), with a NUL behind it; NULL: there is no memory, or it has
 * none. */
char *engine_text(js_value value, size_t *length);

#endif
