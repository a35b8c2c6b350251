#include "frontend/markdown.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/utf8.h"
#include "frontend/markdown_span.h"

enum {
    DEFAULT_WIDTH = 80,
    NARROWEST = 20,
    WIDEST = 1000,
    LONGEST_PIECE = 8 << 10, /* after which an open span is no span */
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
    struct winsize size = {0};
    if (ioctl(output->fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
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

/* ---- text with spans ---- */

static void reset_spans(struct markdown *markdown)
{
    text_reset(&markdown->piece);
    markdown->open_count = 0;
    markdown->stuck = false;
    markdown->run = 0;
    markdown->run_length = 0;
    markdown->previous = ' ';
    markdown->before_run = ' ';
    markdown->escaped = false;
}

static void show_piece(struct markdown *markdown)
{
    struct text *piece = &markdown->piece;
    if (piece->failed)
        output_fail(markdown->output, ENOMEM);
    else if (piece->length)
        markdown_show_spans(&markdown->wrap, piece->data, piece->length, markdown->style);
    text_reset(piece);
}

static bool is_settled(const struct markdown *markdown)
{
    return markdown->open_count == 0 && !markdown->stuck && !markdown->escaped;
}

static void push(struct markdown *markdown, char what, unsigned length)
{
    if (markdown->open_count == MARKDOWN_MAX_OPEN)
        markdown->stuck = true;
    else
        markdown->open[markdown->open_count++] = (struct markdown_open){what, length};
}

static const struct markdown_open *innermost(const struct markdown *markdown)
{
    return markdown->open_count ? &markdown->open[markdown->open_count - 1] : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

static bool in_code(const struct markdown *markdown)
{
    return markdown->open_count && innermost(markdown)->what == '`';
}

/* The run of delimiters that ended before `next`: does it open or close? */
static void end_run(struct markdown *markdown, char next)
{
    char what = markdown->run;
    unsigned length = markdown->run_length;
    const struct markdown_open *last = innermost(markdown);
    bool matches = last && last->what == what && last->length == length;
    bool may_open = !is_blank(next);
    bool may_close = !is_blank(markdown->before_run);
    markdown->run = 0;
    markdown->run_length = 0;
    if (what == '`') {
        if (matches)
            markdown->open_count--;
        else if (!in_code(markdown))
            push(markdown, what, length);
        return;
    }
    if (what == '_' && is_word(next) && is_word(markdown->before_run))
        return; /* inside a name */
    if (may_close && matches)
        markdown->open_count--;
    else if (may_open)
        push(markdown, what, length);
    else if (may_close && last && last->what == what)
        markdown->stuck = true;
}

/* Brackets: the text of a link, then its address. */
static void note_bracket(struct markdown *markdown, char c)
{
    const struct markdown_open *last = innermost(markdown);
    if (c == '[')
        push(markdown, '[', 1);
    else if (c == '(' && markdown->previous == ']')
        push(markdown, '(', 1);
    else if (c == '(' && last && last->what == '(')
        push(markdown, '(', 1);
    else if ((c == ']' && last && last->what == '[') || (c == ')' && last && last->what == '('))
        markdown->open_count--;
}

/* What this byte of the text opens or closes. */
static void note(struct markdown *markdown, char c)
{
    if (markdown->escaped) {
        markdown->escaped = false;
        return;
    }
    if (markdown->run && c == markdown->run) {
        markdown->run_length++;
        return;
    }
    if (markdown->run)
        end_run(markdown, c);
    if (c == '`' || (!in_code(markdown) && (c == '*' || c == '_' || c == '~'))) {
        markdown->run = c;
        markdown->run_length = 1;
        markdown->before_run = markdown->previous;
    } else if (!in_code(markdown)) {
        markdown->escaped = c == '\\';
        note_bracket(markdown, c);
    }
}

static bool is_wide(const char *character, size_t length)
{
    size_t unused;
    return length >= 3 && styled_char_width(styled_decode(character, length, &unused)) == 2;
}

/* One character of text that is no line end.  A run that ends here may settle everything:
 * that is why the piece is looked at before the character joins it. */
static void add_character(struct markdown *markdown, const char *character, size_t length)
{
    bool blank = length == 1 && is_blank(character[0]);
    bool wide = is_wide(character, length);
    if (markdown->run && markdown->run != character[0])
        end_run(markdown, character[0]);
    if ((blank || wide) && is_settled(markdown))
        show_piece(markdown);
    if (blank && is_settled(markdown)) {
        wrap_text(&markdown->wrap, character, length, 0);
    } else {
        note(markdown, character[0]);
        text_append(&markdown->piece, character, length);
        if (wide && is_settled(markdown))
            show_piece(markdown);
    }
    if (markdown->piece.length > LONGEST_PIECE) {
        show_piece(markdown);
        reset_spans(markdown);
    }
    markdown->previous = character[0];
}

static void add_text(struct markdown *markdown, const char *data, size_t length)
{
    size_t n;
    for (size_t i = 0; i < length; i += n) {
        styled_decode(data + i, length - i, &n);
        add_character(markdown, data + i, n);
    }
}

/* The line of text is whole.  A span that is open may go on in the next line. */
static void end_text_line(struct markdown *markdown)
{
    if (markdown->run)
        end_run(markdown, '\n');
    if (markdown->escaped) { /* a backslash at the line's end is a line break */
        markdown->escaped = false;
        if (markdown->piece.length)
            markdown->piece.data[--markdown->piece.length] = '\0';
    }
    markdown->in_text = false;
    if (markdown->context.in_paragraph && markdown->piece.length && !is_settled(markdown)) {
        markdown->piece_spans_line = true;
        return;
    }
    show_piece(markdown);
    reset_spans(markdown);
    wrap_newline(&markdown->wrap);
}

/* What was open stays open for ever: it is shown as it is written. */
static void end_paragraph(struct markdown *markdown)
{
    if (markdown->piece_spans_line) {
        markdown->piece_spans_line = false;
        show_piece(markdown);
        wrap_newline(&markdown->wrap);
    }
    reset_spans(markdown);
    markdown->context.in_paragraph = false;
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
        note(markdown, '\n');
        text_puts(&markdown->piece, " " MARKDOWN_LINE_END " ");
        markdown->previous = '\n';
        begin_text(markdown, markdown->style);
        return;
    }
    if (!goes_on)
        end_paragraph(markdown);
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
    bool closes = line_closes_fence(data + at, length - at, markdown->fence, markdown->fence_length);
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
        end_paragraph(markdown);
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
        add_text(markdown, data + taken, held->length - taken);
    text_reset(held);
    if (ended && markdown->in_text)
        end_text_line(markdown);
}

/* One character, so that it makes no difference how many come together. */
static void take_character(struct markdown *markdown, const char *character, size_t length)
{
    bool line_end = character[0] == '\n';
    if (markdown->in_text) {
        if (line_end)
            end_text_line(markdown);
        else
            add_character(markdown, character, length);
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
        reset_spans(markdown);
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
    end_paragraph(markdown);
    wrap_end_line(&markdown->wrap);
    markdown_drop(markdown);
}

void markdown_drop(struct markdown *markdown)
{
    reset_spans(markdown);
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
