#include "provider/curl_api.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/library.h"

/* Every member of struct curl_api; the functions are called curl_NAME. */
#define FUNCTIONS(X)                                                                               \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_perform)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_strerror)                                                                               \
    X(easy_reset)                                                                                  \
    X(easy_cleanup)                                                                                \
    X(multi_init)                                                                                  \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_info_read)                                                                             \
    X(multi_cleanup)                                                                               \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(getdate)                                                                                     \
    X(url)                                                                                         \
    X(url_set)                                                                                     \
    X(url_get)                                                                                     \
    X(url_cleanup)                                                                                 \
    X(free)

static const struct library_function functions[] = {
#define X(name) {"curl_" #name, offsetof(struct curl_api, name)},
    FUNCTIONS(X)
#undef X
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))
_Static_assert(sizeof(struct curl_api) == FUNCTION_COUNT * sizeof(void (*)(void)),
               "every member of struct curl_api is in FUNCTIONS");

static struct curl_api table;
static bool opened;
static bool initialised;
static struct error failure = ERROR_INIT;
static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static pthread_once_t initialise_once = PTHREAD_ONCE_INIT;
static pthread_once_t preload_once = PTHREAD_ONCE_INIT;
static pthread_t preloader;

static void open_any(void)
{
    struct library library = {"libcurl.so.4", "to talk to a server", "libcurl4", functions,
                              FUNCTION_COUNT};
    opened = library_load(&library, &table, &failure);
    library.file = "libcurl-gnutls.so.4";
    opened = opened || library_load(&library, &table, NULL);
}

/* On the thread that asks, not on the preloader: OpenSSL ties state to its threads, which must
 * have ended before it is taken apart at exit. */
static void initialise(void)
{
    pthread_once(&open_once, open_any);
    if (!opened)
        return;
    initialised = table.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!initialised)
        error_set(&failure, ERROR_CONFIG, "cannot initialise libcurl");
}

static void *preload(void *unused)
{
    (void)unused;
    pthread_once(&open_once, open_any);
    return NULL;
}

/* The loader must not work on while exit() takes the process apart.  The time is limited
 * because exit() itself may have been called from inside a dlopen() that the loader waits for. */
static void join_preloader(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_timedjoin_np(preloader, NULL, &until);
}

/* Without a thread curl_api() loads it by itself.  Signals are for other threads. */
static void start_preloader(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&preloader, NULL, preload, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        atexit(join_preloader);
}

void curl_api_preload(void)
{
    pthread_once(&preload_once, start_preloader);
}

const struct curl_api *curl_api(struct error *error)
{
    pthread_once(&initialise_once, initialise);
    if (initialised)
        return &table;
    if (error)
        *error = failure;
    return NULL;
}
