#include "sandbox/seccomp_api.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/library.h"

/* Every member of struct seccomp_api; the functions are called seccomp_NAME. */
#define FUNCTIONS(X)                                                                               \
    X(init)                                                                                        \
    X(release)                                                                                     \
    X(attr_set)                                                                                    \
    X(rule_add_array)                                                                              \
    X(export_bpf)

static const struct library_function functions[] = {
#define X(name) {"seccomp_" #name, offsetof(struct seccomp_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct seccomp_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct seccomp_api is in FUNCTIONS");

static const struct library library = {"libseccomp.so.2", "to lock code into a sandbox",
                                       "libseccomp2", functions, FUNCTION_COUNT};

static struct seccomp_api table;
static bool opened;
static struct error failure = ERROR_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    opened = library_load(&library, &table, &failure);
}

const struct seccomp_api *seccomp_api(struct error *error)
{
    pthread_once(&once, open_library);
    if (opened)
        return &table;
    if (error)
        *error = failure;
    return NULL;
}
