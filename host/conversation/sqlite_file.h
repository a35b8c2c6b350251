/*
 * sqlite_file - a database of this program's own: made when it is first needed, for the user
 * alone, and of a version that is known.
 *
 * Processes that find no file, or an empty one, make one database together.
 */
#ifndef CONVERSATION_SQLITE_FILE_H
#define CONVERSATION_SQLITE_FILE_H

#include "conversation/sqlite_db.h"

/* `create`: make file (0600) and folders (0700) where they are not there; without, a file that is
 * not there is false and an error of kind NONE.  The first byte of the file `lock_path` is locked
 * while the tables are made. */
bool sqlite_file_open(struct sqlite_db *db, const struct sqlite_kind *kind, const char *path,
                      const char *lock_path, bool create, struct error *error);

/* "PATH-lock", malloc'ed; NULL: no memory. */
char *sqlite_file_lock_path(const char *path);

#endif
