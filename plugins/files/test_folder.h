/* A workspace for a test, and the files in it.  One at a time, one thread. */
#ifndef FILES_TEST_FOLDER_H
#define FILES_TEST_FOLDER_H

#include <mortise/test.h>

extern char workspace[64];

/* The plugin with this configuration, in an empty workspace and the session "s-1"; end() removes
 * both. */
mortise_test *begin(const char *config);
void end(mortise_test *test);
void remove_tree(const char *path);

/* The path of a name; good until the next call. */
const char *in_workspace(const char *name);
/* Makes a file, and the folders on the way. */
void put(const char *name, const char *text);
void put_bytes(const char *name, const char *data, size_t length);
/* What a file holds, up to a NUL; "(none)" without it. */
const char *get(const char *name);

#endif
