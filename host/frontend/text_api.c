#include "frontend/text_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static struct text_api table;
static bool loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *library, const char *name, void *function)
{
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

/* The handles stay open: there is nothing to gain from closing them. */
static void load(void)
{
    void *md4c = dlopen("libmd4c.so.0", RTLD_LAZY | RTLD_LOCAL);
    void *utf8proc = dlopen("libutf8proc.so.2", RTLD_LAZY | RTLD_LOCAL);
    if (!utf8proc)
        utf8proc = dlopen("libutf8proc.so.3", RTLD_LAZY | RTLD_LOCAL);
    loaded = find(md4c, "md_parse", &table.parse) &&
             find(utf8proc, "utf8proc_charwidth", &table.charwidth) &&
             find(utf8proc, "utf8proc_grapheme_break_stateful", &table.grapheme_break);
}

const struct text_api *text_api(void)
{
    pthread_once(&once, load);
    return loaded ? &table : NULL;
}
