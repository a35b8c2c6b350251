/* Plugins that change while the program runs: R4, T16, D19, M5, and calls in flight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../unit/base/failing.h"
#include "folder.h"
#include "plugin/account.h"
#include "plugin/set.h"
#include "tool/call.h"

#define V1 VERSIONS "/version_1.so"
#define V2 VERSIONS "/version_2.so"

static struct plugin_set *set;
static char told[4096]; /* one line for each change, below the folder */
static const char *configured;
static struct error error;

static char *section(void *context, const char *plugin)
{
    (void)context;
    (void)plugin;
    return strdup(configured);
}

static void refused(void *context, const char *path, const char *reason)
{
    (void)context;
    (void)path;
    (void)reason;
}

static int start(void **state)
{
    (void)state;
    static const struct loader loader = {.config = section, .refused = refused};
    *told = '\0';
    configured = "{}";
    error = (struct error)ERROR_INIT;
    if (make_root() != 0)
        return -1;
    set = plugin_set_new(&loader);
    return set ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    plugin_set_free(set);
    return remove_root();
}

/* ---- loading, and what is told ---- */

static void load_folder(void)
{
    assert_true(plugin_set_add_folder(set, root, false));
    if (!plugin_set_load(set, &error))
        fail_msg("%s", error.message);
}

static void tell(void *context, const struct plugin_change *change)
{
    static const char *const kinds[] = {"added", "replaced", "removed", "kept", "refused"};
    size_t used = strlen(told), length = strlen(root);
    (void)context;
    snprintf(told + used, sizeof(told) - used, "%s%s %s%s%s\n", change->again ? "again " : "",
             kinds[change->kind], change->path[length] ? change->path + length + 1 : ".",
             change->reason ? ": " : "", change->reason ? change->reason : "");
}

static void reload(void)
{
    *told = '\0';
    if (!plugin_set_reload(set, tell, NULL, &error))
        fail_msg("%s", error.message);
}

static void reload_tells(const char *wanted)
{
    reload();
    assert_string_equal(told, wanted);
}

/* ---- calling ---- */

static void answers_in(struct registry *registry, const char *tool, const char *wanted)
{
    struct tool_result result;
    tool_call(registry, tool, "{}", 2, NULL, NULL, &result);
    if (wanted)
        assert_string_equal(text_cstr(&result.text), wanted);
    else
        assert_has(text_cstr(&result.text), "' not found");
    tool_result_release(&result);
}

/* NULL: nothing does. */
static void answers(const char *tool, const char *wanted)
{
    struct registry *registry = plugin_set_registry(set);
    answers_in(registry, tool, wanted);
    registry_unref(registry);
}

/* The object of plugin `index`, and one of its counters. */
static const struct object *object(size_t index)
{
    struct registry *registry = plugin_set_registry(set);
    const struct object *found = registry_plugin(registry, index)->object;
    registry_unref(registry);
    return found;
}

static atomic_int *counter_of(const struct object *of, const char *name)
{
    atomic_int *found = dlsym(of->handle, name);
    assert_non_null(found);
    return found;
}

static int count(const struct object *of, const char *name)
{
    return atomic_load(counter_of(of, name));
}

/* ---- what stays as it is ---- */

static void what_did_not_change_keeps_its_state(void **state)
{
    (void)state;
    copy(COUNTER, "counter.so");
    load_folder();
    answers("counter", "count: 0");
    reload_tells("");
    answers("counter", "count: 1");
    copy(V1, "version.so");
    reload_tells("added version.so\n");
    answers("counter", "count: 2");
    answers("version", "v1");
    /* Other names and permissions are no other content. */
    assert_int_equal(chmod(in_root("counter.so"), 0700), 0);
    assert_int_equal(link(in_root("counter.so"), in_root("link.so")), 0);
    reload_tells("");
    answers("counter", "count: 3");
    put(COUNTER, "counter.so");
    unlink(in_root("link.so"));
    reload_tells("replaced counter.so\n");
    answers("counter", "count: 0");
}

/* The factory is called again where the configuration is another one, and only there. */
static void another_configuration_is_a_change(void **state)
{
    (void)state;
    copy(COUNTER, "counter.so");
    load_folder();
    answers("counter", "count: 0");
    configured = "{\"x\":1}";
    reload_tells("replaced counter.so\n");
    answers("counter", "count: 0");
    reload_tells("");
    answers("counter", "count: 1");
    configured = "{\"prefix\":\"bad name \"}";
    reload();
    assert_has(told,
               "kept counter.so: the configuration makes tool 'counter' to 'bad name counter'");
    answers("counter", "count: 2");
}

/* ---- what asks ---- */

/* mortise_host.changed of plugin `index`. */
static void ask(size_t index)
{
    struct registry *registry = plugin_set_registry(set);
    const mortise_host *host = host_api_face(registry_plugin(registry, index)->api);
    registry_unref(registry);
    assert_int_equal(host->abi_minor, MORTISE_ABI_MINOR);
    host->changed(host);
}

static bool wakes(void)
{
    struct pollfd wait = {.fd = plugin_set_wake_fd(set), .events = POLLIN};
    assert_true(wait.fd >= 0);
    bool is_readable = poll(&wait, 1, 0) > 0;
    assert_int_equal(is_readable, plugin_set_is_asked(set));
    return is_readable;
}

/* C17: the factory of the same file is called again, and only that one's; asking twice is asking
 * once. */
static void a_plugin_that_asks_is_made_anew(void **state)
{
    (void)state;
    copy(V1, "version.so");
    copy(COUNTER, "counter.so");
    load_folder();
    const struct object *version = object(1);
    answers("counter", "count: 0");
    assert_false(wakes());
    ask(1);
    ask(1);
    assert_true(wakes());
    assert_int_equal(count(version, "version_made"), 1); /* when the host can, not now */
    struct registry *before = plugin_set_registry(set);
    reload_tells("replaced version.so\n");
    assert_false(wakes());
    assert_ptr_equal(object(1), version);
    assert_int_equal(count(version, "version_made"), 2);
    assert_int_equal(count(version, "version_closed"), 0);
    answers_in(before, "version", "v1"); /* a call in flight */
    registry_unref(before);
    assert_int_equal(count(version, "version_closed"), 1);
    answers("version", "v1");
    answers("counter", "count: 1");
    reload_tells("");
}

/* What was there stays, and may ask again. */
static void one_that_asks_and_is_refused_stays(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    atomic_int *refuses = counter_of(object(0), "version_refuses");
    atomic_store(refuses, 1);
    ask(0);
    reload_tells("kept version.so: it refused to load: it does not want to\n");
    answers("version", "v1");
    assert_false(wakes());
    atomic_store(refuses, 0);
    reload_tells("");
    ask(0);
    reload_tells("replaced version.so\n");
    answers("version", "v1");
}

/* A plugin that goes may ask to its end, and with its set when nobody listens any more. */
static void *ask_on(void *data)
{
    const mortise_host *host = data;
    for (int i = 0; i < 2000; i++)
        host->changed(host);
    return NULL;
}

static void a_set_that_goes_hears_nobody(void **state)
{
    (void)state;
    pthread_t thread;
    copy(V1, "version.so");
    load_folder();
    struct registry *registry = plugin_set_registry(set);
    struct host_api *api = registry_plugin(registry, 0)->api;
    assert_int_equal(pthread_create(&thread, NULL, ask_on, (void *)(uintptr_t)host_api_face(api)), 0);
    for (int i = 0; i < 5; i++)
        reload();
    plugin_set_free(set);
    set = NULL;
    pthread_join(thread, NULL);
    registry_unref(registry);
}

/* ---- what takes the place of something ---- */

/* R4: gone for the next request; who has the old registry goes on with it; closed once. */
static void a_new_version_takes_over(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    struct registry *before = plugin_set_registry(set);
    const struct object *first = object(0);
    put(V2, "version.so");
    reload_tells("replaced version.so\n");
    answers("version", "v2");
    answers_in(before, "version", "v1");
    assert_ptr_not_equal(object(0), first);
    assert_int_equal(count(first, "version_closed"), 0);
    registry_unref(before);
    assert_int_equal(count(first, "version_closed"), 1);
    assert_int_equal(count(first, "version_made"), 1);
}

/* R4: an unknown name is harmless. */
static void a_file_that_is_gone(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    const struct object *first = object(0);
    assert_int_equal(unlink(in_root("version.so")), 0);
    reload_tells("removed version.so\n");
    answers("version", NULL);
    assert_int_equal(count(first, "version_closed"), 1);
    reload_tells("");
    copy(V2, "version.so");
    reload_tells("added version.so\n");
    answers("version", "v2");
}

static void *call_hold(void *registry)
{
    answers_in(registry, "version_hold", "v1");
    registry_unref(registry);
    return NULL;
}

static void a_call_in_flight_ends_on_the_old_instance(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    const struct object *first = object(0);
    atomic_store(counter_of(first, "version_hold"), 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, call_hold, plugin_set_registry(set)), 0);
    while (!count(first, "version_inside"))
        ;
    put(V2, "version.so");
    reload_tells("replaced version.so\n");
    answers("version", "v2");
    assert_int_equal(count(first, "version_closed"), 0);
    assert_int_equal(unlink(in_root("version.so")), 0);
    reload_tells("removed version.so\n");
    assert_int_equal(count(first, "version_inside"), 1);
    atomic_store(counter_of(first, "version_hold"), 0);
    pthread_join(thread, NULL);
    assert_int_equal(count(first, "version_closed"), 1);
}

/* ---- what is refused ---- */

static void put_broken(const char *name)
{
    size_t length;
    void *data = read_file(V2, &length);
    write_file(".new", data, length / 2);
    free(data);
    char to[160];
    snprintf(to, sizeof(to), "%s", in_root(name));
    assert_int_equal(rename(in_root(".new"), to), 0);
}

/* M5: one line with the reason, and the version before stays. */
static void a_broken_file_leaves_the_old_one(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    put_broken("version.so");
    copy(VERSIONS "/left_a.so", "left.so");
    reload_tells("added left.so\nkept version.so: it is cut short: copy or build it again\n");
    answers("version", "v1");
    answers("a", "left");
    reload_tells("again kept version.so: it is cut short: copy or build it again\n");
    put(VERSIONS "/version_refuses.so", "version.so");
    reload_tells("kept version.so: it refused to load: it does not want to\n");
    answers("version", "v1");
    struct registry *registry = plugin_set_registry(set);
    assert_string_equal(registry_refusal(registry, 0)->reason,
                        "it refused to load: it does not want to");
    registry_unref(registry);
    put(V2, "version.so");
    reload_tells("replaced version.so\n");
    answers("version", "v2");
}

static void a_new_file_that_is_refused(void **state)
{
    (void)state;
    load_folder();
    put_broken("new.so");
    reload_tells("refused new.so: it is cut short: copy or build it again\n");
    reload_tells("again refused new.so: it is cut short: copy or build it again\n");
    unlink(in_root("new.so"));
    reload_tells("");
}

/* Written into instead of replaced: dlopen() would take it for what it was. */
static void a_file_that_was_written_into(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    size_t length;
    void *data = read_file(V1, &length);
    int fd = open(in_root("version.so"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, data, length), length); /* the same bytes, as it is running */
    assert_int_equal(write(fd, "", 1), 1);
    close(fd);
    free(data);
    reload();
    assert_has(told, "kept version.so: it was written to while it is loaded, which can crash");
    assert_has(told, "(mv)");
    answers("version", "v1");
    put(V2, "version.so");
    reload_tells("replaced version.so\n");
    answers("version", "v2");
}

/* The plugins of a folder that cannot be trusted any more came from one that could. */
static void a_folder_that_cannot_be_used(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    assert_int_equal(chmod(root, 0777), 0);
    reload();
    assert_has(told, "refused .: everybody can write it: run chmod go-w '");
    assert_has(told, "kept version.so: its folder cannot be looked into\n");
    answers("version", "v1");
    assert_int_equal(chmod(root, 0700), 0);
    reload_tells("");
}

/* A file that must load stays when it is gone; at the start it must be there. */
static void a_file_that_must_load(void **state)
{
    (void)state;
    copy(V1, "version.so");
    assert_true(plugin_set_add_file(set, in_root("version.so")));
    assert_true(plugin_set_load(set, &error));
    assert_int_equal(unlink(in_root("version.so")), 0);
    reload_tells("kept version.so: it cannot be opened: No such file or directory\n");
    answers("version", "v1");
    copy(V2, "version.so");
    reload_tells("replaced version.so\n");

    static const struct loader loader = {.refused = refused};
    struct plugin_set *other = plugin_set_new(&loader);
    assert_true(plugin_set_add_file(other, in_root("nowhere.so")));
    assert_false(plugin_set_load(other, &error));
    assert_has(error.message, "nowhere.so: it cannot be opened: No such file or directory");
    plugin_set_free(other);
}

/* ---- names (D19) ---- */

static void two_plugins_swap_their_names(void **state)
{
    (void)state;
    copy(VERSIONS "/left_a.so", "left.so");
    copy(VERSIONS "/right_b.so", "right.so");
    load_folder();
    put(VERSIONS "/left_b.so", "left.so");
    put(VERSIONS "/right_a.so", "right.so");
    reload_tells("replaced left.so\nreplaced right.so\n");
    answers("a", "right");
    answers("b", "left");
}

/* What was there before keeps its name, also from a file that comes first in the folder. */
static void names_belong_to_those_who_stay(void **state)
{
    (void)state;
    copy(VERSIONS "/left_a.so", "left.so");
    load_folder();
    copy(VERSIONS "/third_a.so", "a_third.so");
    reload();
    assert_has(told, "refused a_third.so: Tool with name 'a' already registered from");
    answers("a", "left");
}

/* left wants b, which right does not give up, because its new file is refused; so left keeps a,
 * and third, which was to have it, is left out. */
static void a_refusal_is_followed_to_its_end(void **state)
{
    (void)state;
    copy(VERSIONS "/left_a.so", "left.so");
    copy(VERSIONS "/right_b.so", "right.so");
    load_folder();
    copy(VERSIONS "/third_a.so", "a_third.so");
    put(VERSIONS "/left_b.so", "left.so");
    put(VERSIONS "/version_refuses.so", "right.so");
    reload();
    assert_has(told, "refused a_third.so: Tool with name 'a' already registered from");
    assert_has(told, "kept left.so: Tool with name 'b' already registered from");
    assert_has(told, "kept right.so: it refused to load: it does not want to");
    answers("a", "left");
    answers("b", "right");
    put(VERSIONS "/right_a.so", "right.so");
    unlink(in_root("a_third.so"));
    reload_tells("replaced left.so\nreplaced right.so\n");
    answers("a", "right");
    answers("b", "left");
}

/* ---- objects ---- */

/* T16: one factory call for a file, whatever leads to it; a copy is another plugin. */
static void links_and_copies(void **state)
{
    (void)state;
    copy(V1, "version.so");
    load_folder();
    assert_int_equal(symlink("version.so", in_root("soft.so")), 0);
    assert_int_equal(link(in_root("version.so"), in_root("zhard.so")), 0);
    copy(V1, "zcopy.so");
    reload();
    assert_has(told, "refused zcopy.so: plugin 'version' was already loaded from");
    assert_null(strstr(told, "soft"));
    assert_null(strstr(told, "hard"));
    assert_int_equal(count(object(0), "version_made"), 1);
    /* Another name of what was removed is a plugin of its own, of the same object. */
    const struct object *first = object(0);
    unlink(in_root("zcopy.so"));
    unlink(in_root("version.so"));
    unlink(in_root("soft.so"));
    reload_tells("added zhard.so\nremoved version.so\n");
    assert_ptr_equal(object(0), first);
    assert_int_equal(count(first, "version_made"), 2);
    assert_int_equal(count(first, "version_closed"), 1);
    answers("version", "v1");
}

/* What was loaded from a path before is not mapped once more when it comes back. */
static void going_to_and_fro_maps_nothing_new(void **state)
{
    (void)state;
    const struct object *seen[2];
    copy(COUNTER, "version.so");
    load_folder();
    for (int round = 0; round < 3; round++) {
        put(V1, "version.so");
        reload_tells("replaced version.so\n");
        answers("version", "v1");
        if (round)
            assert_ptr_equal(object(0), seen[0]);
        seen[0] = object(0);
        put(V2, "version.so");
        reload_tells("replaced version.so\n");
        answers("version", "v2");
        if (round)
            assert_ptr_equal(object(0), seen[1]);
        seen[1] = object(0);
    }
    assert_int_equal(count(seen[0], "version_made"), 3);
    assert_int_equal(count(seen[0], "version_closed"), 3);
    assert_int_equal(count(seen[1], "version_closed"), 2);
}

/* A copy of what runs elsewhere, and of what was moved aside, has statics of its own. */
static void two_that_are_loaded_share_no_object(void **state)
{
    (void)state;
    copy(VERSIONS "/right_b.so", "x.so");
    load_folder();
    put(V1, "x.so");
    reload();
    const struct object *first = object(0);
    assert_int_equal(rename(in_root("x.so"), in_root("aside.so")), 0);
    copy(V1, "x.so");
    reload();
    assert_has(told, "refused aside.so: plugin 'version' was already loaded from");
    assert_has(told, "replaced x.so\n");
    assert_ptr_not_equal(object(0), first);
    answers("version", "v1");
    /* Its own file is another one's again: what it runs by its content stays its own. */
    unlink(in_root("aside.so"));
    put(V2, "x.so");
    reload_tells("replaced x.so\n");
    answers("version", "v2");
}

/* ---- what was counted ---- */

static int64_t counted(const char *plugin, const char *own_name, const char *name)
{
    struct registry *registry = plugin_set_registry(set);
    struct counted found;
    struct account_sum sum;
    int64_t calls = -1;
    for (size_t i = 0; registry_counted(registry, i, &found); i++) {
        if (strcmp(found.plugin, plugin) != 0 || strcmp(found.own_name, own_name) != 0)
            continue;
        assert_int_equal(calls, -1); /* each once */
        assert_string_equal(found.name, name);
        account_read(found.account, &sum);
        calls = sum.calls;
    }
    registry_unref(registry);
    return calls;
}

/* R4: a call is counted once, whatever became of its tool since. */
static void no_call_is_lost(void **state)
{
    (void)state;
    put(V1, "version.so");
    load_folder();
    struct registry *first = plugin_set_registry(set);
    answers("version", "v1");
    put(V2, "version.so");
    reload_tells("replaced version.so\n");
    answers("version", "v2");
    assert_int_equal(counted("version", "version", "version"), 2);
    answers_in(first, "version", "v1"); /* one that was in flight */
    assert_int_equal(counted("version", "version", "version"), 3);
    registry_unref(first);
    configured = "{\"prefix\":\"my_\"}";
    reload_tells("replaced version.so\n");
    answers("my_version", "v2");
    assert_int_equal(counted("version", "version", "my_version"), 4);
    unlink(in_root("version.so"));
    reload_tells("removed version.so\n");
    reload_tells("");
    assert_int_equal(counted("version", "version", "my_version"), 4);
    configured = "{}";
    put(V1, "version.so");
    reload_tells("added version.so\n");
    answers("version", "v1");
    assert_int_equal(counted("version", "version", "version"), 5);
}

/* ---- no memory ---- */

/* Whatever allocation fails: nothing is lost, and it can be tried again. */
static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    copy(V1, "version.so");
    copy(VERSIONS "/left_a.so", "left.so");
    copy(VERSIONS "/right_b.so", "right.so");
    load_folder();
    unlink(in_root("right.so")); /* the account of its tool is kept */
    int failed = 1;
    for (int allowed = 0; failed; allowed++) {
        bool second = allowed % 2;
        struct registry *before = plugin_set_registry(set);
        put(second ? V2 : V1, "version.so");
        ask(0); /* left */
        *told = '\0';
        fail_after(allowed);
        bool done = plugin_set_reload(set, tell, NULL, &error);
        failed = fail_never();
        if (!done) {
            struct registry *now = plugin_set_registry(set);
            assert_ptr_equal(now, before);
            assert_string_equal(told, "");
            assert_true(plugin_set_is_asked(set)); /* what was asked for is still to be done */
            registry_unref(now);
        }
        registry_unref(before);
        answers("a", "left");
        reload();
        if (!done)
            assert_has(told, "replaced left.so\n");
        answers("version", second ? "v2" : "v1");
        assert_true(allowed < 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
        TEST(what_did_not_change_keeps_its_state),
        TEST(another_configuration_is_a_change),
        TEST(a_plugin_that_asks_is_made_anew),
        TEST(one_that_asks_and_is_refused_stays),
        TEST(a_set_that_goes_hears_nobody),
        TEST(a_new_version_takes_over),
        TEST(a_file_that_is_gone),
        TEST(a_call_in_flight_ends_on_the_old_instance),
        TEST(a_broken_file_leaves_the_old_one),
        TEST(a_new_file_that_is_refused),
        TEST(a_file_that_was_written_into),
        TEST(a_folder_that_cannot_be_used),
        TEST(a_file_that_must_load),
        TEST(two_plugins_swap_their_names),
        TEST(names_belong_to_those_who_stay),
        TEST(a_refusal_is_followed_to_its_end),
        TEST(links_and_copies),
        TEST(going_to_and_fro_maps_nothing_new),
        TEST(two_that_are_loaded_share_no_object),
        TEST(no_call_is_lost),
        TEST(without_memory_nothing_is_lost),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
