#include "tool/cap.h"

#include "base/utf8.h"

/* What the line between head and tail takes at most. */
enum { LINE_BYTES = 64 };

bool result_cap(struct text *text, size_t limit)
{
    if (text->length <= limit)
        return true;
    /* The beginning tells what it is, the end how it came out: two thirds, one third. */
    size_t room = limit > LINE_BYTES ? limit - LINE_BYTES : 0;
    size_t head = utf8_cut(text->data, text->length, room / 3 * 2);
    size_t tail = utf8_cut_tail(text->data, text->length, text->length - room / 3);
    struct text cut = TEXT_INIT;
    text_append(&cut, text->data, head);
    text_printf(&cut, "\n[mortise: %zu bytes left out here]\n", tail - head);
    text_append(&cut, text->data + tail, text->length - tail);
    text_release(text);
    *text = cut;
    return !cut.failed;
}
