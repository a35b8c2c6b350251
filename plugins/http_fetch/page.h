/*
 * page - a document as text: blocks, lists, links and tables, written piece by piece, with white
 * space only where it is seen.  No more than `most` bytes, and then it is full.  One thread.
 */
#ifndef FETCH_PAGE_H
#define FETCH_PAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_LISTS = 8, PAGE_TITLE = 300 };

struct page {
    char *text; /* malloc'ed */
    size_t length, capacity, most;
    bool full, failed;
    int breaks;              /* line ends before what comes next: 0 to 2 */
    bool space;              /* or a space */
    size_t hold;             /* at this length neither counts: a mark has just been made */
    bool literal;            /* white space counts */
    unsigned quotes;         /* levels of quotation */
    unsigned lists;          /* levels; the first PAGE_LISTS are numbered each for itself */
    int numbers[PAGE_LISTS]; /* of the last item; -1: it has none */
    char title[PAGE_TITLE + 1];
    size_t title_length;
    bool title_full;
};

void page_begin(struct page *page, size_t most);
void page_release(struct page *page);

/* Text of the document, whose white space is one space or none. */
void page_text(struct page *page, const char *text, size_t length);
/* As it is: marks of ours. */
void page_mark(struct page *page, const char *text);
/* No white space between the mark before and what comes next. */
void page_hold(struct page *page);
/* At least so many line ends before what comes next. */
void page_break(struct page *page, int breaks);
/* No line ends, whatever was asked for since the last page_hold(). */
void page_join(struct page *page);
void page_list(struct page *page, bool is_numbered);
void page_list_end(struct page *page);
void page_item(struct page *page);
void page_title(struct page *page, const char *text, size_t length);

#endif
