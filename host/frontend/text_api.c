#include "frontend/text_api.h"

#include <pthread.h>

#include "base/library.h"

static const struct library_function of_md4c[] = {{"md_parse", offsetof(struct text_api, parse)}};
static const struct library_function of_utf8proc[] = {
    {"utf8proc_charwidth", offsetof(struct text_api, charwidth)},
    {"utf8proc_grapheme_break_stateful", offsetof(struct text_api, grapheme_break)},
};

static struct text_api table;
static bool loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Nobody hears why one of them is not there: text is shown without. */
static void load(void)
{
    const struct library md4c = {.file = "libmd4c.so.0", .functions = of_md4c, .count = 1};
    struct library utf8proc = {.file = "libutf8proc.so.2", .functions = of_utf8proc, .count = 2};
    loaded = library_load(&utf8proc, &table, NULL);
    utf8proc.file = "libutf8proc.so.3";
    loaded = loaded || library_load(&utf8proc, &table, NULL);
    loaded = loaded && library_load(&md4c, &table, NULL);
}

const struct text_api *text_api(void)
{
    pthread_once(&once, load);
    return loaded ? &table : NULL;
}
