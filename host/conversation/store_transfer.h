/*
 * store_transfer - a session as lines of JSON, and back.
 *
 * The first line is a header, {"mortise_session":1,"id":…,"title":…, …}.  Each further one is
 * an item, as item_line.h has it.
 */
#ifndef CONVERSATION_STORE_TRANSFER_H
#define CONVERSATION_STORE_TRANSFER_H

#include <stdio.h>

#include "conversation/store.h"

/* `write` gets each line with its newline.  *skipped: items that could not be read. */
bool session_export(struct store *store, const char *id,
                    void (*write)(void *data, const char *line, size_t length), void *data,
                    size_t *skipped, struct error *error);

/* All of it or nothing.  `name` is the file's, for "NAME: line 3: …" (kind bad_request becomes
 * usage).  *id is malloc'ed: the session's. */
bool session_import(struct store *store, FILE *file, const char *name, char **id,
                    struct error *error);

#endif
