#include "frontend/lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 4096 };

void lines_release(struct lines *lines)
{
    text_release(&lines->bytes);
}

static enum editor_end give(struct lines *lines, size_t length, size_t end, struct text *line)
{
    text_reset(line);
    text_append(line, lines->bytes.data + lines->taken, length);
    lines->taken += length + end;
    return line->failed ? EDITOR_FAILED : EDITOR_LINE;
}

/* Moves what was not given yet to the front. */
static void make_room(struct lines *lines)
{
    struct text *bytes = &lines->bytes;
    if (!lines->taken)
        return;
    bytes->length -= lines->taken;
    memmove(bytes->data, bytes->data + lines->taken, bytes->length);
    lines->taken = 0;
}

/* The bytes that came; 0 at the end, -1 when it cannot be read. */
static ssize_t read_more(struct lines *lines)
{
    char data[READ_BYTES];
    ssize_t count = read(lines->fd, data, sizeof(data));
    if (count > 0)
        text_append(&lines->bytes, data, (size_t)count);
    return count;
}

enum editor_end lines_read(struct lines *lines, const struct cancel *stop, struct text *line)
{
    struct text *bytes = &lines->bytes;
    make_room(lines);
    for (size_t seen = 0;;) {
        const char *end =
            bytes->length > seen ? memchr(bytes->data + seen, '\n', bytes->length - seen) : NULL;
        if (cancel_requested(stop))
            return EDITOR_STOPPED;
        if (end)
            return give(lines, (size_t)(end - bytes->data), 1, line);
        seen = bytes->length;
        struct pollfd wait[] = {{.fd = lines->fd, .events = POLLIN},
                                {.fd = cancel_fd(stop), .events = POLLIN}};
        if (poll(wait, 2, -1) <= 0 || !wait[0].revents)
            continue; /* a signal, which may have triggered the token */
        ssize_t count = read_more(lines);
        if (bytes->failed)
            return EDITOR_FAILED;
        if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
            return bytes->length ? give(lines, bytes->length, 0, line) : EDITOR_EOF;
    }
}
