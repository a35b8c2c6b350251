/* Only known bytes are loaded, and what was hashed is what runs: M5, T16, R4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>

#include "folder.h"
#include "plugin/set.h"
#include "tool/call.h"

#define V1 VERSIONS "/version_1.so"
#define V2 VERSIONS "/version_2.so"

static struct plugin_set *set;
static char told[4096];
static char trusted[8][SHA256_TEXT];
static size_t trusted_count;
static const char *sleight; /* put in the place of what is being judged, once; NULL: nothing */
static bool in_place;       /* written into the file, not renamed over it */
static const char *granted; /* the scopes of every plugin, as JSON; NULL: all */
static json_t *granted_json;
static struct error error;

static void overwrite(const char *from, const char *path)
{
    size_t length;
    void *data = read_file(from, &length);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), length);
    close(fd);
    free(data);
}

static void swap(const char *path)
{
    const char *from = sleight;
    sleight = NULL;
    if (from && in_place)
        overwrite(from, path);
    else if (from)
        put(from, strrchr(path, '/') + 1);
}

static bool admits(void *context, const char *path, const char *sha256, struct error *reason)
{
    (void)context;
    swap(path);
    for (size_t i = 0; i < trusted_count; i++)
        if (strcmp(trusted[i], sha256) == 0)
            return true;
    return error_set(reason, ERROR_PLUGIN, "it is not trusted");
}

static const json_t *scopes(void *context, const char *plugin)
{
    (void)context;
    (void)plugin;
    json_decref(granted_json);
    granted_json = granted ? json_loads(granted, JSON_DECODE_ANY, NULL) : NULL;
    return granted_json;
}

static void trust(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && sealed_hash(fd, trusted[trusted_count++], &error));
    close(fd);
}

static void refused(void *context, const char *path, const char *reason)
{
    (void)context;
    size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, "%s: %s\n", path + strlen(root) + 1, reason);
}

static int start(void **state)
{
    (void)state;
    static const struct loader loader = {.admits = admits, .scopes = scopes, .refused = refused};
    *told = '\0';
    trusted_count = 0;
    sleight = granted = NULL;
    in_place = false;
    set = make_root() == 0 ? plugin_set_new(&loader) : NULL;
    return set ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    plugin_set_free(set);
    json_decref(granted_json);
    granted_json = NULL;
    return remove_root();
}

static void load_folder(const char *wanted)
{
    assert_true(plugin_set_add_folder(set, root, false));
    if (!plugin_set_load(set, &error))
        fail_msg("%s", error.message);
    assert_string_equal(told, wanted);
}

static void tell(void *context, const struct plugin_change *change)
{
    static const char *const kinds[] = {"added", "replaced", "removed", "kept", "refused"};
    size_t used = strlen(told);
    (void)context;
    snprintf(told + used, sizeof(told) - used, "%s%s%s%s\n", kinds[change->kind],
             change->path + strlen(root), change->reason ? ": " : "",
             change->reason ? change->reason : "");
}

static void reload_tells(const char *wanted)
{
    *told = '\0';
    if (!plugin_set_reload(set, tell, NULL, &error))
        fail_msg("%s", error.message);
    assert_string_equal(told, wanted);
}

static void answers(const char *tool, const char *wanted)
{
    struct registry *registry = plugin_set_registry(set);
    struct tool_result result;
    tool_call(registry, tool, "{}", 2, NULL, NULL, &result);
    if (wanted)
        assert_string_equal(text_cstr(&result.text), wanted);
    else
        assert_has(text_cstr(&result.text), "' not found");
    tool_result_release(&result);
    registry_unref(registry);
}

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* ---- what is admitted ---- */

static void only_what_is_trusted(void **state)
{
    (void)state;
    int before = open_files();
    copy(V1, "version.so");
    copy(VERSIONS "/left_a.so", "left.so");
    copy(VERSIONS "/third_a.so", "third.so");
    trust(V1);
    trust(VERSIONS "/third_a.so");
    load_folder("left.so: it is not trusted\n");
    answers("version", "v1");
    answers("third", NULL);
    answers("a", "third");
    assert_int_equal(open_files(), before);
    struct registry *registry = plugin_set_registry(set);
    assert_string_equal(registry_find(registry, "version")->plugin->sha256, trusted[0]);
    registry_unref(registry);
}

/* Even a constructor of it would have run by the time that it is looked at. */
static void nothing_of_another_runs(void **state)
{
    (void)state;
    size_t length;
    char *data = read_file(GOOD "/constructor_writes_file.so", &length);
    setenv("MORTISE_TEST_MARK", in_root("written"), 1);
    trust(GOOD "/constructor_writes_file.so");
    data[length - 1] ^= 1; /* of the section headers, which nobody needs */
    write_file("constructor_writes_file.so", data, length);
    free(data);
    load_folder("constructor_writes_file.so: it is not trusted\n");
    assert_int_equal(access(in_root("written"), F_OK), -1);
    put(GOOD "/constructor_writes_file.so", "constructor_writes_file.so");
    assert_true(plugin_set_reload(set, tell, NULL, &error));
    assert_int_equal(access(in_root("written"), F_OK), 0); /* so it would have */
}

/* ---- between the look and the load ---- */

static void what_takes_its_place_is_not_loaded(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    sleight = V2;
    load_folder("");
    answers("version", "v1");
    reload_tells("kept/version.so: it is not trusted\n");
    answers("version", "v1");
}

static void what_is_written_into_it_is_not_loaded(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    sleight = V2;
    in_place = true;
    load_folder("");
    answers("version", "v1");
    /* The other way round: good bytes that come later help nobody. */
    copy(VERSIONS "/left_b.so", "left.so");
    trust(VERSIONS "/left_a.so");
    sleight = VERSIONS "/left_a.so";
    reload_tells("refused/left.so: it is not trusted\nkept/version.so: it is not trusted\n");
    answers("version", "v1");
}

/* As it runs from a copy, a file that is written into takes nothing along. */
static void what_is_written_into_it_later_waits_for_a_reload(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    load_folder("");
    overwrite(V2, in_root("version.so"));
    answers("version", "v1");
    reload_tells("kept/version.so: it is not trusted\n");
    trust(V2);
    reload_tells("replaced/version.so\n");
    answers("version", "v2");
    overwrite(V1, in_root("version.so"));
    reload_tells("replaced/version.so\n");
    answers("version", "v1");
}

/* Many copies come from the same number of descriptor. */
static void each_is_loaded_from_its_own_copy(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    trust(V2);
    load_folder("");
    for (int i = 0; i < 6; i++) {
        put(i % 2 ? V1 : V2, "version.so");
        reload_tells("replaced/version.so\n");
        answers("version", i % 2 ? "v1" : "v2");
    }
}

/* ---- names ---- */

/* T16 */
static void two_names_of_one_file(void **state)
{
    (void)state;
    copy(VERSIONS "/right_a.so", "a.so");
    assert_int_equal(link(in_root("a.so"), in_root("b.so")), 0);
    assert_int_equal(symlink("a.so", in_root("c.so")), 0);
    trust(VERSIONS "/right_a.so");
    load_folder("");
    answers("a", "right");
    struct registry *registry = plugin_set_registry(set);
    assert_null(registry_plugin(registry, 1));
    const struct object *object = registry_plugin(registry, 0)->object;
    const int *made = dlsym(object->handle, "version_made");
    assert_int_equal(*made, 1);
    registry_unref(registry);
}

/* What is not in its bytes could be anything. */
static void one_that_brings_a_library(void **state)
{
    (void)state;
    copy(GOOD "/needs_library.so", "needs_library.so");
    trust(GOOD "/needs_library.so");
    load_folder("needs_library.so: it looks for libraries in '$ORIGIN/lib', so what runs is more "
                "than the file that is trusted: build it without that RUNPATH, or link them "
                "statically\n");
}

/* ---- loading anew ---- */

/* R4 */
static void a_changed_file_leaves_the_old_one(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    load_folder("");
    reload_tells("");
    put(V2, "version.so");
    reload_tells("kept/version.so: it is not trusted\n");
    answers("version", "v1");
    trust(V2);
    reload_tells("replaced/version.so\n");
    answers("version", "v2");
}

static void one_that_is_not_trusted_any_more(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    load_folder("");
    trusted_count = 0;
    reload_tells("kept/version.so: it is not trusted\n");
    answers("version", "v1");
}

/* F66 */
static void other_scopes_are_a_change(void **state)
{
    (void)state;
    copy(V1, "version.so");
    trust(V1);
    load_folder("");
    granted = "[\"a\"]";
    reload_tells("replaced/version.so\n");
    reload_tells("");
    granted = "{}";
    reload_tells("kept/version.so: its \"scopes\" in the configuration must be a list of scopes, "
                 "such as [\"notes\"]\n");
    granted = "[]";
    reload_tells("replaced/version.so\n");
    granted = NULL;
    reload_tells("replaced/version.so\n");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_what_is_trusted), TEST(nothing_of_another_runs),
        TEST(what_takes_its_place_is_not_loaded), TEST(what_is_written_into_it_is_not_loaded),
        TEST(what_is_written_into_it_later_waits_for_a_reload),
        TEST(each_is_loaded_from_its_own_copy), TEST(two_names_of_one_file),
        TEST(one_that_brings_a_library), TEST(a_changed_file_leaves_the_old_one),
        TEST(one_that_is_not_trusted_any_more), TEST(other_scopes_are_a_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
