#include "frontend/markdown.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "frontend/markdown_span.h"
#include "frontend/markdown_text.h"

enum {
    NARROWEST = 20,
    WIDEST = 1000,
    LARGEST_TABLE = 256 << 10
};

bool markdown_suits(const struct output *output)
{
    return output->terminal && output->color;
}

void markdown_init(struct markdown *markdown, struct output *output, unsigned width)
{
    *markdown = (struct markdown){.output = output, .ask_width = width == 0};
    wrap_init(&markdown->wrap, output, width);
}

void markdown_release(struct markdown *markdown)
{
    wrap_release(&markdown->wrap);
    text_release(&markdown->held);
    text_release(&markdown->line);
    text_release(&markdown->piece);
    text_release(&markdown->table);
}

static unsigned terminal_width(const struct output *output)
{
    unsigned width = output_width(output);
    return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

/* ---- how lines begin ---- */

static void add_string(struct styled *styled, const char *string, unsigned style)
{
    size_t n, left = strlen(string);
    for (; left > 0; string += n, left -= n) {
        styled_decode(string, left, &n);
        styled_add(styled, string, n, style);
    }
}

static void set_prefix(struct styled *prefix, unsigned quotes, unsigned indent)
{
    styled_reset(prefix);
    for (; quotes > 0; quotes--)
        add_string(prefix, "│ ", STYLE_DIM);
    for (; indent > 0; indent--)
        add_string(prefix, " ", 0);
    styled_end(prefix);
}

static void set_prefixes(struct markdown *markdown, unsigned quotes, unsigned indent)
{
    set_prefix(&markdown->wrap.first, quotes, indent);
    set_prefix(&markdown->wrap.rest, quotes, indent);
}

/* The blank line that stands before what comes now. */
static void pay_blank(struct markdown *markdown, unsigned quotes)
{
    if (markdown->blank && markdown->any) {
        unsigned common = quotes < markdown->quotes ? quotes : markdown->quotes;
        set_prefixes(markdown, common, 0);
        if (common)
            wrap_verbatim(&markdown->wrap, "", 0, 0);
        wrap_newline(&markdown->wrap);
    }
    markdown->blank = false;
    markdown->any = true;
}

/* ---- lines ---- */

static void end_table(struct markdown *markdown)
{
    struct text *table = &markdown->table;
    if (table->failed)
        output_fail(markdown->output, ENOMEM);
    else if (table->length)
        markdown_show_table(&markdown->wrap, table->data, table->length);
    text_reset(table);
}

static void begin_text(struct markdown *markdown, unsigned style)
{
    markdown->style = style;
    markdown->in_text = true;
}

static void begin_paragraph_line(struct markdown *markdown, const struct line *line)
{
    bool goes_on = markdown->context.in_paragraph && line->quotes == markdown->quotes;
    if (goes_on && markdown->piece_spans_line) {
        markdown->piece_spans_line = false;
        markdown_text_continue(markdown);
        begin_text(markdown, markdown->style);
        return;
    }
    if (!goes_on)
        markdown_text_end_paragraph(markdown);
    if (line->indent == 0 && !goes_on)
        markdown->context.in_list = false;
    unsigned indent = markdown->context.in_list ? markdown->hang : 0;
    if (markdown->context.in_list && line->indent > 0 && line->indent < indent)
        indent = line->indent;
    pay_blank(markdown, line->quotes);
    set_prefixes(markdown, line->quotes, indent);
    markdown->context.in_paragraph = true;
    begin_text(markdown, 0);
}

static void begin_item(struct markdown *markdown, const struct line *line)
{
    const char *marker = line->task == 'x' ? "☑" : line->task ? "☐" : "•";
    if (line->marker[0])
        marker = line->marker;
    pay_blank(markdown, line->quotes);
    set_prefix(&markdown->wrap.first, line->quotes, line->indent);
    add_string(&markdown->wrap.first, marker, 0);
    add_string(&markdown->wrap.first, " ", 0);
    if (line->marker[0] && line->task)
        add_string(&markdown->wrap.first, line->task == 'x' ? "☑ " : "☐ ", 0);
    markdown->hang = markdown->wrap.first.width - 2 * line->quotes;
    set_prefix(&markdown->wrap.rest, line->quotes, markdown->hang);
    wrap_verbatim(&markdown->wrap, "", 0, 0); /* the marker is there at once */
    markdown->context.in_list = true;
    markdown->context.in_paragraph = true;
    begin_text(markdown, 0);
}

static void show_rule(struct markdown *markdown, const struct line *line)
{
    pay_blank(markdown, line->quotes);
    set_prefixes(markdown, line->quotes, 0);
    wrap_verbatim(&markdown->wrap, "", 0, 0);
    unsigned width = markdown->wrap.width > 40 ? 40 : markdown->wrap.width;
    for (unsigned i = markdown->wrap.column; i < width; i++)
        wrap_verbatim(&markdown->wrap, "─", strlen("─"), STYLE_DIM);
    wrap_newline(&markdown->wrap);
}

static void show_verbatim_line(struct markdown *markdown, const char *data, size_t length,
                               unsigned style)
{
    if (length)
        wrap_verbatim(&markdown->wrap, data, length, style);
    wrap_newline(&markdown->wrap);
}

static void begin_fence(struct markdown *markdown, const struct line *line, const char *data,
                        size_t length)
{
    bool in_item = markdown->context.in_list && line->indent > 0;
    if (!in_item)
        markdown->context.in_list = false;
    pay_blank(markdown, line->quotes);
    set_prefixes(markdown, line->quotes, in_item ? line->indent : 0);
    show_verbatim_line(markdown, data + line->start, length - line->start, STYLE_DIM);
    markdown->in_fence = true;
    markdown->fence = line->fence;
    markdown->fence_length = line->fence_length;
    markdown->fence_indent = line->indent;
}

/* False when the line is not the fence's any more. */
static bool take_fence_line(struct markdown *markdown, const char *data, size_t length)
{
    unsigned quotes;
    size_t at = line_skip_quotes(data, length, markdown->quotes, &quotes);
    if (quotes < markdown->quotes) {
        markdown->in_fence = false;
        return false;
    }
    for (unsigned i = 0; i < markdown->fence_indent && at < length && data[at] == ' '; i++)
        at++;
    bool closes =
        line_closes_fence(data + at, length - at, markdown->fence, markdown->fence_length);
    show_verbatim_line(markdown, data + at, length - at, closes ? STYLE_DIM : 0);
    if (closes)
        markdown->in_fence = false;
    return true;
}

static void take_table_line(struct markdown *markdown, const struct line *line, const char *data,
                            size_t length)
{
    bool other = markdown->table.length &&
                 (line->quotes != markdown->table_quotes || markdown->table.length > LARGEST_TABLE);
    if (other)
        end_table(markdown);
    if (!markdown->table.length) {
        bool in_item = markdown->context.in_list && line->indent > 0;
        pay_blank(markdown, line->quotes);
        set_prefixes(markdown, line->quotes, in_item ? line->indent : 0);
    }
    markdown->table_quotes = line->quotes;
    text_append(&markdown->table, data + line->start, length - line->start);
    text_putc(&markdown->table, '\n');
}

/* A line, or the beginning of one that tells what it is.  Returns how much of it is taken;
 * the rest is text. */
static size_t begin_line(struct markdown *markdown, const struct line *line, const char *data,
                         size_t length)
{
    if (line->kind != LINE_TABLE)
        end_table(markdown);
    if (line->kind != LINE_TEXT)
        markdown_text_end_paragraph(markdown);
    size_t taken = length;
    switch (line->kind) {
    case LINE_TEXT:
        begin_paragraph_line(markdown, line);
        taken = line->start;
        break;
    case LINE_HEADING:
        markdown->context.in_list = false;
        pay_blank(markdown, line->quotes);
        set_prefixes(markdown, line->quotes, 0);
        begin_text(markdown, STYLE_BOLD);
        taken = line->content;
        break;
    case LINE_ITEM:
        begin_item(markdown, line);
        taken = line->content;
        break;
    case LINE_RULE:
        markdown->context.in_list = false;
        show_rule(markdown, line);
        break;
    case LINE_FENCE:
        begin_fence(markdown, line, data, length);
        break;
    case LINE_TABLE:
        take_table_line(markdown, line, data, length);
        break;
    case LINE_CODE:
        pay_blank(markdown, line->quotes);
        set_prefixes(markdown, line->quotes, line->indent);
        show_verbatim_line(markdown, data + line->start, length - line->start, 0);
        break;
    case LINE_BLANK:
    case LINE_UNDECIDED:
        markdown->blank = true;
        break;
    }
    if (line->kind != LINE_BLANK || line->quotes)
        markdown->quotes = line->quotes;
    return taken;
}

static bool needs_whole_line(enum line_kind kind)
{
    return kind == LINE_FENCE || kind == LINE_TABLE || kind == LINE_CODE;
}

/* The held line grew, or ended. */
static void look_at_line(struct markdown *markdown, bool ended)
{
    struct text *held = &markdown->line;
    struct line line;
    const char *data = text_cstr(held);
    if (markdown->in_fence && take_fence_line(markdown, data, held->length)) {
        text_reset(held);
        return;
    }
    line_classify(&line, data, held->length, ended, &markdown->context);
    markdown->whole_line = !ended && needs_whole_line(line.kind);
    if (!ended && (line.kind == LINE_UNDECIDED || markdown->whole_line))
        return;
    size_t taken = begin_line(markdown, &line, data, held->length);
    if (taken < held->length)
        markdown_text_add(markdown, data + taken, held->length - taken);
    text_reset(held);
    if (ended && markdown->in_text)
        markdown_text_end_line(markdown);
}

/* One character, so that it makes no difference how many come together. */
static void take_character(struct markdown *markdown, const char *character, size_t length)
{
    bool line_end = character[0] == '\n';
    if (markdown->in_text) {
        if (line_end)
            markdown_text_end_line(markdown);
        else
            markdown_text_character(markdown, character, length);
        return;
    }
    if (!line_end)
        text_append(&markdown->line, character, length);
    if (line_end || (!markdown->in_fence && !markdown->whole_line))
        look_at_line(markdown, line_end);
}

/* How many bytes of `text` are whole characters. */
static size_t whole_characters(const struct text *text)
{
    for (size_t back = 1; back <= 3 && back <= text->length; back++) {
        unsigned char byte = (unsigned char)text->data[text->length - back];
        size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        if ((byte & 0xC0) != 0x80)
            return wanted > back ? text->length - back : text->length;
    }
    return text->length;
}

static void take(struct markdown *markdown, const char *data, size_t length)
{
    struct text visible = TEXT_INIT;
    size_t n;
    utf8_append_visible(&visible, data, length);
    for (size_t i = 0; i < visible.length; i += n) {
        styled_decode(visible.data + i, visible.length - i, &n);
        take_character(markdown, visible.data + i, n);
    }
    if (visible.failed || markdown->line.failed)
        output_fail(markdown->output, ENOMEM);
    text_release(&visible);
}

void markdown_feed(struct markdown *markdown, const char *data, size_t length)
{
    struct text *held = &markdown->held;
    if (!markdown->started)
        markdown_text_reset(markdown);
    markdown->started = true;
    if (markdown->ask_width)
        markdown->wrap.width = terminal_width(markdown->output);
    text_append(held, data, length);
    size_t whole = whole_characters(held);
    if (whole == 0)
        return;
    take(markdown, held->data, whole);
    memmove(held->data, held->data + whole, held->length - whole + 1);
    held->length -= whole;
}

void markdown_end(struct markdown *markdown)
{
    if (!markdown->started)
        return;
    take(markdown, text_cstr(&markdown->held), markdown->held.length);
    if (markdown->in_text || markdown->line.length)
        take_character(markdown, "\n", 1);
    end_table(markdown);
    markdown_text_end_paragraph(markdown);
    wrap_end_line(&markdown->wrap);
    markdown_drop(markdown);
}

void markdown_drop(struct markdown *markdown)
{
    markdown_text_reset(markdown);
    text_reset(&markdown->held);
    text_reset(&markdown->line);
    text_reset(&markdown->table);
    markdown->context = (struct line_context){0};
    markdown->started = markdown->in_text = markdown->in_fence = false;
    markdown->whole_line = markdown->piece_spans_line = false;
    markdown->blank = markdown->any = false;
    markdown->quotes = markdown->hang = 0;
    wrap_drop(&markdown->wrap);
}
