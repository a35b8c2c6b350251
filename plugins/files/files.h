/*
 * files - what the tools of this plugin share: where they may go, and what was read.
 *
 * A call takes a path to its `struct place` (place.h), works below the descriptor of that place's
 * root (beneath.h), and keeps or asks for what its session has read (seen.h).
 */
#ifndef FILES_FILES_H
#define FILES_FILES_H

#include <mortise/tool.h>
#include <pthread.h>

#include "seen.h"

enum {
    FILES_ROOTS = 16,                    /* further roots */
    FILES_MOST_BYTES = 16 * 1024 * 1024, /* of a file that is edited, or read as a whole */
    FILES_MOST_TEXT = 48 * 1024,         /* of a result: the host keeps 64 KiB */
    FILES_MOST_LINE = 2000,              /* of a line of a file that does not fit */
};

struct files {
    const mortise_host *host;
    char *roots[FILES_ROOTS + 1]; /* absolute, without links */
    bool may_write;
    struct seen seen;
    pthread_mutex_t writing; /* from looking at a file to its replacement */
};

/* What the tools do; the arguments are as their declarations in files.c say. */
struct read_request {
    const char *path;
    int64_t offset, limit;
    bool line_numbers;
};
mortise_status files_read(struct files *files, mortise_call *call, const struct read_request *what);

mortise_status files_write(struct files *files, mortise_call *call, const char *path,
                           const char *content);

struct edit {
    const char *old_text, *new_text;
    bool replace_all;
};
mortise_status files_edit(struct files *files, mortise_call *call, const char *path,
                          const struct edit *edits, size_t count);

struct list_request {
    const char *path;
    int64_t depth, limit;
    bool hidden, ignored;
};
mortise_status files_list(struct files *files, mortise_call *call, const struct list_request *what);

struct find_request {
    const char *pattern, *path;
    int64_t limit;
    bool by_time, hidden, ignored;
};
mortise_status files_find(struct files *files, mortise_call *call, const struct find_request *what);

enum grep_output { GREP_CONTENT, GREP_FILES, GREP_COUNT };
struct grep_request {
    const char *pattern, *path, *filter; /* filter may be NULL */
    enum grep_output output;
    int64_t before, after, limit;
    bool ignore_case, literal, multiline, hidden, ignored;
};
mortise_status files_grep(struct files *files, mortise_call *call, const struct grep_request *what);

#endif
