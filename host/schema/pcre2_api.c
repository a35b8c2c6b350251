#include "schema/pcre2_api.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/library.h"

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

static const struct library_function functions[] = {
#define X(name) {"pcre2_" #name "_8", offsetof(struct pcre2_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct pcre2_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct pcre2_api is in FUNCTIONS");

static const struct library library = {"libpcre2-8.so.0", "for the patterns of schemas",
                                       "libpcre2-8-0", functions, FUNCTION_COUNT};

static struct pcre2_api table;
static bool opened;
static struct error failure = ERROR_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    opened = library_load(&library, &table, &failure);
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
