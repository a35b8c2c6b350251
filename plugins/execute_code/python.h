/*
 * python - runs Python by libpython, in a process that was forked from one where the interpreter
 * and the common modules are loaded already.
 *
 * The interpreter is isolated: no environment, no packages that are installed, no files of the
 * user.  What is done in Python itself is in python/runner.py.
 */
#ifndef PYTHON_H
#define PYTHON_H

#include "run.h"

/* Starts the interpreter: before the fork, for it takes 40 ms.  NULL: it is there; else what to do
 * about it. */
const char *python_prepare(void);

/* Runs the code and keeps its outcome.  False after mortise_fail(). */
bool python_run(struct run *run);

#endif
