/*
 * A thousand reloads while other threads call tools all the time, with good and broken files by
 * turns: R4, F58, no call is lost, nothing crashes, memory stays flat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "folder.h"
#include "plugin/set.h"
#include "tool/call.h"

#ifdef FEW_ROUNDS /* sanitizers are slow, and keep memory of their own */
enum { ROUNDS = 200, WARM_UP = 0 };
#else
enum { ROUNDS = 1000, WARM_UP = 200 };
#endif
enum { THREADS = 4, CALLS_PER_ROUND = 16, MOST_GROWTH_KB = 512 };

static struct plugin_set *set;
static atomic_bool ends;
static atomic_ulong answered; /* calls that had the right result */
static atomic_ulong unknown;  /* of them, those for a tool that was not there */

/* ---- the load ---- */

/* What is wrong with an answer; NULL: nothing. */
static const char *judge(struct registry *registry, const char *tool, struct tool_result *result)
{
    const struct tool *found = registry_find(registry, tool);
    tool_call(registry, tool, "{}", 2, NULL, NULL, result);
    if (!found) {
        atomic_fetch_add(&unknown, 1);
        return result->success || !strstr(text_cstr(&result->text), "not found")
                   ? "a tool that is not there answered"
                   : NULL;
    }
    if (!result->success)
        return "the call failed";
    if (strcmp(tool, "counter") == 0)
        return strncmp(text_cstr(&result->text), "count: ", 7) != 0 ? "no count" : NULL;
    return strcmp(text_cstr(&result->text), found->plugin->version) != 0
               ? "another version answered"
               : NULL;
}

/* Every call goes to a registry that is held only for it, or for a while. */
static void *call_on_and_on(void *data)
{
    static const char *const tools[] = {"version", "counter", "version_hold"};
    const size_t *number = data;
    for (size_t i = *number; !atomic_load(&ends); i++) {
        struct registry *registry = plugin_set_registry(set);
        for (size_t calls = i % 3 ? 1 : 20; calls > 0; calls--) {
            struct tool_result result;
            const char *tool = tools[(i + calls) % 3];
            const char *wrong = judge(registry, tool, &result);
            if (wrong) { /* a failing assertion belongs to the main thread */
                fprintf(stderr, "%s: %s: '%s'\n", tool, wrong, text_cstr(&result.text));
                abort();
            }
            tool_result_release(&result);
            atomic_fetch_add(&answered, 1);
        }
        registry_unref(registry);
        if (i % 3 == 0) /* two processors are enough for the test */
            usleep(50);
    }
    return NULL;
}

static void let_calls_pass(void)
{
    unsigned long before = atomic_load(&answered);
    while (atomic_load(&answered) < before + CALLS_PER_ROUND)
        sched_yield();
}

/* ---- the changes ---- */

static void put_broken(void)
{
    size_t length;
    void *data = read_file(VERSIONS "/version_1.so", &length);
    write_file(".new", data, length / 2);
    free(data);
    char to[160];
    snprintf(to, sizeof(to), "%s", in_root("version.so"));
    assert_int_equal(rename(in_root(".new"), to), 0);
}

static void take_away(void)
{
    assert_int_equal(unlink(in_root("version.so")), 0);
}

static void put_v1(void)
{
    put(VERSIONS "/version_1.so", "version.so");
}

static void put_v2(void)
{
    put(VERSIONS "/version_2.so", "version.so");
}

static void put_refusing(void)
{
    put(VERSIONS "/version_refuses.so", "version.so");
}

static const struct {
    void (*change)(void);
    enum plugin_change_kind kind;
    const char *answer; /* then */
} steps[] = {
    {put_v1, PLUGIN_ADDED, "v1"},      {put_broken, PLUGIN_KEPT, "v1"},
    {put_v2, PLUGIN_REPLACED, "v2"},   {put_refusing, PLUGIN_KEPT, "v2"},
    {put_v1, PLUGIN_REPLACED, "v1"},   {put_v1, PLUGIN_REPLACED, "v1"},
    {put_refusing, PLUGIN_KEPT, "v1"}, {take_away, PLUGIN_REMOVED, NULL},
    {put_v2, PLUGIN_ADDED, "v2"},      {take_away, PLUGIN_REMOVED, NULL},
};

static void note(void *context, const struct plugin_change *change)
{
    int *seen = context;
    *seen = *seen == -1 ? (int)change->kind : -2;
}

static void one_round(size_t round)
{
    size_t step = round % (sizeof(steps) / sizeof(*steps));
    struct error error = ERROR_INIT;
    int seen = -1;
    steps[step].change();
    assert_true(plugin_set_reload(set, note, &seen, &error));
    assert_int_equal(seen, steps[step].kind);
    struct registry *registry = plugin_set_registry(set);
    const struct tool *tool = registry_find(registry, "version");
    if (steps[step].answer)
        assert_string_equal(tool->plugin->version, steps[step].answer);
    else
        assert_null(tool);
    registry_unref(registry);
    let_calls_pass();
}

/* ---- memory ---- */

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Parts of plugin files in the address space. */
static int mapped(void)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        count += strstr(line, root) != NULL;
    fclose(file);
    return count;
}

/* ---- the whole ---- */

static void no_call_is_lost(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    static const struct loader loader;
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    long warm_kb = 0;
    int warm_mapped = 0;
    assert_int_equal(make_root(), 0);
    copy(COUNTER, "counter.so");
    set = plugin_set_new(&loader);
    assert_true(plugin_set_add_folder(set, root, false));
    assert_true(plugin_set_load(set, &error));
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, call_on_and_on, &numbers[i]), 0);
    }
    for (size_t round = 0; round < ROUNDS; round++) {
        one_round(round);
        if (round + 1 == WARM_UP) {
            warm_kb = resident_kb();
            warm_mapped = mapped();
        }
    }
    atomic_store(&ends, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    print_message("%d reloads, %lu calls, %lu of them for a tool that was not there\n", ROUNDS,
                  (unsigned long)answered, (unsigned long)unknown);
    assert_true(atomic_load(&unknown) > 0 && atomic_load(&unknown) < atomic_load(&answered));
    if (WARM_UP) {
        long now_kb = resident_kb();
        print_message("memory: %ld kB after %d reloads, %ld kB after %d\n", warm_kb, WARM_UP,
                      now_kb, ROUNDS);
        assert_true(now_kb < warm_kb + MOST_GROWTH_KB);
        assert_int_equal(mapped(), warm_mapped);
    }
    plugin_set_free(set);
    remove_root();
}

/* One instance of what did not change has seen each of its calls. */
static atomic_ulong counted;

static void *count_on_and_on(void *unused)
{
    (void)unused;
    while (!atomic_load(&ends)) {
        struct registry *registry = plugin_set_registry(set);
        struct tool_result result;
        tool_call(registry, "counter", "{}", 2, NULL, NULL, &result);
        tool_result_release(&result);
        registry_unref(registry);
        atomic_fetch_add(&answered, 1);
        if (atomic_fetch_add(&counted, 1) % 3 == 0)
            usleep(50);
    }
    return NULL;
}

static void what_stays_sees_every_call(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    static const struct loader loader;
    pthread_t threads[THREADS];
    assert_int_equal(make_root(), 0);
    copy(COUNTER, "counter.so");
    set = plugin_set_new(&loader);
    assert_true(plugin_set_add_folder(set, root, false));
    assert_true(plugin_set_load(set, &error));
    atomic_store(&ends, false);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_on_and_on, NULL), 0);
    for (size_t round = 0; round < ROUNDS / 10; round++)
        one_round(round);
    atomic_store(&ends, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct registry *registry = plugin_set_registry(set);
    struct tool_result result;
    char wanted[64];
    tool_call(registry, "counter", "{}", 2, NULL, NULL, &result);
    snprintf(wanted, sizeof(wanted), "count: %lu", (unsigned long)counted);
    assert_string_equal(text_cstr(&result.text), wanted);
    tool_result_release(&result);
    registry_unref(registry);
    plugin_set_free(set);
    remove_root();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_is_lost),
        cmocka_unit_test(what_stays_sees_every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
