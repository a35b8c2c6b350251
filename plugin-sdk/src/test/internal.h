/* What the files of the test library share. */
#ifndef MORTISE_TEST_INTERNAL_H
#define MORTISE_TEST_INTERNAL_H

#include <mortise/test.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- memory.c: memory in one piece; a test that has none left ends ---- */

struct pool {
    struct pool_piece *newest;
};

void *mortise__pool_take(struct pool *pool, size_t bytes); /* zeroed */
/* A copy with a NUL behind it. */
char *mortise__pool_copy(struct pool *pool, const void *bytes, size_t length);
char *mortise__pool_text(struct pool *pool, const char *text); /* NULL stays NULL */
void mortise__pool_release(struct pool *pool);

/* A list of things of one size that grows on the heap. */
struct list {
    void *items;
    size_t count, capacity;
};

/* Room for one more, zeroed. */
void *mortise__list_add(struct list *list, size_t item_bytes);
void mortise__list_release(struct list *list);

/* ---- test.c ---- */

struct key_value {
    struct key_value *next;
    const char *key, *value;
};

struct preparation {
    struct preparation *next;
    const mortise_tool *tool;
    bool good;
    const char *reason; /* or NULL */
};

struct mortise_test {
    mortise_host host; /* first: what the plugin has is the test */
    mortise_test_setup setup;
    mortise_plugin *plugin; /* NULL: it was refused */
    char *refusal;
    pthread_mutex_t lock; /* for what calls of several threads share: all of this */
    struct pool pool;
    struct list log;           /* char */
    struct key_value *context; /* the latest first */
    struct fake_call *calls;
    struct store *store; /* of the services; NULL: none yet */
    int64_t cancel_ms;   /* of the next call; -1: never */
    int64_t deadline_ms; /* of the next call; -1: none */
    int64_t patience_ms;
    atomic_uint changes; /* how often changed() was called */
    atomic_int responses; /* of fetch(), that were not released */
    struct preparation *prepared; /* tools whose prepare() was called */
    const char *reason;           /* of the last that failed */
    char run[40];      /* the invocation of hooks */
    struct list items; /* const char *, of the next event */
};

mortise_test *mortise__test_of(const mortise_host *host);
/* Prints one failure and counts it. */
void mortise__test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Those of a child count here. */
unsigned mortise__test_failures(void);
void mortise__test_add_failures(unsigned count);
/* What was set for the key; false: nothing. */
bool mortise__test_context(mortise_test *test, const char *key, const char **value);
/* What is known without being set, but for ids; NULL: nothing. */
const char *mortise__test_default_context(const mortise_test *test, const char *key);
void mortise__test_make_id(char id[40], const char *prefix);
int64_t mortise__test_now_ms(void);

/* ---- confined.c ---- */

/* A call in a process of its own: run() makes *result. */
struct confined_call {
    void (*run)(void *data);
    void *data;
    mortise_test_result *result;
};
bool mortise__test_is_confined(const mortise_tool *tool);
void mortise__test_run_confined(mortise_test *test, const mortise_tool *tool,
                                const struct confined_call *call);

/* ---- check.c ---- */

/* Whether a call can end with this status. */
bool mortise__test_knows(mortise_status status);
/* What a failing status stands for when fail() was not called. */
mortise_category mortise__test_category(mortise_status status);

/* ---- services.c, http.c ---- */

/* NULL: it was not turned on. */
const void *mortise__test_service(mortise_test *test, const char *id);
const void *mortise__test_http(const mortise_test *test);
const void *mortise__test_secrets(const mortise_test *test);
void mortise__test_store_release(mortise_test *test);

/* ---- call.c: what the services need of a call ---- */

mortise_test *mortise__call_test(mortise_call *face);
/* Keeps the reason, as fail() does, and returns `status`. */
mortise_status mortise__call_refuse(mortise_call *face, mortise_status status, const char *format,
                                    ...) __attribute__((format(printf, 3, 4)));
/* Frees the calls that were finished. */
void mortise__test_calls_release(mortise_test *test);

#endif
