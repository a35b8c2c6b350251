#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_release(struct text *text)
{
    free(text->data);
    *text = (struct text)TEXT_INIT;
}

/* Room for so many bytes more, and a NUL. */
static bool grow(struct text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->room)
        return true;
    size_t room = need + need / 2 + 64;
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void text_put(struct text *text, const char *data, size_t length)
{
    if (!grow(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_puts(struct text *text, const char *string)
{
    text_put(text, string, strlen(string));
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    if (length >= 0 && grow(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else {
        text->failed = true;
    }
    va_end(again);
    va_end(list);
}

size_t text_mark(const char *data, size_t length)
{
    return length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

size_t text_character(const char *data, size_t length)
{
    const unsigned char *c = (const unsigned char *)data;
    size_t need = c[0] < 0x80   ? 1
                  : c[0] < 0xc2 ? 0
                  : c[0] < 0xe0 ? 2
                  : c[0] < 0xf0 ? 3
                  : c[0] < 0xf5 ? 4
                                : 0;
    if (!need || need > length)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool is_overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
    bool is_no_scalar = (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf4 && c[1] > 0x8f);
    return is_overlong || is_no_scalar ? 0 : need;
}

void text_name(struct text *text, const char *name)
{
    size_t length = strlen(name);
    bool is_plain = name[0] != '"';
    for (size_t i = 0; is_plain && i < length;) {
        size_t n = text_character(name + i, length - i);
        is_plain = n > 0 && (n > 1 || ((unsigned char)name[i] >= ' ' && name[i] != 127));
        i += n;
    }
    if (is_plain) {
        text_put(text, name, length);
        return;
    }
    text_puts(text, "\"");
    for (size_t i = 0; i < length;) {
        size_t n = text_character(name + i, length - i);
        unsigned char c = (unsigned char)name[i];
        if (c == '\n')
            text_puts(text, "\\n");
        else if (c == '"' || c == '\\')
            text_printf(text, "\\%c", c);
        else if (n == 0 || (n == 1 && (c < ' ' || c == 127)))
            text_printf(text, "\\x%02x", c);
        else
            text_put(text, name + i, n);
        i += n ? n : 1;
    }
    text_puts(text, "\"");
}

size_t text_line(struct text *text, const char *line, size_t length, size_t most)
{
    size_t bad = 0, at = 0, from = 0;
    while (at < length && at < most) {
        unsigned char c = (unsigned char)line[at];
        size_t n = text_character(line + at, length - at);
        bool is_shown = n > 1 || (n == 1 && (c >= ' ' || c == '\t') && c != 127);
        if (n && at + n > most)
            break;
        if (!is_shown) {
            text_put(text, line + from, at - from);
            text_printf(text, "\\x%02x", c);
            bad += n == 0;
            from = at + 1;
        }
        at += n ? n : 1;
    }
    text_put(text, line + from, at - from);
    if (at < length)
        text_printf(text, " [... %zu bytes more in this line]", length - at);
    return bad;
}

void text_size(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB"};
    double shown = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes < 1024) {
        text_printf(text, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
        return;
    }
    for (; shown >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        shown /= 1024;
    text_printf(text, "%.1f %s", shown, units[unit]);
}

mortise_status text_reply(struct text *text, mortise_call *call)
{
    mortise_status status =
        text->failed ? MORTISE_NO_MEMORY
                     : mortise_reply_text(call, text->data ? text->data : "", text->length);
    text_release(text);
    return status;
}
