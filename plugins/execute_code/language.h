/* language - the languages that code can be written in. */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include "run.h"

/* Loads what each call would else load itself, in the process that they are forked from; starts no
 * thread.  What is missing is an error of the calls that need it. */
void language_prepare(void);

/* Runs the code, after which the process is good for nothing else.  False after mortise_fail(), or
 * with an outcome that is an error. */
bool language_run(struct run *run, const char *language);

#endif
