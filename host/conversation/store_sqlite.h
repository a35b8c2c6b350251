/*
 * store_sqlite - the store of one machine: a SQLite database, made when it is first needed.
 *
 * Every append is on disk before it returns.  Processes that write at once wait for each
 * other; locks lie beside it (PATH-lock, store_lock.h).
 */
#ifndef CONVERSATION_STORE_SQLITE_H
#define CONVERSATION_STORE_SQLITE_H

#include "conversation/store.h"

/* The store in the file at `path`.  `create`: make file (0600) and folders (0700) where they
 * are not there; without, a file that is not there is NULL and an error of kind NONE. */
struct store *store_sqlite_open(const char *path, bool create, struct error *error);

/* Whether the store at `path`, which is there, is whole and can be read by this program.  Reads all
 * of it, and neither makes nor changes a file. */
bool store_sqlite_check(const char *path, struct error *error);

#endif
