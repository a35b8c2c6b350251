#include "frontend/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "frontend/styled.h"

enum {
    NARROWEST = 20,
    NARROWEST_CALL = 14,
    WIDEST_BAR = 24,
    NARROWEST_BAR = 6,
    GAP = 3,
    MORE = 12
};

void progress_init(struct progress_line *line, struct output *output)
{
    *line = (struct progress_line){.output = output};
}

static void release_call(struct progress_call *call)
{
    free(call->id);
    text_release(&call->name);
    text_release(&call->message);
}

void progress_release(struct progress_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        release_call(&line->items[i]);
    free(line->items);
    text_release(&line->drawn);
    *line = (struct progress_line){0};
}

/* ---- what the calls told ---- */

/* Foreign text as it may stand within a line of the host's. */
static void clean(struct text *out, const char *data, size_t length)
{
    struct text safe = TEXT_INIT;
    text_append(&safe, data, length);
    secret_redact(&safe);
    text_reset(out);
    utf8_append_line(out, text_cstr(&safe), safe.length);
    out->failed = out->failed || safe.failed;
    text_release(&safe);
}

static struct progress_call *find(struct progress_line *line, const char *id)
{
    for (size_t i = 0; i < line->count; i++)
        if (strcmp(line->items[i].id, id) == 0)
            return &line->items[i];
    return NULL;
}

/* NULL: no memory. */
static struct progress_call *add(struct progress_line *line, const struct tool_progress *told)
{
    if (!array_reserve(line, 1))
        return NULL;
    struct progress_call *call = &line->items[line->count];
    *call = (struct progress_call){.id = strdup(told->id)};
    clean(&call->name, told->name, strlen(told->name));
    if (call->id && !call->name.failed) {
        line->count++;
        return call;
    }
    release_call(call);
    return NULL;
}

static double part_of(double done, double total)
{
    double part = total > 0 ? done / total : 0;
    return part > 1 ? 1 : part > 0 ? part : 0;
}

static int tenth_of(double done, double total)
{
    return (int)(part_of(done, total) * 10);
}

bool progress_is_news(struct progress_line *line, const struct tool_progress *told)
{
    struct text message = TEXT_INIT;
    struct progress_call *call = find(line, told->id);
    bool first = !call;
    if (first)
        call = add(line, told);
    clean(&message, told->text.data, told->text.length);
    if (!call || message.failed) {
        text_release(&message);
        output_fail(line->output, ENOMEM);
        return false;
    }
    bool news = first || tenth_of(told->done, told->total) != tenth_of(call->done, call->total) ||
                (message.length && strcmp(message.data, text_cstr(&call->message)) != 0);
    text_release(&call->message);
    call->message = message;
    call->done = told->done;
    call->total = told->total;
    return news;
}

void progress_forget(struct progress_line *line, const char *id)
{
    struct progress_call *call = find(line, id);
    if (!call)
        return;
    release_call(call);
    size_t after = (size_t)(line->items + line->count - call) - 1;
    memmove(call, call + 1, after * sizeof(*call));
    line->count--;
}

/* ---- drawing ---- */

void progress_write_number(struct text *out, double done, double total)
{
    if (total > 0)
        text_printf(out, "%3d%%", (int)(part_of(done, total) * 100));
    else
        text_printf(out, done >= -1e15 && done <= 1e15 ? "%.0f" : "%g", done);
}

/* As many characters as fit into `columns`; returns the columns that they take. */
static unsigned put_columns(struct text *out, const struct text *text, unsigned columns)
{
    unsigned used = 0;
    for (size_t at = 0, length; at < text->length; at += length) {
        unsigned width =
            styled_char_width(styled_decode(text->data + at, text->length - at, &length));
        if (used + width > columns)
            break;
        text_append(out, text->data + at, length);
        used += width;
    }
    return used;
}

static void put_bar(struct text *out, unsigned width, double part)
{
    unsigned full = (unsigned)(part * width);
    text_puts(out, " [");
    for (unsigned i = 0; i < width; i++)
        text_putc(out, i < full ? '#' : '.');
    text_putc(out, ']');
}

/* At most `columns`, which are NARROWEST_CALL or more. */
static void put_call(struct text *out, const struct progress_call *call, unsigned columns)
{
    struct text number = TEXT_INIT;
    progress_write_number(&number, call->done, call->total);
    unsigned digits = (unsigned)number.length + 1;
    unsigned left = columns > digits ? columns - digits : 0;
    left -= put_columns(out, &call->name, left);
    if (call->total > 0 && left >= NARROWEST_BAR + 3) {
        unsigned width = left - 3 > WIDEST_BAR ? WIDEST_BAR : left - 3;
        if (call->message.length && width > left / 2)
            width = left / 2 > NARROWEST_BAR ? left / 2 : NARROWEST_BAR;
        put_bar(out, width, part_of(call->done, call->total));
        left -= width + 3;
    }
    text_putc(out, ' ');
    text_append(out, number.data, number.length);
    if (call->message.length && left > 1) {
        text_putc(out, ' ');
        put_columns(out, &call->message, left - 1);
    }
    out->failed = out->failed || number.failed;
    text_release(&number);
}

/* How many calls have room, and how much each. */
static size_t share(size_t count, unsigned width, unsigned *columns)
{
    size_t shown = count;
    while (shown > 1 && (width - (shown < count ? MORE : 0)) / shown < NARROWEST_CALL + GAP)
        shown--;
    *columns = (width - (shown < count ? MORE : 0)) / (unsigned)shown - (shown > 1 ? GAP : 0);
    return shown;
}

static void write_line(const struct progress_line *line, unsigned width, struct text *out)
{
    unsigned columns;
    size_t shown = share(line->count, width, &columns);
    for (size_t i = 0; i < shown; i++) {
        if (i)
            text_append(out, "   ", GAP);
        put_call(out, &line->items[i], columns);
    }
    if (shown < line->count)
        text_printf(out, "   +%zu more", line->count - shown);
}

void progress_draw(struct progress_line *line)
{
    unsigned width = output_width(line->output);
    struct text drawn = TEXT_INIT;
    if (!line->count || !line->output->erases || width < NARROWEST)
        return;
    write_line(line, width - 1, &drawn); /* the last column may wrap */
    bool same = line->output->transient && drawn.length == line->drawn.length &&
                memcmp(drawn.data, line->drawn.data, drawn.length) == 0;
    if (drawn.failed)
        output_fail(line->output, ENOMEM);
    else if (!same)
        output_transient(line->output, drawn.data, drawn.length);
    text_release(&line->drawn);
    line->drawn = drawn;
}
