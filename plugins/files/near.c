#include "near.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
    WINDOW_MOST = 200, /* lines of the old text that are compared */
    SHOW_LINES = 20,
    SHOW_BYTES = 200,
};

struct line {
    const char *at;
    size_t length;
};

/* Cuts the next line off; false: there is none. */
static bool next_line(const char **data, const char *end, struct line *line)
{
    if (*data >= end)
        return false;
    const char *feed = memchr(*data, '\n', (size_t)(end - *data));
    const char *stop = feed ? feed : end;
    *line = (struct line){*data, (size_t)(stop - *data)};
    *data = stop + (feed != NULL);
    return true;
}

static struct line trim(struct line line)
{
    while (line.length && isspace((unsigned char)line.at[line.length - 1]))
        line.length--;
    while (line.length && isspace((unsigned char)*line.at)) {
        line.at++;
        line.length--;
    }
    return line;
}

/* Equal but for white space, anywhere in the line. */
static bool is_like(struct line a, struct line b)
{
    size_t i = 0, j = 0;
    for (;;) {
        while (i < a.length && isspace((unsigned char)a.at[i]))
            i++;
        while (j < b.length && isspace((unsigned char)b.at[j]))
            j++;
        if (i == a.length || j == b.length)
            return i == a.length && j == b.length;
        if (a.at[i++] != b.at[j++])
            return false;
    }
}

/* In percent: how much of both the same beginning and the same end make. */
static size_t similarity(struct line a, struct line b)
{
    size_t less = a.length < b.length ? a.length : b.length, head = 0, tail = 0;
    size_t most = a.length < b.length ? b.length : a.length;
    while (head < less && a.at[head] == b.at[head])
        head++;
    while (tail < less - head && a.at[a.length - 1 - tail] == b.at[b.length - 1 - tail])
        tail++;
    return most ? (head + tail) * 100 / most : 0;
}

static void show(struct text *out, const char *data, const char *end, uint64_t number, size_t lines)
{
    struct line line;
    for (size_t i = 0; i < lines && i < SHOW_LINES && next_line(&data, end, &line); i++) {
        text_printf(out, "\n%6" PRIu64 "\t", number + i);
        text_line(out, line.at, line.length, SHOW_BYTES);
    }
    text_puts(out, "\n");
}

/* ---- what may have happened ---------------------------------------------------------------- */

/* The numbers that read_file puts in front of lines. */
static bool is_numbered(const char *old)
{
    const char *at = old, *end = old + strlen(old);
    struct line line;
    size_t lines = 0;
    while (next_line(&at, end, &line)) {
        size_t i = 0, digits = 0;
        while (i < line.length && line.at[i] == ' ')
            i++;
        for (; i < line.length && isdigit((unsigned char)line.at[i]); i++)
            digits++;
        if (!digits || i == line.length || line.at[i] != '\t')
            return false;
        lines++;
    }
    return lines > 0;
}

/* Whether the lines from `data` on are those of the old text but for white space. */
static bool window_is_like(const char *data, const char *end, const struct line *old, size_t count)
{
    struct line line;
    for (size_t i = 0; i < count; i++)
        if (!next_line(&data, end, &line) || !is_like(line, old[i]))
            return false;
    return true;
}

/* The lines of the old text without empty ones at its ends; how many. */
static size_t split(const char *old, struct line *lines)
{
    const char *end = old + strlen(old);
    size_t count = 0;
    struct line line;
    while (count < WINDOW_MOST && next_line(&old, end, &line))
        if (count || trim(line).length)
            lines[count++] = line;
    while (count && !trim(lines[count - 1]).length)
        count--;
    return count;
}

static bool describe_space(struct text *out, const char *data, const char *end,
                           const struct line *old, size_t count)
{
    const char *at = data;
    struct line line;
    for (uint64_t number = 1; count && at < end; number++) {
        if (window_is_like(at, end, old, count)) {
            text_printf(out,
                        "; lines %" PRIu64 "-%" PRIu64
                        " differ from it only in white space (tabs, spaces, ends of lines). They "
                        "are, behind their numbers:",
                        number, number + count - 1);
            show(out, at, end, number, count);
            return true;
        }
        next_line(&at, end, &line);
    }
    return false;
}

/* The line that is most like the longest of the old text. */
static bool describe_likeness(struct text *out, const char *data, const char *end,
                              const struct line *old, size_t count)
{
    struct line longest = {NULL, 0}, line;
    const char *at = data, *best_at = NULL;
    uint64_t best_number = 0;
    size_t best = 49;
    for (size_t i = 0; i < count; i++)
        if (trim(old[i]).length > longest.length)
            longest = trim(old[i]);
    if (!longest.length)
        return false;
    for (uint64_t number = 1;; number++) {
        const char *begin = at;
        if (!next_line(&at, end, &line))
            break;
        size_t like = similarity(longest, trim(line));
        if (like > best) {
            best = like;
            best_at = begin;
            best_number = number;
        }
    }
    if (!best_at)
        return false;
    text_printf(out, "; most like it is line %" PRIu64 ":", best_number);
    show(out, best_at, end, best_number, count < 5 ? count : 5);
    return true;
}

void near_describe(struct text *out, const char *data, size_t length, const char *old)
{
    struct line lines[WINDOW_MOST];
    const char *end = data + length;
    size_t count = split(old, lines);
    size_t old_length = strlen(old);
    if (is_numbered(old))
        text_puts(out, ": leave out the line numbers that read_file puts in front of the lines");
    else if (old_length > 1 && old[old_length - 1] == '\n' && length >= old_length - 1 &&
             memcmp(end - (old_length - 1), old, old_length - 1) == 0)
        text_puts(out, ": the file's last line has no line end; leave it out of old_text");
    else if (!describe_space(out, data, end, lines, count) &&
             !describe_likeness(out, data, end, lines, count))
        text_puts(out, ", nor anything like it: read the file again");
}
