/* Real files through the loader: M1-M7, T12, T15-T17, T45. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>

#include "folder.h"
#include "plugin/loader.h"

/* ---- a folder and a registry of the test's own ---- */

static struct registry *registry;
static struct loader loader;
static char told[4096]; /* "PATH: REASON" lines of the refusals, below the folder */
static struct error error;

static void refused(void *context, const char *path, const char *reason)
{
    (void)context;
    size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, "%s: %s\n", path + strlen(root) + 1, reason);
}

static int start(void **state)
{
    (void)state;
    *told = '\0';
    registry = registry_new();
    loader = (struct loader){.registry = registry, .refused = refused};
    error = (struct error)ERROR_INIT;
    return make_root() == 0 && registry ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    registry_unref(registry);
    return remove_root();
}

static int counter(const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return 0;
    const int *found = dlsym(handle, name);
    assert_non_null(found);
    int value = *found;
    dlclose(handle);
    return value;
}

static int made(const char *name)
{
    return counter(in_root(name), "fixture_made");
}

static int closed(const char *name)
{
    return counter(in_root(name), "fixture_closed");
}

static void load(const char *name)
{
    if (!loader_load(&loader, in_root(name), &error))
        fail_msg("%s: %s", name, error.message);
}

static void cannot_load(const char *name, const char *why)
{
    *told = '\0';
    assert_false(loader_load(&loader, in_root(name), &error));
    assert_has(error.message, why);
    assert_int_equal(error.kind, ERROR_PLUGIN);
    assert_null(strchr(error.message, '\n'));

    char line[1400];
    snprintf(line, sizeof(line), "%s: %s\n", name, error.message);
    assert_string_equal(told, line);
}

/* ---- what works ---- */

/* M2, M3, M4, T12, T15, T16, T17 */
static void test_good(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    load("good.so");
    const struct tool *tool = registry_find(registry, "good_tool");
    assert_non_null(tool);
    assert_string_equal(tool->meta.description, "Works.");
    assert_string_equal(tool->plugin->name, "good");
    assert_string_equal(tool->plugin->version, "1.0");
    assert_string_equal(tool->plugin->path, in_root("good.so"));
    assert_string_equal(registry_hook(registry, 0)->name, "looks");
    assert_int_equal(made("good.so"), 1); /* and there was no call yet */
    assert_int_equal(closed("good.so"), 0);

    registry_ref(registry);
    registry_unref(registry);
    assert_int_equal(closed("good.so"), 0);
    registry_unref(registry);
    registry = NULL;
    assert_int_equal(made("good.so"), 1);
    assert_int_equal(closed("good.so"), 1); /* still mapped: it can be asked */
}

/* A path, a symbolic link and a hard link are one plugin, silently. */
/* The interface grows, and a plugin that knows more of it than this host is welcome. */
static void test_newer_minor(void **state)
{
    (void)state;
    copy(GOOD "/newer_minor.so", "newer_minor.so");
    load("newer_minor.so");
    assert_non_null(registry_find(registry, "newer_minor_tool"));
}

static void test_links_are_the_same_plugin(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    assert_int_equal(symlink("good.so", in_root("soft.so")), 0);
    assert_int_equal(link(in_root("good.so"), in_root("hard.so")), 0);
    load("good.so");
    load("good.so");
    load("soft.so");
    load("hard.so");
    assert_string_equal(told, "");
    assert_int_equal(made("good.so"), 1);
    assert_int_equal(registry_tool_count(registry), 1);
    assert_null(registry_plugin(registry, 1));
}

/* D19: another file with the same plugin; the first one stays. */
static void test_a_copy_is_another_plugin(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    copy(GOOD "/good.so", "copy.so");
    copy(BAD "/duplicate_name.so", "duplicate.so");
    load("good.so");
    char why[512];
    snprintf(why, sizeof(why),
             "plugin 'good' was already loaded from '%s/good.so', and '%s/copy.so' has the same "
             "name: remove one of them",
             root, root);
    cannot_load("copy.so", why);
    snprintf(why, sizeof(why),
             "Tool with name 'good_tool' already registered from '%s/good.so', and "
             "'%s/duplicate.so' brings it again: give one of the two plugins a \"prefix\"",
             root, root);
    cannot_load("duplicate.so", why);
    assert_string_equal(registry_find(registry, "good_tool")->plugin->path, in_root("good.so"));
    assert_int_equal(closed("good.so"), 0);
    /* T45: factory, duplicate check, and destroyed exactly once. */
    assert_int_equal(made("copy.so"), 1);
    assert_int_equal(closed("copy.so"), 1);
    assert_int_equal(closed("duplicate.so"), 1);
}

static char *section(void *context, const char *plugin)
{
    (void)context;
    return strdup(strcmp(plugin, "duplicate") == 0 ? "{\"prefix\":\"my_\"}" : "{}");
}

/* D19: the configuration resolves it; the section goes by the file's name. */
static void test_prefix_resolves_duplicates(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    copy(BAD "/duplicate_name.so", "duplicate.so");
    loader.config = section;
    load("good.so");
    load("duplicate.so");
    assert_string_equal(registry_tool(registry, 0)->name, "good_tool");
    assert_string_equal(registry_tool(registry, 1)->name, "my_good_tool");
}

/* Without a slash dlopen() alone would search the system's folders. */
static void test_a_name_without_a_slash(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(root), 0);
    bool good = loader_load(&loader, "good.so", &error);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_true(good);
    assert_int_equal(registry_tool_count(registry), 1);
}

/* ---- what does not ---- */

/* M5: every misbehaviour has its line, and what is good works beside it. */
static void test_misbehaviours(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
        int made, closed;
    } cases[] = {
        {"no_stamp", "it has no mortise_plugin_stamp (or hides it): end the plugin with", 0, 0},
        {"other_major", "it is built for plugin interface 2.0, this host has 1.", 0, 0},
        {"undefined_symbol", "it cannot be loaded: undefined symbol: fixture_nowhere: link", 0, 0},
        {"needs_missing", "it cannot be loaded: libfixture_helper.so: cannot open shared", 0, 0},
        {"refuses", "it refused to load: it needs a database: set \"database\"", 1, 0},
        {"returns_null", "it refused to load and gave no reason", 1, 0},
        {"bad_name", "tool 0 has the name 'bad name!': a name is 1 to 64 of", 1, 1},
        {"bad_schema", "the input schema of tool 'find' cannot be used: '/properties/name/pattern'",
         1, 1},
        {"null_size", "its mortise_plugin is not complete: 'size' says 8 bytes", 1, 0},
        {"null_name", "it has the name '': a plugin's name is", 1, 1},
        {"null_tools", "it counts 1 tools and 1 hooks, but an array of them is NULL", 1, 1},
        {"null_hooks", "it counts 1 tools and 1 hooks, but an array of them is NULL", 1, 1},
        {"null_tool", "tool 0 is not complete: it needs a mortise_tool", 1, 1},
        {"null_tool_size", "tool 0 is not complete: it needs a mortise_tool", 1, 1},
        {"null_meta", "tool 0 is not complete: it needs a mortise_tool", 1, 1},
        {"null_run", "tool 0 is not complete: it needs a mortise_tool", 1, 1},
        {"null_tool_name", "tool 0 has the name '': a name is 1 to 64 of", 1, 1},
        {"null_hook", "hook 0 is not complete: it needs a mortise_hooks", 1, 1},
        {"null_hook_name", "hook 0 has the name '': a name is 1 to 64 of", 1, 1},
    };
    size_t count = sizeof(cases) / sizeof(*cases);
    for (size_t i = 0; i < count; i++) {
        char from[512], name[64];
        snprintf(from, sizeof(from), BAD "/%s.so", cases[i].name);
        snprintf(name, sizeof(name), "%s.so", cases[i].name);
        copy(from, name);
        cannot_load(name, cases[i].why);
        if (cases[i].made) {
            assert_int_equal(made(name), 1);
            assert_int_equal(closed(name), cases[i].closed);
        }
        assert_string_equal(registry_refusal(registry, i)->path, in_root(name));
        assert_string_equal(registry_refusal(registry, i)->reason, error.message);
    }
    assert_int_equal(registry_tool_count(registry), 0);
    assert_null(registry_hook(registry, 0));
    assert_null(registry_refusal(registry, count));
    copy(GOOD "/good.so", "good.so");
    load("good.so");
}

/* The factory of a file that was refused is not called again by way of a link. */
static void test_a_link_to_a_refused_plugin(void **state)
{
    (void)state;
    copy(BAD "/refuses.so", "refuses.so");
    assert_int_equal(symlink("refuses.so", in_root("soft.so")), 0);
    cannot_load("refuses.so", "it refused to load: ");
    char why[256];
    snprintf(why, sizeof(why), "it is the same file as '%s/refuses.so', which was refused", root);
    cannot_load("soft.so", why);
    assert_int_equal(made("refuses.so"), 1);
}

/* What no compiler makes. */
static void make_damaged_files(void)
{
    size_t length;
    unsigned char *data = read_file(GOOD "/good.so", &length);
    write_file("empty.so", "", 0);
    write_file("text.so", "#!/bin/sh\necho no plugin\n", 25);
    write_file("truncated.so", data, length / 2);
    write_file("one_byte_less.so", data, length - 1);
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof(header));
    header.e_machine = EM_S390;
    memcpy(data, &header, sizeof(header));
    write_file("other_machine.so", data, length);
    free(data);

    copy(GOOD "/good.so", "world_writable.so");
    copy(GOOD "/good.so", "group_writable.so");
    assert_int_equal(chmod(in_root("world_writable.so"), 0757), 0);
    assert_int_equal(chmod(in_root("group_writable.so"), 0775), 0);
    assert_int_equal(symlink("gone", in_root("dangling.so")), 0);
    assert_int_equal(mkdir(in_root("folder.so"), 0755), 0);
}

static const struct {
    const char *name, *why;
} damaged[] = {
    {"empty.so", "it is empty: copy or build it again"},
    {"text.so", "it is no shared object (not ELF): a plugin is built with"},
    {"truncated.so", "it is cut short: copy or build it again"},
    {"one_byte_less.so", "it is cut short: copy or build it again"},
    {"other_machine.so", "it is built for s390, this host is "},
    {"world_writable.so", "everybody can write it: run chmod go-w '"},
    {"group_writable.so", "its group can write it: run chmod go-w '"},
    {"dangling.so", "it is a link to 'gone', which does not exist: remove"},
    {"folder.so", "it is a folder, no regular file"},
    {"missing.so", "it cannot be opened: No such file or directory"},
};

static void test_damaged_files(void **state)
{
    (void)state;
    make_damaged_files();
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
        cannot_load(damaged[i].name, damaged[i].why);
    copy(GOOD "/good.so", "good.so");
    load("good.so");
    assert_int_equal(registry_tool_count(registry), 1);
}

/* ---- folders ---- */

/* M1, M5: in order; the bad ones stop nothing. */
static void test_folder(void **state)
{
    (void)state;
    make_damaged_files();
    copy(GOOD "/good.so", "a_good.so");
    copy(GOOD "/constructor_writes_file.so", "z_good.so");
    copy(BAD "/bad_name.so", "bad_name.so");
    copy(BAD "/duplicate_name.so", "duplicate.so");
    copy(GOOD "/good.so", ".hidden.so");
    loader_load_folder(&loader, root, false);
    assert_string_equal(registry_plugin(registry, 0)->name, "good");
    assert_string_equal(registry_plugin(registry, 1)->name, "constructor");
    assert_int_equal(registry_tool_count(registry), 2);
    size_t refusals = 0, lines = 0;
    while (registry_refusal(registry, refusals))
        refusals++;
    for (const char *c = told; *c; c++)
        lines += *c == '\n';
    assert_int_equal(refusals, 10); /* 8 damaged files, a bad name, a duplicate */
    assert_int_equal(lines, 10);
    assert_int_equal(strncmp(told, "bad_name.so: ", 13), 0);
}

/* Nothing is loaded from where others could put something. */
static void test_writable_folder(void **state)
{
    (void)state;
    copy(GOOD "/good.so", "good.so");
    assert_int_equal(chmod(root, 0777), 0);
    loader_load_folder(&loader, root, false);
    assert_int_equal(registry_tool_count(registry), 0);
    assert_has(registry_refusal(registry, 0)->reason, "everybody can write it: run chmod go-w '");
    assert_string_equal(registry_refusal(registry, 0)->path, root);
}

/* ---- checking ---- */

static void check(const char *name, const char *why)
{
    mortise_stamp stamp = {0};
    bool good = loader_check(in_root(name), &stamp, &error);
    if (why && good)
        fail_msg("%s is good, but: %s", name, why);
    if (why) {
        assert_has(error.message, why);
        return;
    }
    if (!good)
        fail_msg("%s: %s", name, error.message);
    assert_int_equal(stamp.magic, MORTISE_MAGIC);
    assert_int_equal(stamp.abi_major, MORTISE_ABI_MAJOR);
}

static void test_check(void **state)
{
    (void)state;
    make_damaged_files();
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
        check(damaged[i].name, damaged[i].why);
    static const struct {
        const char *name, *why;
    } cases[] = {
        {"no_stamp", "it has no mortise_plugin_stamp"},
        {"other_major", "it is built for plugin interface 2.0"},
        {"undefined_symbol", "it needs the symbol 'fixture_nowhere', which nothing defines: link"},
        {"needs_missing", "it needs the library 'libfixture_helper.so', which is not there"},
        {"refuses", NULL}, /* only its code could tell */
        {"bad_name", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char from[512], name[64];
        snprintf(from, sizeof(from), BAD "/%s.so", cases[i].name);
        snprintf(name, sizeof(name), "%s.so", cases[i].name);
        copy(from, name);
        check(name, cases[i].why);
    }
}

/* Not one byte of the file runs, nor of a library that it brings along. */
static void test_check_runs_nothing(void **state)
{
    (void)state;
    copy(GOOD "/constructor_writes_file.so", "constructor.so");
    copy(GOOD "/needs_library.so", "needs_library.so");
    assert_int_equal(mkdir(in_root("lib"), 0755), 0);
    copy(GOOD "/lib/libfixture_helper.so", "lib/libfixture_helper.so");
    char mark[160];
    snprintf(mark, sizeof(mark), "%s/mark", root);
    setenv("MORTISE_TEST_MARK", mark, 1);
    check("constructor.so", NULL);
    check("needs_library.so", NULL);
    assert_int_equal(access(mark, F_OK), -1);

    load("constructor.so"); /* to know that the mark works */
    assert_int_equal(access(mark, F_OK), 0);
    assert_int_equal(unlink(mark), 0);
    load("needs_library.so");
    assert_int_equal(access(mark, F_OK), 0);
    unsetenv("MORTISE_TEST_MARK");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
        TEST(test_good),
        TEST(test_newer_minor),
        TEST(test_links_are_the_same_plugin),
        TEST(test_a_copy_is_another_plugin),
        TEST(test_prefix_resolves_duplicates),
        TEST(test_a_name_without_a_slash),
        TEST(test_misbehaviours),
        TEST(test_a_link_to_a_refused_plugin),
        TEST(test_damaged_files),
        TEST(test_folder),
        TEST(test_writable_folder),
        TEST(test_check),
        TEST(test_check_runs_nothing),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
