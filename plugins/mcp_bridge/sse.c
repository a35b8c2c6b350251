#include "sse.h"

#include <string.h>

/* "data: " and more: what a line may have beside its data. */
enum { FIELD_BYTES = 16, LONGEST_RETRY_MS = 24 * 60 * 60 * 1000 };

static const char mark[3] = {'\xEF', '\xBB', '\xBF'};

void sse_begin(struct sse *sse, sse_take *take, void *self, size_t max_bytes)
{
    *sse = (struct sse){.take = take, .self = self, .max_bytes = max_bytes, .retry_ms = -1};
}

void sse_again(struct sse *sse)
{
    buffer_clear(&sse->line);
    buffer_clear(&sse->data);
    sse->name[0] = '\0';
    sse->has_id = sse->has_fields = sse->has_data = sse->is_after_cr = false;
    sse->mark = 0;
}

void sse_release(struct sse *sse)
{
    buffer_release(&sse->line);
    buffer_release(&sse->data);
}

static bool too_large(struct sse *sse)
{
    sse->is_too_large = true;
    return false;
}

/* ---- fields ---- */

static bool add_data(struct sse *sse, const char *value, size_t length)
{
    size_t used = sse->data.length + (sse->has_data ? 1 : 0);
    if (length > sse->max_bytes || used > sse->max_bytes - length)
        return too_large(sse);
    if (sse->has_data)
        buffer_put(&sse->data, "\n", 1);
    buffer_put(&sse->data, value, length);
    sse->has_data = true;
    return !sse->data.failed;
}

/* One that cannot be kept whole leaves no place to come back to, as none does. */
static void set_id(struct sse *sse, const char *value, size_t length)
{
    if (memchr(value, '\0', length))
        return;
    size_t kept = length < sizeof(sse->next_id) ? length : 0;
    memcpy(sse->next_id, value, kept);
    sse->next_id[kept] = '\0';
    sse->has_id = true;
}

static void set_name(struct sse *sse, const char *value, size_t length)
{
    size_t kept = length < sizeof(sse->name) ? length : sizeof(sse->name) - 1;
    memcpy(sse->name, value, kept);
    sse->name[kept] = '\0';
}

static void set_retry(struct sse *sse, const char *value, size_t length)
{
    int64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9')
            return;
        if (number < LONGEST_RETRY_MS)
            number = number * 10 + (value[i] - '0');
    }
    if (length)
        sse->retry_ms = number < LONGEST_RETRY_MS ? number : LONGEST_RETRY_MS;
}

static bool is_field(const char *line, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(line, name, length) == 0;
}

static bool take_field(struct sse *sse, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    size_t name = colon ? (size_t)(colon - line) : length;
    size_t start = colon ? name + 1 : length;
    if (start < length && line[start] == ' ')
        start++;
    const char *value = line + start;
    size_t rest = length - start;
    if (name == 0) /* a comment */
        return true;
    sse->has_fields = true;
    if (is_field(line, name, "data"))
        return add_data(sse, value, rest);
    if (is_field(line, name, "id"))
        set_id(sse, value, rest);
    else if (is_field(line, name, "event"))
        set_name(sse, value, rest);
    else if (is_field(line, name, "retry"))
        set_retry(sse, value, rest);
    return true;
}

/* ---- events ---- */

static bool is_blank(const char *data, size_t length)
{
    size_t i = 0;
    while (i < length && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n'))
        i++;
    return i == length;
}

static void dispatch(struct sse *sse)
{
    const char *data = sse->data.text ? sse->data.text : "";
    size_t length = is_blank(data, sse->data.length) ? 0 : sse->data.length;
    if (sse->has_id)
        memcpy(sse->id, sse->next_id, sizeof(sse->id));
    if (sse->has_fields)
        sse->take(sse->self, &(struct sse_event){
                                 .name = sse->name, .data = length ? data : "", .length = length});
    buffer_clear(&sse->data);
    sse->name[0] = '\0';
    sse->has_id = sse->has_fields = sse->has_data = false;
}

/* ---- lines ---- */

static bool take_line(struct sse *sse, const char *line, size_t length)
{
    if (length > sse->max_bytes && length - sse->max_bytes > FIELD_BYTES)
        return too_large(sse);
    if (length)
        return take_field(sse, line, length);
    dispatch(sse);
    return true;
}

/* The beginning of a line whose end has not come yet. */
static bool keep_line(struct sse *sse, const char *piece, size_t length)
{
    buffer_put(&sse->line, piece, length);
    if (sse->line.length > sse->max_bytes && sse->line.length - sse->max_bytes > FIELD_BYTES)
        return too_large(sse);
    return !sse->line.failed;
}

static bool end_line(struct sse *sse, const char *piece, size_t length)
{
    if (!sse->line.length)
        return take_line(sse, piece, length);
    if (!keep_line(sse, piece, length))
        return false;
    bool ok = take_line(sse, sse->line.text, sse->line.length);
    buffer_clear(&sse->line);
    return ok;
}

/* Passes over what belongs to a mark; bytes that only looked like one are the line's. */
static const char *skip_mark(struct sse *sse, const char *at, const char *end)
{
    while (sse->mark < sizeof(mark) && at < end) {
        if (*at != mark[sse->mark]) {
            buffer_put(&sse->line, mark, sse->mark);
            sse->mark = sizeof(mark);
            break;
        }
        sse->mark++;
        at++;
    }
    return at;
}

bool sse_feed(struct sse *sse, const char *bytes, size_t length)
{
    if (!length)
        return true;
    const char *end = bytes + length;
    const char *start = skip_mark(sse, bytes, end);
    for (const char *at = start; at < end; at++) {
        bool is_second = *at == '\n' && sse->is_after_cr; /* of CRLF */
        sse->is_after_cr = *at == '\r';
        if (is_second) {
            start = at + 1;
        } else if (*at == '\n' || *at == '\r') {
            if (!end_line(sse, start, (size_t)(at - start)))
                return false;
            start = at + 1;
        }
    }
    return start == end || keep_line(sse, start, (size_t)(end - start));
}

bool sse_end(struct sse *sse)
{
    bool ok = !sse->line.length || take_line(sse, sse->line.text, sse->line.length);
    buffer_clear(&sse->line);
    if (ok && sse->has_data)
        dispatch(sse);
    return ok;
}
