#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 4096, QUOTES_MAX = 8 };

void page_begin(struct page *page, size_t most)
{
    *page = (struct page){.most = most};
}

void page_release(struct page *page)
{
    free(page->text);
    page->text = NULL;
}

static bool has_room(struct page *page, size_t length)
{
    if (page->full || page->failed)
        return false;
    if (length > page->most - page->length) {
        page->full = true;
        return false;
    }
    size_t capacity = page->capacity ? page->capacity : FIRST_BYTES;
    while (capacity < page->length + length)
        capacity *= 2;
    if (capacity == page->capacity)
        return true;
    char *grown = realloc(page->text, capacity);
    page->failed = !grown;
    if (!grown)
        return false;
    page->text = grown;
    page->capacity = capacity;
    return true;
}

static void append(struct page *page, const char *text, size_t length)
{
    if (!has_room(page, length))
        return;
    memcpy(page->text + page->length, text, length);
    page->length += length;
}

static void quote(struct page *page)
{
    for (unsigned i = 0; i < page->quotes && i < QUOTES_MAX; i++)
        append(page, "> ", 2);
}

/* What was put off until something comes. */
static void settle(struct page *page)
{
    for (int i = 0; page->length && i < page->breaks; i++)
        append(page, "\n", 1);
    if (!page->length || page->breaks)
        quote(page);
    else if (page->space)
        append(page, " ", 1);
    page->breaks = 0;
    page->space = false;
}

void page_hold(struct page *page)
{
    page->hold = page->length;
}

static bool is_held(const struct page *page)
{
    return page->length && page->length == page->hold;
}

void page_mark(struct page *page, const char *text)
{
    settle(page);
    append(page, text, strlen(text));
}

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
}

/* A line end is put off like any other: the last one of a block is not seen. */
static void add_literal(struct page *page, const char *text, size_t length)
{
    for (size_t i = 0; i < length && !page->full; i++) {
        if (text[i] == '\r')
            continue;
        if (text[i] == '\n') {
            settle(page);
            page->breaks = 1;
        } else {
            settle(page);
            append(page, &text[i], 1);
        }
    }
}

void page_text(struct page *page, const char *text, size_t length)
{
    if (page->literal) {
        add_literal(page, text, length);
        return;
    }
    for (size_t at = 0; at < length && !page->full;) {
        size_t end = at;
        while (end < length && is_space(text[end]) == is_space(text[at]))
            end++;
        if (is_space(text[at])) {
            page->space = !is_held(page);
        } else {
            settle(page);
            append(page, text + at, end - at);
        }
        at = end;
    }
}

void page_break(struct page *page, int breaks)
{
    if (page->breaks < breaks && !is_held(page))
        page->breaks = breaks;
    page->space = false;
}

void page_join(struct page *page)
{
    if (is_held(page))
        return; /* they are from before that */
    page->breaks = 0;
    page->space = false;
}

void page_list(struct page *page, bool is_numbered)
{
    page_break(page, page->lists ? 1 : 2);
    if (page->lists < PAGE_LISTS)
        page->numbers[page->lists] = is_numbered ? 0 : -1;
    page->lists++;
}

void page_list_end(struct page *page)
{
    if (page->lists)
        page->lists--;
    page_break(page, page->lists ? 1 : 2);
}

void page_item(struct page *page)
{
    char mark[2 * PAGE_LISTS + 16];
    int level = !page->lists ? 0 : page->lists < PAGE_LISTS ? (int)page->lists - 1 : PAGE_LISTS - 1;
    page->hold = 0;
    page_break(page, 1);
    if (page->lists && page->numbers[level] >= 0)
        snprintf(mark, sizeof(mark), "%*s%d. ", 2 * level, "", ++page->numbers[level]);
    else
        snprintf(mark, sizeof(mark), "%*s- ", 2 * level, "");
    page_mark(page, mark);
    page_hold(page);
}

/* The last character may be cut. */
static void end_title(struct page *page)
{
    page->title_full = true;
    while (page->title_length &&
           ((unsigned char)page->title[page->title_length - 1] & 0xC0) == 0x80)
        page->title_length--;
    if (page->title_length && (unsigned char)page->title[page->title_length - 1] >= 0xC0)
        page->title_length--;
}

void page_title(struct page *page, const char *text, size_t length)
{
    for (size_t i = 0; i < length && !page->title_full; i++) {
        char byte = is_space(text[i]) ? ' ' : text[i];
        bool again =
            byte == ' ' && (!page->title_length || page->title[page->title_length - 1] == ' ');
        if (!again)
            page->title[page->title_length++] = byte;
        if (page->title_length == PAGE_TITLE)
            end_title(page);
    }
    page->title[page->title_length] = '\0';
}
