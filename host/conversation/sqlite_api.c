#include "conversation/sqlite_api.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/library.h"

/* Every member of struct sqlite_api; the functions are called sqlite3_NAME. */
#define FUNCTIONS(X)                                                                               \
    X(open_v2)                                                                                     \
    X(close)                                                                                       \
    X(busy_timeout)                                                                                \
    X(extended_errcode)                                                                            \
    X(system_errno)                                                                                \
    X(errmsg)                                                                                      \
    X(exec)                                                                                        \
    X(get_autocommit)                                                                              \
    X(changes)                                                                                     \
    X(last_insert_rowid)                                                                           \
    X(prepare_v2)                                                                                  \
    X(finalize)                                                                                    \
    X(step)                                                                                        \
    X(reset)                                                                                       \
    X(clear_bindings)                                                                              \
    X(bind_int64)                                                                                  \
    X(bind_null)                                                                                   \
    X(bind_text64)                                                                                 \
    X(column_type)                                                                                 \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(column_bytes)

static const struct library_function functions[] = {
#define X(name) {"sqlite3_" #name, offsetof(struct sqlite_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct sqlite_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct sqlite_api is in FUNCTIONS");

static const struct library library = {"libsqlite3.so.0", "to keep sessions and what plugins store",
                                       "libsqlite3-0", functions, FUNCTION_COUNT};

static struct sqlite_api table;
static bool opened;
static struct error failure = ERROR_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    opened = library_load(&library, &table, &failure);
}

const struct sqlite_api *sqlite_api(struct error *error)
{
    pthread_once(&once, open_library);
    if (opened)
        return &table;
    if (error)
        *error = failure;
    return NULL;
}
