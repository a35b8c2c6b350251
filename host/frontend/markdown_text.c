#include "frontend/markdown_text.h"

#include <errno.h>

#include "frontend/markdown_span.h"

enum { LONGEST_PIECE = 8 << 10 /* after which an open span is no span */ };

void markdown_text_reset(struct markdown *markdown)
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

/* A run that ends here may settle everything:
 * that is why the piece is looked at before the character joins it. */
void markdown_text_character(struct markdown *markdown, const char *character, size_t length)
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
        markdown_text_reset(markdown);
    }
    markdown->previous = character[0];
}

void markdown_text_add(struct markdown *markdown, const char *data, size_t length)
{
    size_t n;
    for (size_t i = 0; i < length; i += n) {
        styled_decode(data + i, length - i, &n);
        markdown_text_character(markdown, data + i, n);
    }
}

/* The line of text is whole.  A span that is open may go on in the next line. */
void markdown_text_end_line(struct markdown *markdown)
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
    markdown_text_reset(markdown);
    wrap_newline(&markdown->wrap);
}

/* What was open stays open for ever: it is shown as it is written. */
void markdown_text_end_paragraph(struct markdown *markdown)
{
    if (markdown->piece_spans_line) {
        markdown->piece_spans_line = false;
        show_piece(markdown);
        wrap_newline(&markdown->wrap);
    }
    markdown_text_reset(markdown);
    markdown->context.in_paragraph = false;
}

void markdown_text_continue(struct markdown *markdown)
{
    note(markdown, '\n');
    text_puts(&markdown->piece, " " MARKDOWN_LINE_END " ");
    markdown->previous = '\n';
}
