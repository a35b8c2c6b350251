#include "mcp/event_api.h"

#include <pthread.h>
#include <stddef.h>

#include "base/library.h"
#include "base/log.h"

/* Every member of struct event_api; the functions have the same names. */
#define FUNCTIONS(X)                                                                               \
    X(event_set_log_callback)                                                                      \
    X(event_base_new)                                                                              \
    X(event_base_dispatch)                                                                         \
    X(event_base_loopbreak)                                                                        \
    X(event_base_free)                                                                             \
    X(event_new)                                                                                   \
    X(event_add)                                                                                   \
    X(event_del)                                                                                   \
    X(event_free)                                                                                  \
    X(evconnlistener_new_bind)                                                                     \
    X(evconnlistener_set_error_cb)                                                                 \
    X(evconnlistener_get_fd)                                                                       \
    X(evconnlistener_enable)                                                                       \
    X(evconnlistener_disable)                                                                      \
    X(evconnlistener_free)                                                                         \
    X(bufferevent_socket_new)                                                                      \
    X(bufferevent_setcb)                                                                           \
    X(bufferevent_set_timeouts)                                                                    \
    X(bufferevent_enable)                                                                          \
    X(bufferevent_disable)                                                                         \
    X(bufferevent_get_input)                                                                       \
    X(bufferevent_get_output)                                                                      \
    X(bufferevent_getfd)                                                                           \
    X(bufferevent_free)                                                                            \
    X(evbuffer_get_length)                                                                         \
    X(evbuffer_get_contiguous_space)                                                               \
    X(evbuffer_pullup)                                                                             \
    X(evbuffer_drain)                                                                              \
    X(evbuffer_add)                                                                                \
    X(evbuffer_add_reference)

static const struct library_function functions[] = {
#define X(name) {#name, offsetof(struct event_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct event_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct event_api is in FUNCTIONS");

static struct event_api table;
static bool opened;
static struct error failure = ERROR_INIT;
static pthread_once_t open_once = PTHREAD_ONCE_INIT;

static void say(int severity, const char *message)
{
    log_line(severity >= EVENT_LOG_WARN ? LOG_WARNING : LOG_DEBUG, "libevent: %s", message);
}

static void open_library(void)
{
    const struct library library = {"libevent_core-2.1.so.7", "to listen for clients",
                                    "libevent-core-2.1-7", functions, FUNCTION_COUNT};
    opened = library_load(&library, &table, &failure);
    if (opened)
        table.event_set_log_callback(say);
}

const struct event_api *event_api(struct error *error)
{
    pthread_once(&open_once, open_library);
    if (opened)
        return &table;
    if (error)
        *error = failure;
    return NULL;
}
