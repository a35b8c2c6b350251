#include "frontend/styled.h"

enum { VARIATION_EMOJI = 0xFE0F, REGIONAL_FIRST = 0x1F1E6, REGIONAL_LAST = 0x1F1FF };

int32_t styled_decode(const char *data, size_t left, size_t *length)
{
    const unsigned char *p = (const unsigned char *)data;
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (n > left)
        n = left;
    int32_t code = p[0] & masks[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3F);
    *length = n;
    return code;
}

unsigned styled_char_width(int32_t code)
{
    const struct text_api *api = code < 0x80 ? NULL : text_api();
    int width = api ? api->charwidth(code) : 1;
    return width < 0 ? 0 : (unsigned)width;
}

static void measure(struct styled *styled, int32_t code)
{
    const struct text_api *api = code < 0x80 && styled->last < 0x80 ? NULL : text_api();
    unsigned width = styled_char_width(code);
    bool joins = api && styled->last &&
                 !api->grapheme_break(styled->last, code, &styled->break_state);
    if (!joins) {
        styled->cluster_width = width;
        styled->width += width;
    } else {
        bool wide = code == VARIATION_EMOJI || (code >= REGIONAL_FIRST && code <= REGIONAL_LAST);
        unsigned whole = wide ? 2 : width;
        if (whole > styled->cluster_width) {
            styled->width += whole - styled->cluster_width;
            styled->cluster_width = whole;
        }
    }
    styled->last = code;
}

static void switch_style(struct styled *styled, unsigned style)
{
    static const struct {
        unsigned style;
        const char *sequence;
    } sequences[] = {{STYLE_BOLD, "\033[1m"},   {STYLE_DIM, "\033[2m"},
                     {STYLE_ITALIC, "\033[3m"}, {STYLE_UNDERLINE, "\033[4m"},
                     {STYLE_STRIKE, "\033[9m"}, {STYLE_CODE, "\033[36m"}};
    if (styled->style == style)
        return;
    if (styled->style & ~style) {
        text_puts(&styled->bytes, "\033[0m");
        styled->style = 0;
    }
    for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
        if (style & ~styled->style & sequences[i].style)
            text_puts(&styled->bytes, sequences[i].sequence);
    styled->style = style;
}

void styled_add(struct styled *styled, const char *bytes, size_t length, unsigned style)
{
    size_t unused;
    switch_style(styled, style);
    measure(styled, styled_decode(bytes, length, &unused));
    text_append(&styled->bytes, bytes, length);
}

void styled_end(struct styled *styled)
{
    switch_style(styled, 0);
}

void styled_reset(struct styled *styled)
{
    text_reset(&styled->bytes);
    *styled = (struct styled){.bytes = styled->bytes};
}

void styled_release(struct styled *styled)
{
    text_release(&styled->bytes);
    *styled = (struct styled){0};
}
