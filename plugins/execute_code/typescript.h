/*
 * typescript - makes JavaScript of TypeScript by esbuild, which takes the types away and checks
 * none of them.
 */
#ifndef TYPESCRIPT_H
#define TYPESCRIPT_H

#include "run.h"

/* NULL: it is there; else what to do about it. */
const char *typescript_problem(void);

/* The script, and its source map in base64, in memory of the call.  False: it is no TypeScript,
 * which is the outcome then, or it cannot be told, after mortise_fail(). */
bool typescript_compile(struct run *run, const char **script, const char **map);

#endif
