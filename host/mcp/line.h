/*
 * line - lines out of a stream of bytes, with a limit.
 *
 * A line that is longer is told once, when it is seen to be, and its rest passed over: no more
 * than the limit is ever kept.  One thread at a time.
 */
#ifndef MCP_LINE_H
#define MCP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

struct line_reader {
    size_t max; /* of a line, without its line feed */
    char *data; /* `start` to `end` was read and not taken */
    size_t start, end, capacity;
    size_t looked; /* so far there is no line feed */
    bool passes;   /* the rest of a line that is too long */
};

#define LINE_READER(limit)                                                                         \
    {                                                                                              \
        .max = (limit)                                                                             \
    }
void line_reader_release(struct line_reader *reader);

/* Reads once.  0: the end; -1 with errno, ENOMEM too. */
ssize_t line_read(struct line_reader *reader, int fd);

enum line_kind { LINE_NONE, LINE_WHOLE, LINE_TOO_LONG };
/* The next line that is there, without its end; blank ones are passed over.  It stays until the
 * next call of any of these functions. */
enum line_kind line_next(struct line_reader *reader, struct slice *line);
/* After the end of the stream: what has no line feed is a line as well. */
enum line_kind line_last(struct line_reader *reader, struct slice *line);

#endif
