/*
 * html - HTML to a page, by the parser of libxml2, which is loaded when the first is read.
 *
 * Only its events are used and no tree is built, so memory is bounded by the page's.
 */
#ifndef FETCH_HTML_H
#define FETCH_HTML_H

#include <pthread.h>

#include "page.h"

struct html_library {
    pthread_mutex_t lock;
    void *handle;
    struct html_api *api; /* malloc'ed */
};

void html_library_begin(struct html_library *library);
void html_library_end(struct html_library *library);

enum html_end {
    HTML_READ,
    HTML_STOPPED,  /* by `goes_on` */
    HTML_TOO_DEEP, /* the page has what came before */
    HTML_NO_MEMORY,
    HTML_NO_LIBRARY /* `problem` tells why, as dlerror() does */
};

/* `text` is valid UTF-8.  `base` is what links start from.  Thread-safe but for the page. */
enum html_end html_read(struct html_library *library, struct page *page, const char *text,
                        size_t length, const char *base, bool (*goes_on)(void *data), void *data,
                        const char **problem);

#endif
