#include "frontend/markdown_span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

/* Stands before each piece, so that no marker in it begins a block for md4c. */
static const char guard[] = ". ";
/* What is a marker for md4c: a piece without any is shown as it is. */
static const char markers[] = "*_`[]<>&~\\!" MARKDOWN_LINE_END;

enum { MAX_COLUMNS = 64, GAP = 2 };

struct cell {
    struct styled text;
    MD_ALIGN align;
};

/* Where md4c is in the piece. */
struct spans {
    struct wrap *wrap;
    unsigned style;    /* of the text around */
    unsigned depth[6]; /* how often each style of enum style is entered, by bit */
    size_t skip;       /* bytes of the guard to come */
    struct text link;  /* what was shown of the link that is open */
    bool in_link;

    /* a table */
    struct cell *cells; /* row by row */
    size_t cell_count;
    size_t cell_capacity;
    size_t columns;
    size_t head_cells;
    bool in_cell;
    bool failed;
};

/* ---- text ---- */

static unsigned current_style(const struct spans *spans)
{
    unsigned style = spans->style;
    for (unsigned bit = 0; bit < 6; bit++)
        if (spans->depth[bit])
            style |= 1u << bit;
    return style;
}

static void add_to_cell(struct spans *spans, const char *data, size_t length, unsigned style)
{
    struct styled *cell = &spans->cells[spans->cell_count - 1].text;
    size_t n;
    for (size_t i = 0; i < length; i += n) {
        styled_decode(data + i, length - i, &n);
        bool space = n == 1 && (data[i] == '\n' || data[i] == '\t');
        styled_add(cell, space ? " " : data + i, n, style);
    }
}

static void show_run(struct spans *spans, const char *data, size_t length, unsigned style)
{
    if (spans->in_cell)
        add_to_cell(spans, data, length, style);
    else
        wrap_text(spans->wrap, data, length, style);
}

/* Line ends of the piece become such on the terminal. */
static void show(struct spans *spans, const char *data, size_t length, unsigned style)
{
    const char *end;
    while (length && (end = memchr(data, MARKDOWN_LINE_END[0], length))) {
        size_t run = (size_t)(end - data);
        show_run(spans, data, run, style);
        show_run(spans, "\n", 1, 0);
        data += run + 1;
        length -= run + 1;
    }
    show_run(spans, data, length, style);
}

/* "&amp;", "&#233;": the few that a model writes; every other is shown as it is written. */
static size_t entity(const char *data, size_t length, char out[8])
{
    static const struct {
        const char *name, *text;
    } known[] = {{"&amp;", "&"},  {"&lt;", "<"},        {"&gt;", ">"},
                 {"&quot;", "\""}, {"&apos;", "'"},      {"&nbsp;", "\302\240"},
                 {"&mdash;", "—"}, {"&ndash;", "–"},     {"&hellip;", "…"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, data, length) == 0) {
            size_t n = strlen(known[i].text);
            memcpy(out, known[i].text, n);
            return n;
        }
    if (length < 4 || data[1] != '#' || length > 11)
        return 0;
    char digits[12] = "";
    bool hex = data[2] == 'x' || data[2] == 'X';
    memcpy(digits, data + (hex ? 3 : 2), length - (hex ? 4 : 3));
    unsigned long code = strtoul(digits, NULL, hex ? 16 : 10);
    if (code < 0x20 || code > 0x10FFFF)
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | code);
    return n;
}

static void show_entity(struct spans *spans, const char *data, size_t length)
{
    char decoded[8];
    size_t n = entity(data, length, decoded);
    struct text visible = TEXT_INIT;
    utf8_append_visible(&visible, n ? decoded : data, n ? n : length);
    show(spans, text_cstr(&visible), visible.length, current_style(spans));
    text_release(&visible);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *data, MD_SIZE size, void *userdata)
{
    struct spans *spans = userdata;
    size_t length = size;
    if (spans->skip) {
        size_t skipped = length < spans->skip ? length : spans->skip;
        data += skipped;
        length -= skipped;
        spans->skip -= skipped;
    }
    if (length == 0)
        return 0;
    if (spans->in_link)
        text_append(&spans->link, data, length);
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR)
        show(spans, "\n", 1, 0);
    else if (type == MD_TEXT_ENTITY)
        show_entity(spans, data, length);
    else
        show(spans, data, length, current_style(spans));
    return 0;
}

/* ---- spans ---- */

static unsigned style_of(MD_SPANTYPE type)
{
    switch (type) {
    case MD_SPAN_EM:
        return STYLE_ITALIC;
    case MD_SPAN_STRONG:
        return STYLE_BOLD;
    case MD_SPAN_CODE:
        return STYLE_CODE;
    case MD_SPAN_DEL:
        return STYLE_STRIKE;
    case MD_SPAN_A:
    case MD_SPAN_IMG:
        return STYLE_UNDERLINE;
    default:
        return 0;
    }
}

static void count_style(struct spans *spans, MD_SPANTYPE type, bool enters)
{
    unsigned style = style_of(type);
    for (unsigned bit = 0; bit < 6; bit++)
        if (style & 1u << bit)
            spans->depth[bit] = enters ? spans->depth[bit] + 1 : spans->depth[bit] - 1;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *userdata)
{
    struct spans *spans = userdata;
    (void)detail;
    count_style(spans, type, true);
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
        text_reset(&spans->link);
        spans->in_link = true;
    }
    return 0;
}

/* Where the link leads, unless its text says so. */
static void show_address(struct spans *spans, const MD_ATTRIBUTE *address)
{
    spans->in_link = false;
    if (address->size == 0)
        return;
    if (address->size == spans->link.length &&
        memcmp(address->text, text_cstr(&spans->link), address->size) == 0)
        return;
    show(spans, " (", 2, STYLE_DIM);
    struct text visible = TEXT_INIT;
    utf8_append_visible(&visible, address->text, address->size);
    show(spans, text_cstr(&visible), visible.length, STYLE_DIM);
    text_release(&visible);
    show(spans, ")", 1, STYLE_DIM);
}

static int leave_span(MD_SPANTYPE type, void *detail, void *userdata)
{
    struct spans *spans = userdata;
    count_style(spans, type, false);
    if (type == MD_SPAN_A)
        show_address(spans, &((MD_SPAN_A_DETAIL *)detail)->href);
    else if (type == MD_SPAN_IMG)
        show_address(spans, &((MD_SPAN_IMG_DETAIL *)detail)->src);
    return 0;
}

/* ---- blocks: only tables have any that matter ---- */

static int enter_block(MD_BLOCKTYPE type, void *detail, void *userdata)
{
    struct spans *spans = userdata;
    if (type == MD_BLOCK_TABLE) {
        spans->columns = ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
    } else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        if (!array_grow(&spans->cells, &spans->cell_capacity, spans->cell_count, 1,
                        sizeof(*spans->cells))) {
            spans->failed = true;
            return 1;
        }
        spans->cells[spans->cell_count++] =
            (struct cell){.align = ((MD_BLOCK_TD_DETAIL *)detail)->align};
        spans->in_cell = true;
        if (type == MD_BLOCK_TH) {
            spans->head_cells = spans->cell_count;
            spans->depth[0]++; /* bold */
        }
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *userdata)
{
    struct spans *spans = userdata;
    (void)detail;
    if (type == MD_BLOCK_TH)
        spans->depth[0]--;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        styled_end(&spans->cells[spans->cell_count - 1].text);
        spans->in_cell = false;
    }
    return 0;
}

static bool parse(struct spans *spans, const char *data, size_t length, unsigned more_flags)
{
    const MD_PARSER parser = {
        .flags = MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS | MD_FLAG_STRIKETHROUGH |
                 more_flags,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = on_text,
    };
    const struct text_api *api = text_api();
    return api && api->parse(data, (MD_SIZE)length, &parser, spans) == 0;
}

void markdown_show_spans(struct wrap *wrap, const char *data, size_t length, unsigned style)
{
    struct spans spans = {.wrap = wrap, .style = style, .skip = sizeof(guard) - 1};
    struct text guarded = TEXT_INIT;
    text_puts(&guarded, guard);
    text_append(&guarded, data, length);
    if (!strpbrk(text_cstr(&guarded), markers))
        wrap_text(wrap, data, length, style);
    else if (guarded.failed || !parse(&spans, guarded.data, guarded.length, 0))
        output_fail(wrap->output, ENOMEM);
    text_release(&guarded);
    text_release(&spans.link);
}

/* ---- tables ---- */

static unsigned column_width(const struct spans *spans, size_t column)
{
    unsigned width = 0;
    for (size_t i = column; i < spans->cell_count; i += spans->columns)
        if (spans->cells[i].text.width > width)
            width = spans->cells[i].text.width;
    return width;
}

static void add_spaces(struct text *line, unsigned count)
{
    for (; count > 0; count--)
        text_putc(line, ' ');
}

static void add_cell(struct text *line, const struct cell *cell, unsigned width, bool last)
{
    unsigned free_columns = width - cell->text.width;
    unsigned left = cell->align == MD_ALIGN_RIGHT    ? free_columns
                    : cell->align == MD_ALIGN_CENTER ? free_columns / 2
                                                     : 0;
    add_spaces(line, left);
    text_append(line, cell->text.bytes.data, cell->text.bytes.length);
    if (!last)
        add_spaces(line, free_columns - left + GAP);
}

/* Lines that are made here have their own escape sequences and are as wide as they are. */
static void show_line(struct wrap *wrap, struct text *line)
{
    wrap_verbatim(wrap, "", 0, 0);
    if (line->failed)
        output_fail(wrap->output, ENOMEM);
    output_own(wrap->output, text_cstr(line));
    wrap_newline(wrap);
    text_reset(line);
}

static void show_grid(const struct spans *spans, const unsigned *widths, unsigned total)
{
    struct text line = TEXT_INIT;
    for (size_t i = 0; i < spans->cell_count; i++) {
        size_t column = i % spans->columns;
        bool last = column + 1 == spans->columns;
        add_cell(&line, &spans->cells[i], widths[column], last);
        if (!last)
            continue;
        show_line(spans->wrap, &line);
        if (i + 1 != spans->head_cells)
            continue;
        text_puts(&line, "\033[2m");
        for (unsigned c = 0; c < total; c++)
            text_puts(&line, "─");
        text_puts(&line, "\033[0m");
        show_line(spans->wrap, &line);
    }
    text_release(&line);
}

/* Too wide for the terminal: each row as lines "heading: value". */
static void show_records(const struct spans *spans)
{
    struct text line = TEXT_INIT;
    for (size_t i = spans->head_cells; i < spans->cell_count; i++) {
        size_t column = i % spans->columns;
        const struct text *heading = &spans->cells[column].text.bytes;
        const struct text *value = &spans->cells[i].text.bytes;
        if (column == 0 && i > spans->head_cells)
            show_line(spans->wrap, &line);
        text_append(&line, heading->data, heading->length);
        text_puts(&line, ": ");
        text_append(&line, value->data, value->length);
        show_line(spans->wrap, &line);
    }
    text_release(&line);
}

static void show_table(const struct spans *spans)
{
    unsigned widths[MAX_COLUMNS];
    unsigned total = 0;
    if (spans->columns > MAX_COLUMNS) {
        show_records(spans);
        return;
    }
    for (size_t i = 0; i < spans->columns; i++) {
        widths[i] = column_width(spans, i);
        total += widths[i] + (i > 0 ? GAP : 0);
    }
    if (total + spans->wrap->first.width <= spans->wrap->width)
        show_grid(spans, widths, total);
    else
        show_records(spans);
}

void markdown_show_table(struct wrap *wrap, const char *data, size_t length)
{
    struct spans spans = {.wrap = wrap};
    bool parsed = parse(&spans, data, length, MD_FLAG_TABLES);
    if (!parsed && (spans.failed || !text_api()))
        output_fail(wrap->output, ENOMEM);
    if (spans.columns > 0 && spans.cell_count > 0)
        show_table(&spans);
    wrap_end_line(wrap);
    for (size_t i = 0; i < spans.cell_count; i++)
        styled_release(&spans.cells[i].text);
    free(spans.cells);
    text_release(&spans.link);
}
