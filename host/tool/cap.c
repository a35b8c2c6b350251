#include "tool/cap.h"

#include <string.h>

#include "base/utf8.h"

#define LINE_START "\n[mortise: "
#define LINE_END   "]\n"

bool result_cap(struct text *text, size_t limit, const char *whole)
{
    if (text->length <= limit)
        return true;
    /* The line's own bytes: a text around the number and the place. */
    size_t line = 64 + (whole ? strlen(whole) + 24 : 0);
    /* The beginning tells what it is, the end how it came out: two thirds, one third. */
    size_t room = limit > line ? limit - line : 0;
    size_t head = utf8_cut(text->data, text->length, room / 3 * 2);
    size_t tail = utf8_cut_tail(text->data, text->length, text->length - room / 3);
    struct text cut = TEXT_INIT;
    text_append(&cut, text->data, head);
    text_printf(&cut, LINE_START "%zu bytes left out here%s%s" LINE_END, tail - head,
                whole ? "; the whole is in " : "", whole ? whole : "");
    text_append(&cut, text->data + tail, text->length - tail);
    text_release(text);
    *text = cut;
    return !cut.failed;
}

/* How many bytes two texts begin with that are the same, and how many they end with. */
static size_t same_head(const char *one, const char *other, size_t most)
{
    size_t same = 0;
    while (same < most && one[same] == other[same])
        same++;
    return same;
}

static size_t same_tail(const char *one_end, const char *other_end, size_t most)
{
    size_t same = 0;
    while (same < most && one_end[-1 - (ptrdiff_t)same] == other_end[-1 - (ptrdiff_t)same])
        same++;
    return same;
}

/* Not by what the line says: a tool may have written such a line itself. */
bool result_is_cut_of(const char *cut, size_t length, const char *whole, size_t whole_length)
{
    size_t most = length < whole_length ? length : whole_length;
    size_t head = same_head(cut, whole, most);
    size_t tail = same_tail(cut + length, whole + whole_length, most);
    const char *end = cut + length;
    const char *line = length && length < whole_length ? cut : NULL;
    while (line && (line = memmem(line, (size_t)(end - line), LINE_START, strlen(LINE_START)))) {
        const char *close = memmem(line, (size_t)(end - line), LINE_END, strlen(LINE_END));
        if ((size_t)(line - cut) > head || !close)
            return false;
        if ((size_t)(end - close) <= tail + strlen(LINE_END))
            return true;
        line++;
    }
    return false;
}
