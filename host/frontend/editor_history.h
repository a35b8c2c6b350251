/*
 * editor_history - what was typed before, in a file that only the user may read: one entry a
 * line, with "\n" and "\\" for newlines and backslashes.
 */
#ifndef FRONTEND_EDITOR_HISTORY_H
#define FRONTEND_EDITOR_HISTORY_H

#include <stddef.h>

/* Calls `take` for each entry, oldest first; at most the last thousand. */
void editor_history_load(const char *path, void (*take)(void *data, const char *entry),
                         void *data);
/* What fails is not told: nothing depends on it. */
void editor_history_add(const char *path, const char *entry, size_t length);

#endif
