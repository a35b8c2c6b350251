#include "tool/cap.h"

#include "base/utf8.h"

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
    text_printf(&cut, "\n[mortise: %zu bytes left out here%s%s]\n", tail - head,
                whole ? "; the whole is in " : "", whole ? whole : "");
    text_append(&cut, text->data + tail, text->length - tail);
    text_release(text);
    *text = cut;
    return !cut.failed;
}
