/*
 * files - what code wrote into its folder becomes artifacts of the session, by which the user and
 * other tools get it.
 */
#ifndef FILES_H
#define FILES_H

#include <mortise/plugin.h>

#include <stdio.h>

/* Saves the files of the current folder and writes a JSON list of them: {"name", "bytes",
 * "version"}, or {"name", "problem"} for what was not kept.  Images go with the result as well. */
void files_save(mortise_call *call, FILE *out);

#endif
