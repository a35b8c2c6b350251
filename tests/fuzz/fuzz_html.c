/* What servers send to the plugin http_fetch: HTML in any charset, as text.  It is valid UTF-8, has
 * no NUL, and is within its limit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/http_fetch/charset.h"
#include "../../plugins/http_fetch/html.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 20000 };
static struct html_library library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool goes_on(void *data)
{
    (void)data;
    return true;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[CHARSET_NAME];
    const char *problem = NULL;
    size_t length = 0;
    struct page page;
    charset_find("text/html", (const char *)data, size, true, name);
    char *text = charset_convert(name, (const char *)data, size, &length);
    check(text && strlen(text) == length && utf8_valid(text, length) == length);
    page_begin(&page, MOST);
    enum html_end end = html_read(&library, &page, text, length, "https://example.org/a/b", goes_on,
                                  NULL, &problem);
    check(end == HTML_READ || end == HTML_TOO_DEEP);
    check(page.length <= MOST && page.title_length <= PAGE_TITLE);
    check(page.full || utf8_valid(page.text ? page.text : "", page.length) == page.length);
    check(utf8_valid(page.title, page.title_length) == page.title_length);
    page_release(&page);
    free(text);
    return 0;
}
