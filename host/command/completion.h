/*
 * completion - what can stand where the cursor is: for the shells' scripts.
 *
 * The scripts are thin.  They hand the words so far to `mortise completion words`, so what is
 * offered comes from the tables of options and commands of the very binary that will run, and is
 * the same in every shell.
 */
#ifndef COMMAND_COMPLETION_H
#define COMMAND_COMPLETION_H

#include "command/app.h"

struct completion_script {
    const char *shell;
    const char *text;
};
extern const struct completion_script completion_scripts[]; /* the last has no shell */

/* Writes a line for each candidate for the last of the words, which may be empty: the whole word, a
 * tab and what it is.  ":files" and ":folders" stand for those that the shell finds. */
void completion_words(struct app *app, int count, char **words);

#endif
