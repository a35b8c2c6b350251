#include "frontend/edit_api.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"el_init", offsetof(struct edit_api, init)},
    {"el_end", offsetof(struct edit_api, end)},
    {"el_wgets", offsetof(struct edit_api, wgets)},
    {"el_wgetc", offsetof(struct edit_api, wgetc)},
    {"el_wset", offsetof(struct edit_api, wset)},
    {"el_wline", offsetof(struct edit_api, wline)},
    {"el_winsertstr", offsetof(struct edit_api, winsertstr)},
    {"el_resize", offsetof(struct edit_api, resize)},
    {"history_winit", offsetof(struct edit_api, history_winit)},
    {"history_wend", offsetof(struct edit_api, history_wend)},
    {"history_w", offsetof(struct edit_api, history_w)},
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(*functions) };
_Static_assert(sizeof(struct edit_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct edit_api is in the table");

static struct edit_api table;

const struct edit_api *edit_api(struct error *error)
{
    if (table.init)
        return &table;
    void *library = dlopen("libedit.so.2", RTLD_LAZY | RTLD_LOCAL);
    bool found = library != NULL;
    for (size_t i = FUNCTION_COUNT; found && i > 0; i--) {
        void *address = dlsym(library, functions[i - 1].name);
        memcpy((char *)&table + functions[i - 1].offset, &address, sizeof(address));
        found = address != NULL;
    }
    if (found)
        return &table;
    table.init = NULL;
    error_set(error, ERROR_CONFIG,
              "cannot load 'libedit.so.2', which edits the lines of a chat; install it with "
              "'sudo apt-get install libedit2'");
    return NULL;
}
