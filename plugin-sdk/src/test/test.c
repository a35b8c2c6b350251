/* Opens and closes a plugin in a host that only remembers what it was told. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_MS = 10000 };

static atomic_uint failures; /* of this program */

void mortise__test_fail(const char *file, int line, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    atomic_fetch_add(&failures, 1);
}

unsigned mortise__test_failures(void)
{
    return atomic_load(&failures);
}

void mortise__test_add_failures(unsigned count)
{
    atomic_fetch_add(&failures, count);
}

int64_t mortise__test_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void mortise__test_make_id(char id[40], const char *prefix)
{
    static atomic_uint last;
    snprintf(id, 40, "%s-%u", prefix, atomic_fetch_add(&last, 1) + 1);
}

/* ---- what is known ---- */

bool mortise__test_context(mortise_test *test, const char *key, const char **value)
{
    pthread_mutex_lock(&test->lock);
    const struct key_value *entry = test->context;
    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->next;
    *value = entry ? entry->value : NULL;
    pthread_mutex_unlock(&test->lock);
    return entry != NULL;
}

const char *mortise__test_default_context(const mortise_test *test, const char *key)
{
    static const char *const known[][2] = {
        {"user", "anonymous"}, {"batch_index", "0"}, {"batch_size", "1"}};
    if (strcmp(key, "agent") == 0 || strcmp(key, "app") == 0)
        return test->setup.caller ? test->setup.caller : "test";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(key, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

void mortise_test_context(mortise_test *test, const char *key, const char *value)
{
    pthread_mutex_lock(&test->lock);
    struct key_value *entry = mortise__pool_take(&test->pool, sizeof(*entry));
    entry->key = mortise__pool_text(&test->pool, key);
    entry->value = mortise__pool_text(&test->pool, value);
    entry->next = test->context;
    test->context = entry;
    pthread_mutex_unlock(&test->lock);
}

/* ---- the host ---- */

mortise_test *mortise__test_of(const mortise_host *host)
{
    return (mortise_test *)(uintptr_t)host; /* ours, and first in the test */
}

static void host_refuse(const mortise_host *host, const char *reason)
{
    mortise_test *test = mortise__test_of(host);
    test->refusal = mortise__pool_text(&test->pool, reason ? reason : "");
}

static void log_text(mortise_test *test, const char *text)
{
    for (; *text; text++)
        *(char *)mortise__list_add(&test->log, 1) = *text;
}

static void host_log(const mortise_host *host, uint32_t level, const char *message)
{
    static const char *const levels[] = {"error", "warning", "note", "debug"};
    mortise_test *test = mortise__test_of(host);
    pthread_mutex_lock(&test->lock);
    log_text(test, level <= MORTISE_LOG_DEBUG ? levels[level] : "level?");
    log_text(test, ": ");
    log_text(test, message);
    log_text(test, "\n");
    pthread_mutex_unlock(&test->lock);
}

static const char *host_config(const mortise_host *host)
{
    const char *config = mortise__test_of(host)->setup.config;
    return config ? config : "{}";
}

static const void *host_service(const mortise_host *host, const char *id)
{
    return mortise__test_service(mortise__test_of(host), id);
}

static void host_changed(const mortise_host *host)
{
    atomic_fetch_add(&mortise__test_of(host)->changes, 1);
}

unsigned mortise_test_changes(mortise_test *test)
{
    return atomic_load(&test->changes);
}

const char *mortise_test_log(mortise_test *test)
{
    pthread_mutex_lock(&test->lock);
    const char *text = mortise__pool_copy(&test->pool, test->log.items, test->log.count);
    pthread_mutex_unlock(&test->lock);
    return text;
}

/* ---- opening ---- */

static mortise_test *test_new(const mortise_test_setup *setup)
{
    struct pool first = {0};
    mortise_test *test = mortise__pool_take(&first, sizeof(*test));
    *test = (mortise_test){
        .host = {.size = sizeof(mortise_host),
                 .abi_major = MORTISE_ABI_MAJOR,
                 .abi_minor = MORTISE_ABI_MINOR,
                 .refuse = host_refuse,
                 .log = host_log,
                 .config = host_config,
                 .service = host_service,
                 .changed = host_changed},
        .setup = *setup,
        .pool = first,
        .cancel_ms = -1,
        .deadline_ms = -1,
        .patience_ms = PATIENCE_MS,
    };
    test->setup.config = mortise__pool_text(&test->pool, setup->config);
    test->setup.caller = mortise__pool_text(&test->pool, setup->caller);
    pthread_mutex_init(&test->lock, NULL);
    mortise__test_make_id(test->run, "run");
    return test;
}

/* Closes the plugin, while its calls are still there for what it does wrong. */
static void test_free(mortise_test *test)
{
    if (test->plugin && test->plugin->close)
        test->plugin->close(test->plugin);
    if (atomic_load(&test->responses))
        mortise__test_fail("mortise_test_close", 0, "%d answers of fetch() were not released",
                           atomic_load(&test->responses));
    mortise__test_calls_release(test);
    mortise__test_store_release(test);
    mortise__list_release(&test->log);
    mortise__list_release(&test->items);
    pthread_mutex_destroy(&test->lock);
    struct pool pool = test->pool;
    mortise__pool_release(&pool);
}

static mortise_test *load(const mortise_test_setup *setup)
{
    mortise_test *test = test_new(setup);
    if (mortise_plugin_stamp.magic != MORTISE_MAGIC ||
        mortise_plugin_stamp.abi_major != MORTISE_ABI_MAJOR)
        host_refuse(&test->host, "its stamp is of another interface");
    else
        test->plugin = tool_definition(&test->host);
    return test;
}

static bool is_name(const char *name)
{
    size_t length = name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                        "0123456789_-")
                         : 0;
    return length >= 1 && length <= 64 && name[length] == '\0';
}

static void check_name(const char *what, const char *name)
{
    if (!is_name(name))
        mortise__test_fail("mortise_test_open", 0,
                           "the host refuses the plugin: %s has the name '%s', and a name is 1 to "
                           "64 of A-Z a-z 0-9 _ -",
                           what, name ? name : "");
}

/* What the host refuses while it loads a plugin, as far as names can tell. */
static void check_names(const mortise_plugin *plugin)
{
    check_name("it", plugin->name);
    for (size_t i = 0; i < plugin->hook_count; i++)
        check_name("a set of hooks", plugin->hooks[i]->name);
    for (size_t i = 0; i < plugin->tool_count; i++) {
        const char *name = plugin->tools[i]->meta->name;
        check_name("a tool", name);
        for (size_t j = 0; j < i; j++)
            if (name && plugin->tools[j]->meta->name &&
                strcmp(name, plugin->tools[j]->meta->name) == 0)
                mortise__test_fail("mortise_test_open", 0,
                                   "the host refuses the plugin: two tools have the name '%s'",
                                   name);
    }
}

mortise_test *mortise_test_open_with(const mortise_test_setup *setup)
{
    mortise_test *test = load(setup);
    if (!test->plugin)
        mortise__test_fail("mortise_test_open", 0, "the plugin is not loaded: %s",
                           test->refusal ? test->refusal : "it gave no reason by mortise_refuse()");
    else if (test->refusal)
        mortise__test_fail("mortise_test_open", 0, "the plugin refuses, but is loaded: %s",
                           test->refusal);
    if (test->plugin)
        check_names(test->plugin);
    return test;
}

mortise_test *mortise_test_open(const char *config)
{
    return mortise_test_open_with(&(mortise_test_setup){.config = config});
}

int mortise_test_close(mortise_test *test)
{
    test_free(test);
    return mortise_test_status();
}

int mortise_test_status(void)
{
    return atomic_load(&failures) > 0;
}

/* ---- a plugin that refuses ---- */

/* A guard that cannot be opened is loaded all the same, with one set of hooks that fail. */
static const char *closed_reason(mortise_test *test)
{
    mortise_plugin *plugin = test->plugin;
    if (!plugin || plugin->hook_count != 1 || plugin->tool_count != 0 ||
        strcmp(plugin->hooks[0]->name, "cannot_guard") != 0)
        return NULL;
    const mortise_test_decision *decision =
        mortise_test_hook(test, plugin->hooks[0], prompt_submit,
                          .item = "{\"type\":\"message\",\"role\":\"user\",\"content\":[]}");
    return decision->reason;
}

bool mortise__test_refused(const char *file, int line, const char *config, const char *part)
{
    mortise_test *test = load(&(mortise_test_setup){.config = config});
    const char *reason = test->plugin ? closed_reason(test) : test->refusal;
    bool holds = reason && strstr(reason, part);
    if (test->plugin && !reason)
        mortise__test_fail(file, line, "expected that it refuses %s\n    but it is loaded",
                           config ? config : "{}");
    else if (!holds)
        mortise__test_fail(file, line, "expected that it refuses %s with '%s'\n    came '%s'",
                           config ? config : "{}", part, reason ? reason : "no reason");
    test_free(test);
    return holds;
}

/* ---- tools and hooks of the plugin ---- */

const mortise_tool *mortise_test_tool(mortise_test *test, const char *name)
{
    for (size_t i = 0; test->plugin && i < test->plugin->tool_count; i++)
        if (strcmp(test->plugin->tools[i]->meta->name, name) == 0)
            return test->plugin->tools[i];
    mortise__test_fail("mortise_test_tool", 0, "the plugin has no tool '%s'", name);
    return NULL;
}

void mortise_test_cancel(mortise_test *test, int64_t after_ms)
{
    test->cancel_ms = after_ms;
}

void mortise_test_deadline(mortise_test *test, int64_t ms)
{
    test->deadline_ms = ms;
}

void mortise_test_patience(mortise_test *test, int64_t ms)
{
    test->patience_ms = ms;
}
