/*
 * stdio - the server on a pair of descriptors: one message in each line, both ways.
 *
 * THREADS.  One thread reads, and what it reads it serves itself: a call of a tool runs where its
 * message was read, so a quick one needs no other thread.  Only when a call takes its time does
 * another thread, which looks after it, go on reading in its place; then the first, when it is
 * through, stands by.  There are never more threads than calls that take their time, and two.
 *
 * Answers are written by whoever has one, a line at a time.  Who reads them slowly is waited for,
 * until all is to end.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "mcp/server.h"

struct mcp_stdio;

struct mcp_stdio_setting {
    struct mcp_server *server; /* outlives it */
    /* Borrowed, and read and written until mcp_stdio_free().  An `out` that does not block lets
     * `hurry_fd` count: once that is readable, who does not read is not waited for any more. */
    int in, out, hurry_fd;
    size_t line_max; /* bytes in a line that is read */
};

/* Begins to read.  NULL with *error. */
struct mcp_stdio *mcp_stdio_new(const struct mcp_stdio_setting *setting, struct error *error);
/* Readable once the input has ended, or the output cannot be written any more; to poll. */
int mcp_stdio_end_fd(const struct mcp_stdio *stdio);
/* Reads no more, and waits so long for what is being served: its answers are written.  False: some
 * is left, and more is waited for with another call. */
bool mcp_stdio_finish(struct mcp_stdio *stdio, int grace_ms);
/* After mcp_server_stop().  Waits up to grace_ms for its threads.  False: some did not end and are
 * left behind, with the server and all that it uses. */
bool mcp_stdio_free(struct mcp_stdio *stdio, int grace_ms);

#endif
