/*
 * check - runs a command to its end, or to a time limit, and keeps what it wrote.
 *
 * The command is an array of words: no shell reads them.  It runs in a process group of its
 * own, with /dev/null as its input, and none of the group is left when check_run() returns.
 */
#ifndef LINT_CHECK_H
#define LINT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECK_HEAD = 6000, CHECK_TAIL = 6000 }; /* bytes of output that are kept */

struct check_result {
    int error;      /* errno: it could not be run, or its end is not known; 0: neither */
    bool timed_out; /* it was killed because of the time limit */
    int status;     /* as waitpid() gives it */
    char head[CHECK_HEAD];
    char tail[CHECK_TAIL]; /* a ring: what was written last ends at `written` */
    uint64_t written;      /* bytes of output, kept or not */
};

/* `words` ends with NULL; `folder` is where it runs, or NULL.  Blocks.  Any thread. */
void check_run(char *const *words, const char *folder, int64_t timeout_ms,
               struct check_result *result);

/* The output as one text, cut in its middle with a line that says so; at most
 * CHECK_HEAD + CHECK_TAIL + 100 bytes, no character cut in two.  For free(); NULL: no memory. */
char *check_output(const struct check_result *result);

#endif
