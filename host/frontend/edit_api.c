#include "frontend/edit_api.h"

#include "base/library.h"

static const struct library_function functions[] = {
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

static const struct library library = {"libedit.so.2", "to edit the lines of a chat", "libedit2",
                                       functions, FUNCTION_COUNT};

const struct edit_api *edit_api(struct error *error)
{
    static struct edit_api table;
    static bool loaded;
    loaded = loaded || library_load(&library, &table, error);
    return loaded ? &table : NULL;
}
