#include "output.h"

#include <stdio.h>
#include <string.h>

enum {
    SHOWN_MAX = 1 << 20, /* the host shows no more of one call: from there on lines are counted */
    COUNT_EVERY = 1000
};

bool output_begin(struct output *output, mortise_call *call, size_t bytes)
{
    *output = (struct output){
        .call = call,
        .out = {.name = "stdout"},
        .err = {.name = "stderr"},
        .half = bytes / 2,
    };
    output->head = mortise_alloc(call, output->half);
    output->tail = mortise_alloc(call, output->half);
    return output->head && output->tail;
}

/* ---- kept ---- */

static void keep(struct output *output, const char *text, size_t length)
{
    if (output->total < output->half) {
        size_t room = output->half - output->total;
        size_t fits = length < room ? length : room;
        memcpy(output->head + output->total, text, fits);
        output->total += fits;
        text += fits;
        length -= fits;
    }
    while (length > 0) {
        size_t at = output->total % output->half;
        size_t fits = length < output->half - at ? length : output->half - at;
        memcpy(output->tail + at, text, fits);
        output->total += fits;
        text += fits;
        length -= fits;
    }
}

/* ---- shown, and kept in the same order: whole lines, as far as they come ---- */

static void emit(struct output *output, struct stream *stream, size_t length)
{
    if (!length)
        return;
    mortise_emit(output->call, stream->name, stream->line, length);
    keep(output, stream->line, length);
    stream->line_length -= length;
    stream->since_ms = output->now_ms;
    memmove(stream->line, stream->line + length, stream->line_length);
}

static void show_all(struct output *output, struct stream *stream)
{
    emit(output, stream, stream->line_length);
}

static void show_waiting(struct output *output, struct stream *stream, int64_t now_ms)
{
    if (stream->line_length && now_ms - stream->since_ms >= OUTPUT_WAIT_MS)
        show_all(output, stream);
}

void output_show_waiting(struct output *output, int64_t now_ms)
{
    show_waiting(output, &output->out, now_ms);
    show_waiting(output, &output->err, now_ms);
}

static void show_lines(struct output *output, struct stream *stream)
{
    const char *end = memrchr(stream->line, '\n', stream->line_length);
    if (end)
        emit(output, stream, (size_t)(end + 1 - stream->line));
}

static void count_line(struct output *output)
{
    output->lines++;
    if (output->total > SHOWN_MAX && output->lines % COUNT_EVERY == 0)
        mortise_progress(output->call, (double)output->lines, 0, NULL);
}

/* One character, whole, as it is to be seen. */
static void put(struct output *output, struct stream *stream, const char *text, size_t length)
{
    if (stream->line_length + length > sizeof(stream->line)) {
        show_lines(output, stream);
        if (stream->line_length + length > sizeof(stream->line))
            show_all(output, stream);
    }
    if (!stream->line_length)
        stream->since_ms = output->now_ms;
    memcpy(stream->line + stream->line_length, text, length);
    stream->line_length += length;
    if (*text == '\n')
        count_line(output);
}

/* ---- made valid ---- */

/* Bytes of the character that begins so; 0: none does. */
static size_t expected(unsigned char first)
{
    return first == 0     ? 0
           : first < 0x80 ? 1
           : first < 0xC2 ? 0
           : first < 0xE0 ? 2
           : first < 0xF0 ? 3
           : first < 0xF5 ? 4
                          : 0;
}

/* Whether `next` may be the byte at `index` of a character. */
static bool may_follow(const unsigned char *part, size_t index, unsigned char next)
{
    unsigned char low = 0x80, high = 0xBF;
    if (index == 1) {
        low = part[0] == 0xE0 ? 0xA0 : part[0] == 0xF0 ? 0x90 : low;
        high = part[0] == 0xED ? 0x9F : part[0] == 0xF4 ? 0x8F : high;
    }
    return next >= low && next <= high;
}

static void put_bytes(struct output *output, struct stream *stream)
{
    char text[8];
    for (size_t i = 0; i < stream->part_length; i++) {
        int length = snprintf(text, sizeof(text), "\\x%02x", stream->part[i]);
        put(output, stream, text, (size_t)length);
    }
    stream->part_length = 0;
}

static void add_byte(struct output *output, struct stream *stream, unsigned char byte)
{
    if (stream->part_length && !may_follow(stream->part, stream->part_length, byte))
        put_bytes(output, stream);
    stream->part[stream->part_length++] = byte;
    size_t length = expected(stream->part[0]);
    if (length == 0) {
        put_bytes(output, stream);
    } else if (stream->part_length == length) {
        stream->part_length = 0;
        put(output, stream, (const char *)stream->part, length);
    }
}

void output_add(struct output *output, struct stream *stream, const char *data, size_t length,
                int64_t now_ms)
{
    output->now_ms = now_ms;
    for (size_t i = 0; i < length; i++)
        add_byte(output, stream, (unsigned char)data[i]);
    show_lines(output, stream);
}

void output_end(struct output *output, struct stream *stream)
{
    put_bytes(output, stream);
    show_all(output, stream);
}

/* ---- for the model ---- */

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The head ends with a line, if one ends in its second half, or with a character. */
static size_t head_length(const struct output *output)
{
    const char *end =
        memrchr(output->head + output->half / 2, '\n', output->half - output->half / 2);
    return end ? (size_t)(end + 1 - output->head) : mortise_cut(output->head, output->half);
}

/* The same of the tail, which lies in order at `tail`: bytes of it to leave out. */
static size_t tail_skip(const char *tail, size_t half)
{
    const char *end = memchr(tail, '\n', half / 2);
    size_t skip = end ? (size_t)(end + 1 - tail) : 0;
    while (skip < half && skip < 4 && is_inside(tail[skip]))
        skip++;
    return skip;
}

/* The bytes of the tail in their order. */
static size_t unroll(const struct output *output, char *out)
{
    size_t half = output->half, at = output->total % half;
    if (output->total <= half)
        return 0;
    if (output->total < 2 * half) {
        memcpy(out, output->tail, at);
        return at;
    }
    memcpy(out, output->tail + at, half - at);
    memcpy(out + half - at, output->tail, at);
    return half;
}

char *output_text(const struct output *output, size_t *length)
{
    char *text = mortise_alloc(output->call, 2 * output->half + 128);
    char *tail = mortise_alloc(output->call, output->half);
    if (!text || !tail)
        return NULL;
    size_t tail_length = unroll(output, tail);
    size_t head = output->total < output->half ? output->total : output->half, skip = 0;
    bool is_cut = output->total > 2 * output->half;
    if (is_cut) {
        head = head_length(output);
        skip = tail_skip(tail, tail_length);
    }
    memcpy(text, output->head, head);
    size_t used = head;
    if (is_cut)
        used += (size_t)snprintf(text + used, 100, "%s[%zu bytes of output are left out here]\n",
                                 used && text[used - 1] != '\n' ? "\n" : "",
                                 output->total - head - (tail_length - skip));
    memcpy(text + used, tail + skip, tail_length - skip);
    used += tail_length - skip;
    if (used && text[used - 1] != '\n')
        text[used++] = '\n';
    *length = used;
    return text;
}
