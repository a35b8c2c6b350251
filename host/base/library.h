/*
 * library - a library of the system as a table of functions, loaded on first need.
 *
 * What most commands do not need costs them nothing.  Once loaded it stays for ever: its threads
 * and what it keeps for each thread may outlive whoever used it.  Called once for each table, by
 * pthread_once() or by the only thread that uses it.
 */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct library_function {
    const char *name;
    size_t offset; /* of the pointer in the table */
};

struct library {
    const char *file;    /* "libsqlite3.so.0" */
    const char *purpose; /* it is needed … "to keep sessions"; NULL: errors are not asked for */
    const char *package; /* of Debian, that has it */
    const struct library_function *functions;
    size_t count;
};

/* Fills the table.  False with *error, kind config, that names the package to install; the table
 * is not to be used then. */
bool library_load(const struct library *library, void *table, struct error *error);

#endif
