#include "provider/sse.h"

#include <string.h>

/* "data: " and more: what a line may have beside the data. */
#define FIELD_BYTES 16

static const char mark[3] = {'\xEF', '\xBB', '\xBF'};

void sse_init(struct sse *sse, sse_event *on_event, void *context)
{
    *sse = (struct sse){
        .on_event = on_event, .context = context, .max_event_bytes = SSE_MAX_EVENT_BYTES};
}

void sse_release(struct sse *sse)
{
    text_release(&sse->line);
    text_release(&sse->data);
}

static bool too_large(const struct sse *sse, struct error *error)
{
    return error_set(error, ERROR_SERVER, "the server sent an event of more than %zu bytes",
                     sse->max_event_bytes);
}

/* The fed bytes are about to go away. */
static bool keep_held(struct sse *sse, struct error *error)
{
    if (sse->held)
        text_append(&sse->data, sse->held, sse->held_length);
    sse->held = NULL;
    sse->held_length = 0;
    return !sse->data.failed || error_memory(error);
}

/* `lasting`: the value stays where it is until the end of this sse_feed(). */
static bool add_data(struct sse *sse, const char *value, size_t length, bool lasting,
                     struct error *error)
{
    size_t used = sse->data.length + sse->held_length + (sse->has_data ? 1 : 0);
    if (length > sse->max_event_bytes || used > sse->max_event_bytes - length)
        return too_large(sse, error);
    if (lasting && !sse->has_data) {
        sse->held = value;
        sse->held_length = length;
        sse->has_data = true;
        return true;
    }
    if (!keep_held(sse, error))
        return false;
    if (sse->has_data)
        text_putc(&sse->data, '\n');
    text_append(&sse->data, value, length);
    sse->has_data = true;
    return !sse->data.failed || error_memory(error);
}

static bool is_blank(const char *data, size_t length)
{
    size_t i = 0;
    while (i < length && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n'))
        i++;
    return i == length;
}

static void dispatch(struct sse *sse)
{
    const char *data = sse->held ? sse->held : text_cstr(&sse->data);
    size_t length = sse->held ? sse->held_length : sse->data.length;
    if (sse->has_data && !is_blank(data, length))
        sse->on_event(sse->context, data, length);
    text_reset(&sse->data);
    sse->held = NULL;
    sse->held_length = 0;
    sse->has_data = false;
}

static bool take_line(struct sse *sse, const char *line, size_t length, bool lasting,
                      struct error *error)
{
    if (!length) {
        dispatch(sse);
        return true;
    }
    if (length > sse->max_event_bytes && length - sse->max_event_bytes > FIELD_BYTES)
        return too_large(sse, error);
    if (length < 4 || memcmp(line, "data", 4) != 0 || (length > 4 && line[4] != ':'))
        return true;
    size_t start = length == 4 ? 4 : 5;
    if (start < length && line[start] == ' ')
        start++;
    return add_data(sse, line + start, length - start, lasting, error);
}

/* The beginning of a line whose end has not come yet. */
static bool keep_line(struct sse *sse, const char *piece, size_t length, struct error *error)
{
    text_append(&sse->line, piece, length);
    if (sse->line.failed)
        return error_memory(error);
    if (sse->line.length > sse->max_event_bytes &&
        sse->line.length - sse->max_event_bytes > FIELD_BYTES)
        return too_large(sse, error);
    return true;
}

static bool end_line(struct sse *sse, const char *piece, size_t length, struct error *error)
{
    if (!sse->line.length && !sse->line.failed)
        return take_line(sse, piece, length, true, error);
    if (!keep_line(sse, piece, length, error))
        return false;
    bool ok = take_line(sse, sse->line.data, sse->line.length, false, error);
    text_reset(&sse->line);
    return ok;
}

/* Passes over what belongs to a mark; bytes that only looked like one are the line's. */
static const char *skip_mark(struct sse *sse, const char *at, const char *end)
{
    while (sse->bom < sizeof(mark) && at < end) {
        if (*at != mark[sse->bom]) {
            text_append(&sse->line, mark, sse->bom);
            sse->bom = sizeof(mark);
            break;
        }
        sse->bom++;
        at++;
    }
    return at;
}

/* Where `byte` comes next, or `end`.  `known` is the last answer: each byte is looked at once
 * however the line ends are mixed. */
static const char *next(const char *known, const char *at, const char *end, char byte)
{
    if (known && known >= at)
        return known;
    const char *found = memchr(at, byte, (size_t)(end - at));
    return found ? found : end;
}

bool sse_feed(struct sse *sse, const char *data, size_t length, struct error *error)
{
    if (!length)
        return true;
    const char *end = data + length;
    const char *at = skip_mark(sse, data, end);
    if (sse->after_cr && *at == '\n')
        at++;
    sse->after_cr = false;

    const char *lf = NULL, *cr = NULL;
    while (at < end) {
        lf = next(lf, at, end, '\n');
        cr = next(cr, at, end, '\r');
        const char *stop = lf < cr ? lf : cr;
        if (stop == end)
            break;
        if (!end_line(sse, at, (size_t)(stop - at), error))
            return false;
        at = stop + 1;
        if (*stop == '\r' && at == end)
            sse->after_cr = true;
        else if (*stop == '\r' && *at == '\n')
            at++;
    }
    return keep_held(sse, error) && keep_line(sse, at, (size_t)(end - at), error);
}

bool sse_end(struct sse *sse, struct error *error)
{
    bool ok = !sse->line.length || take_line(sse, sse->line.data, sse->line.length, false, error);
    text_reset(&sse->line);
    if (ok)
        dispatch(sse);
    return ok;
}
