#include "mcp/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, KEPT = 1 << 20 };

void line_reader_release(struct line_reader *reader)
{
    free(reader->data);
    *reader = (struct line_reader){.max = reader->max};
}

/* ---- reading ---- */

/* What was taken makes room; much room that is not needed any more is given back. */
static void tidy(struct line_reader *reader)
{
    size_t left = reader->end - reader->start;
    if (reader->start && left)
        memmove(reader->data, reader->data + reader->start, left);
    reader->looked -= reader->start;
    reader->start = 0;
    reader->end = left;
    if (left || reader->capacity <= KEPT)
        return;
    free(reader->data);
    reader->data = NULL;
    reader->capacity = 0;
}

static bool make_room(struct line_reader *reader)
{
    if (reader->capacity - reader->end >= CHUNK / 2)
        return true;
    size_t capacity = reader->capacity ? 2 * reader->capacity : CHUNK;
    char *grown = realloc(reader->data, capacity);
    if (!grown)
        return false;
    reader->data = grown;
    reader->capacity = capacity;
    return true;
}

ssize_t line_read(struct line_reader *reader, int fd)
{
    if (!make_room(reader)) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t count = read(fd, reader->data + reader->end, reader->capacity - reader->end);
    if (count > 0)
        reader->end += (size_t)count;
    return count;
}

/* ---- lines ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* From `start` to the place of its line feed.  False: it is blank. */
static bool take(struct line_reader *reader, size_t feed, struct slice *line)
{
    const char *data = reader->data + reader->start;
    size_t length = feed - reader->start;
    while (length && is_space(data[length - 1]))
        length--;
    while (length && is_space(*data)) {
        data++;
        length--;
    }
    *line = (struct slice){data, length};
    return length > 0;
}

static void forget(struct line_reader *reader)
{
    reader->start = reader->looked = reader->end;
}

/* There is no line feed. */
static enum line_kind look_at_rest(struct line_reader *reader)
{
    bool is_too_long = !reader->passes && reader->end - reader->start > reader->max;
    reader->looked = reader->end;
    reader->passes |= is_too_long;
    if (reader->passes)
        forget(reader);
    tidy(reader);
    return is_too_long ? LINE_TOO_LONG : LINE_NONE;
}

enum line_kind line_next(struct line_reader *reader, struct slice *line)
{
    for (;;) {
        size_t left = reader->end - reader->looked;
        const char *feed = left ? memchr(reader->data + reader->looked, '\n', left) : NULL;
        if (!feed)
            return look_at_rest(reader);
        size_t place = (size_t)(feed - reader->data);
        bool is_rest = reader->passes;
        bool is_too_long = place - reader->start > reader->max;
        bool is_line = !is_rest && !is_too_long && take(reader, place, line);
        reader->passes = false;
        reader->start = reader->looked = place + 1;
        if (is_line)
            return LINE_WHOLE;
        if (is_too_long && !is_rest)
            return LINE_TOO_LONG;
    }
}

enum line_kind line_last(struct line_reader *reader, struct slice *line)
{
    enum line_kind kind = line_next(reader, line);
    if (kind != LINE_NONE || reader->passes || reader->start == reader->end)
        return kind;
    bool is_line = take(reader, reader->end, line);
    forget(reader);
    return is_line ? LINE_WHOLE : LINE_NONE;
}
