/*
 * javascript - runs a script by JavaScriptCore, in a context that has nothing but the language and
 * a console.
 *
 * The last value is the script's; of a promise what it brings, once nothing more can happen.  A
 * script may `await` outside of functions.
 */
#ifndef JAVASCRIPT_H
#define JAVASCRIPT_H

#include "run.h"

/* Loads the library: before the fork, so that it need not be done after it.  NULL: it is there;
 * else what to do about it. */
const char *javascript_prepare(void);

/* Runs `script` and keeps its outcome; `map` is its source map in base64, or NULL.  False after
 * mortise_fail(). */
bool javascript_run(struct run *run, const char *script, const char *map);

#endif
