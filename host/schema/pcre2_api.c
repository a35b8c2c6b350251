#include "schema/pcre2_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libpcre2-8.so.0"

/* Every member of struct pcre2_api; the functions are called pcre2_NAME_8. */
#define FUNCTIONS(X)                                                                               \
    X(general_context_create)                                                                      \
    X(general_context_free)                                                                        \
    X(compile_context_create)                                                                      \
    X(compile_context_free)                                                                        \
    X(set_compile_extra_options)                                                                   \
    X(set_newline)                                                                                 \
    X(compile)                                                                                     \
    X(code_free)                                                                                   \
    X(match_context_create)                                                                        \
    X(match_context_free)                                                                          \
    X(set_match_limit)                                                                             \
    X(set_heap_limit)                                                                              \
    X(set_callout)                                                                                 \
    X(match_data_create)                                                                           \
    X(match_data_free)                                                                             \
    X(match)                                                                                       \
    X(get_error_message)

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define X(name) {"pcre2_" #name "_8", offsetof(struct pcre2_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct pcre2_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct pcre2_api is in FUNCTIONS");

static struct pcre2_api table;
static bool opened;
static struct error failure = ERROR_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fail(const char *what)
{
    error_set(&failure, ERROR_CONFIG,
              "cannot load '" LIBRARY "', which is needed for the patterns of schemas: %s; install "
              "it with 'sudo apt-get install libpcre2-8-0'",
              what);
}

/* The handle stays open for ever. */
static void open_library(void)
{
    void *handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        fail(reason ? reason : "no reason given");
        return;
    }
    opened = true;
    for (size_t i = 0; opened && i < FUNCTION_COUNT; i++) {
        void *address = dlsym(handle, functions[i].name);
        memcpy((char *)&table + functions[i].offset, &address, sizeof(address));
        opened = address != NULL;
    }
    if (!opened)
        fail("it is too old");
}

const struct pcre2_api *pcre2_api(struct error *error)
{
    pthread_once(&once, open_library);
    if (opened)
        return &table;
    if (error)
        *error = failure;
    return NULL;
}
