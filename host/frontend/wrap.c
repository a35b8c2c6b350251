#include "frontend/wrap.h"

#include <errno.h>
#include <string.h>

enum { TAB_WIDTH = 4, LONGEST_WORD = 16 << 10 };

void wrap_init(struct wrap *wrap, struct output *output, unsigned width)
{
    *wrap = (struct wrap){.output = output, .width = width};
}

void wrap_release(struct wrap *wrap)
{
    styled_release(&wrap->word);
    styled_release(&wrap->first);
    styled_release(&wrap->rest);
}

static void write_piece(struct wrap *wrap, const struct styled *piece)
{
    if (piece->bytes.failed)
        output_fail(wrap->output, ENOMEM);
    if (piece->bytes.length)
        output_own(wrap->output, piece->bytes.data);
    wrap->column += piece->width;
}

static void open_line(struct wrap *wrap, const struct styled *prefix)
{
    if (!wrap->open)
        write_piece(wrap, prefix);
    wrap->open = true;
}

static void break_line(struct wrap *wrap)
{
    output_own(wrap->output, "\n");
    wrap->column = 0;
    wrap->open = false;
    open_line(wrap, &wrap->rest);
}

/* Writes the word that is coming, as it is. */
static void flush(struct wrap *wrap)
{
    if (wrap->word.bytes.length == 0)
        return;
    styled_end(&wrap->word);
    open_line(wrap, &wrap->first);
    if (wrap->column + wrap->spaces + wrap->word.width > wrap->width &&
        wrap->column > wrap->rest.width)
        break_line(wrap);
    else
        for (; wrap->spaces > 0; wrap->spaces--, wrap->column++)
            output_own(wrap->output, " ");
    wrap->spaces = 0;
    write_piece(wrap, &wrap->word);
    styled_reset(&wrap->word);
}

/* What must not begin a line in Chinese and Japanese text. */
static bool clings(int32_t code)
{
    static const int32_t closing[] = {
        0x3001, 0x3002, 0x3005, 0x3009, 0x300B, 0x300D, 0x300F, 0x3011, 0x3015, 0x30FB,
        0x30FC, 0xFF01, 0xFF09, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F, 0xFF5D};
    for (size_t i = 0; i < sizeof(closing) / sizeof(*closing); i++)
        if (closing[i] == code)
            return true;
    return false;
}

/* What must not end one. */
static bool opens(int32_t code)
{
    return code == 0x3008 || code == 0x300A || code == 0x300C || code == 0x300E ||
           code == 0x3010 || code == 0x3014 || code == 0xFF08 || code == 0xFF5B;
}

static bool is_ideographic(int32_t code)
{
    return code >= 0x2E80 && code < 0x1F000 && !(code >= 0xAC00 && code <= 0xD7AF) &&
           styled_char_width(code) == 2;
}

/* Between two characters without a space. */
static bool may_break(int32_t before, int32_t after)
{
    if (before < 0x80 && after < 0x80)
        return false;
    return (is_ideographic(before) || is_ideographic(after)) && !clings(after) &&
           !opens(before) && styled_char_width(after) > 0;
}

static void add_character(struct wrap *wrap, const char *data, size_t length, int32_t code,
                          unsigned style)
{
    if ((wrap->word.last && may_break(wrap->word.last, code)) ||
        wrap->word.bytes.length > LONGEST_WORD)
        flush(wrap);
    styled_add(&wrap->word, data, length, style);
}

void wrap_text(struct wrap *wrap, const char *data, size_t length, unsigned style)
{
    size_t n;
    for (size_t i = 0; i < length; i += n) {
        int32_t code = styled_decode(data + i, length - i, &n);
        if (code == '\n') {
            wrap_newline(wrap);
        } else if (code == ' ' || code == '\t') {
            flush(wrap);
            if (wrap->open) /* a line begins with a word */
                wrap->spaces += code == ' ' ? 1 : TAB_WIDTH;
        } else {
            add_character(wrap, data + i, n, code, style);
        }
    }
}

void wrap_verbatim(struct wrap *wrap, const char *data, size_t length, unsigned style)
{
    size_t n;
    flush(wrap);
    open_line(wrap, &wrap->first);
    for (size_t i = 0; i < length; i += n) {
        styled_decode(data + i, length - i, &n);
        styled_add(&wrap->word, data + i, n, style);
    }
    styled_end(&wrap->word);
    write_piece(wrap, &wrap->word);
    styled_reset(&wrap->word);
}

void wrap_newline(struct wrap *wrap)
{
    flush(wrap);
    output_own(wrap->output, "\n");
    wrap->column = 0;
    wrap->spaces = 0;
    wrap->open = false;
    /* Until it is told otherwise, the next line stands below this one. */
    styled_reset(&wrap->first);
    text_append(&wrap->first.bytes, wrap->rest.bytes.data, wrap->rest.bytes.length);
    wrap->first.width = wrap->rest.width;
}

void wrap_end_line(struct wrap *wrap)
{
    flush(wrap);
    if (wrap->open)
        wrap_newline(wrap);
}

void wrap_drop(struct wrap *wrap)
{
    styled_reset(&wrap->word);
    styled_reset(&wrap->first);
    styled_reset(&wrap->rest);
    wrap->column = 0;
    wrap->spaces = 0;
    wrap->open = false;
}
