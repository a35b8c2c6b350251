/*
 * Markdown of a model: whatever it is and however it is cut, the output is the same, is valid,
 * and holds no control character but the host's own.
 *
 * The first byte seeds the cuts, the second is the width; the rest is the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "frontend/markdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An output that keeps everything in its buffer. */
static void render(struct text *shown, const char *data, size_t length, unsigned width,
                   unsigned seed)
{
    struct output output = {.fd = -1, .terminal = true, .color = true, .at_line_start = true};
    struct markdown markdown;
    markdown_init(&markdown, &output, width);
    for (size_t at = 0; at < length;) {
        size_t step = length;
        if (seed) {
            seed = seed * 1103515245u + 12345u;
            step = 1 + (seed >> 16) % 9;
        }
        step = step < length - at ? step : length - at;
        markdown_feed(&markdown, data + at, step);
        at += step;
        text_append(shown, text_cstr(&output.buffer), output.buffer.length);
        text_reset(&output.buffer);
    }
    markdown_end(&markdown);
    text_append(shown, text_cstr(&output.buffer), output.buffer.length);
    markdown_release(&markdown);
    text_release(&output.buffer);
}

/* "\033[", digits, "m" */
static size_t own_sequence(const char *data, size_t left)
{
    size_t i = 2;
    if (left < 4 || data[0] != '\033' || data[1] != '[')
        return 0;
    while (i < left && data[i] >= '0' && data[i] <= '9')
        i++;
    return i > 2 && i < left && data[i] == 'm' ? i + 1 : 0;
}

static void check_harmless(const struct text *shown)
{
    struct text visible = TEXT_INIT;
    struct text rest = TEXT_INIT;
    for (size_t i = 0; i < shown->length;) {
        size_t own = own_sequence(shown->data + i, shown->length - i);
        if (!own)
            text_putc(&rest, shown->data[i]);
        i += own ? own : 1;
    }
    utf8_append_visible(&visible, text_cstr(&rest), rest.length);
    if (visible.length != rest.length || utf8_valid(text_cstr(&rest), rest.length) != rest.length)
        abort();
    text_release(&visible);
    text_release(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text whole = TEXT_INIT;
    struct text pieces = TEXT_INIT;
    if (size < 2 || size > 8192) /* a longer one would be flushed to the descriptor */
        return 0;
    const char *text = (const char *)data + 2;
    unsigned width = 20 + data[1] % 100;
    render(&whole, text, size - 2, width, 0);
    render(&pieces, text, size - 2, width, data[0] + 1u);
    if (whole.length != pieces.length ||
        memcmp(text_cstr(&whole), text_cstr(&pieces), whole.length) != 0)
        abort();
    check_harmless(&whole);
    text_release(&whole);
    text_release(&pieces);
    return 0;
}
