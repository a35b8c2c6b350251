/*
 * new_name - what a new plugin may be called, and what it is called in C.
 *
 * Folder, files, plugin and tool have the name itself.  C gets another one where it has to: "-"
 * becomes "_", and what is a keyword, a function of the C library or a word that the SDK's macros
 * use gets "do_" in front.
 */
#ifndef COMMAND_NEW_NAME_H
#define COMMAND_NEW_NAME_H

#include <stdbool.h>

#include "base/error.h"

#define NEW_NAME_MAX 60 /* a tool's name has 64 at most, "do_" included */

struct new_name {
    const char *kind; /* "tool" or "hook" */
    const char *name;
    char identifier[NEW_NAME_MAX + 4];
};

/* `kind` and `name` are borrowed.  False, kind usage: no plugin can have that name. */
bool new_name_make(struct new_name *out, const char *kind, const char *name, struct error *error);

#endif
