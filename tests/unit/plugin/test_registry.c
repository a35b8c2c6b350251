#include "../base/failing.h"
#include "cmocka_all.h"
#include "sample.h"
#include "stderr_capture.h"

#include <pthread.h>

#include "plugin/meta.h"

static void add(struct registry *registry, struct sample *sample)
{
    struct error error = ERROR_INIT;
    if (!sample_add(registry, sample, &error))
        fail_msg("%s", error.message);
}

static void refused(struct registry *registry, struct sample *sample, const char *why)
{
    struct error error = ERROR_INIT;
    sample->closed = 0;
    assert_false(sample_add(registry, sample, &error));
    assert_has(error.message, why);
    assert_int_equal(error.kind, ERROR_PLUGIN);
    assert_int_equal(sample->closed, MORTISE_HAS(&sample->face, mortise_plugin, close));
}

static void names(const struct registry *registry, char out[256])
{
    const struct tool *tool;
    *out = '\0';
    for (size_t i = 0; (tool = registry_tool(registry, i)); i++) {
        size_t used = strlen(out);
        snprintf(out + used, 256 - used, "%s ", tool->name);
    }
}

static void has_tools(const struct registry *registry, const char *wanted)
{
    char found[256];
    names(registry, found);
    assert_string_equal(found, wanted);
}

/* ---- what the registry is ---- */

/* T21, T29 */
static void test_new_is_empty(void **state)
{
    (void)state;
    struct registry *registry = registry_new();
    assert_int_equal(registry_tool_count(registry), 0);
    assert_null(registry_find(registry, "echo"));
    assert_null(registry_tool(registry, 0));
    assert_null(registry_hook(registry, 0));
    assert_null(registry_plugin(registry, 0));
    assert_null(registry_refusal(registry, 0));
    registry_unref(registry);
    registry_unref(NULL);
}

/* T22-T24, T28, T46: every reference sees the same map and keeps it alive. */
static void test_references_share_it(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, "one");
    sample_tool(&sample, "echo");
    struct registry *registry = registry_new(), *other = registry_ref(registry);
    add(registry, &sample);
    const struct tool *tool = registry_find(other, "echo");
    assert_ptr_equal(tool->instance, &sample.tools[0]);
    registry_unref(registry);
    assert_int_equal(sample.closed, 0);
    assert_string_equal(tool->name, "echo");
    registry_unref(other);
    assert_int_equal(sample.closed, 1);
}

/* C9: a tool that its plugin can do without is left out alone, with the reason in the log; the same
 * mistake in another one is the plugin's. */
static void test_a_tool_that_may_be_left_out(void **state)
{
    (void)state;
    struct sample sample;
    char said[512];
    sample_init(&sample, "one");
    sample_tool(&sample, "first");
    sample_tool(&sample, "bad name!");
    sample_tool(&sample, "bad_schema")->input_schema = "{\"type\":\"object\",\"required\":1}";
    sample_tool(&sample, "last");
    sample.tools[1].options = sample.tools[2].options = MORTISE_MAY_BE_LEFT_OUT;
    struct registry *registry = registry_new();
    struct stderr_capture capture = capture_stderr();
    add(registry, &sample);
    captured_stderr(capture, said, sizeof(said));
    has_tools(registry, "first last ");
    assert_has(said, "plugin 'one': a tool is left out: tool 1 has the name 'bad name!'");
    assert_has(said, "plugin 'one': a tool is left out: the input schema of tool 'bad_schema'");
    registry_unref(registry);

    registry = registry_new();
    sample.tools[2].size = offsetof(mortise_tool, options); /* of an older interface */
    capture = capture_stderr();
    refused(registry, &sample, "the input schema of tool 'bad_schema' cannot be used");
    captured_stderr(capture, said, sizeof(said));
    has_tools(registry, "");
    registry_unref(registry);
}

/* T1, T4, T35: the host's own copy of everything. */
static void test_meta_is_copied(void **state)
{
    (void)state;
    struct sample sample;
    char name[] = "echo", description[] = "Says it.", schema[] = "{\"type\":\"object\"}";
    char scope[] = "read", title[] = "Echo";
    const char *scopes[] = {scope, NULL};
    sample_init(&sample, "one");
    *sample_tool(&sample, name) = (mortise_tool_meta){.size = sizeof(mortise_tool_meta),
                                                      .flags = MORTISE_READ_ONLY,
                                                      .name = name,
                                                      .description = description,
                                                      .input_schema = schema,
                                                      .output_schema = schema,
                                                      .scopes = scopes,
                                                      .title = title};
    struct registry *registry = registry_new();
    add(registry, &sample);
    memset(name, 'x', 4);
    memset(description, 'x', 4);
    memset(schema, 'x', 4);
    memset(scope, 'x', 4);
    memset(title, 'x', 4);
    scopes[0] = NULL;

    const mortise_tool_meta *meta = &registry_find(registry, "echo")->meta;
    assert_string_equal(meta->name, "echo");
    assert_string_equal(meta->description, "Says it.");
    assert_string_equal(meta->input_schema, "{\"type\":\"object\"}");
    assert_string_equal(meta->output_schema, "{\"type\":\"object\"}");
    assert_string_equal(meta->scopes[0], "read");
    assert_null(meta->scopes[1]);
    assert_string_equal(meta->title, "Echo");
    assert_int_equal(meta->flags, MORTISE_READ_ONLY);
    registry_unref(registry);
}

/* T48: with one registration. */
static void test_three_tools_at_once(void **state)
{
    (void)state;
    struct sample sample;
    struct registry *registry = registry_new();
    sample_init(&sample, "three");
    sample_tool(&sample, "one");
    sample_tool(&sample, "two");
    sample_tool(&sample, "three");
    add(registry, &sample);
    has_tools(registry, "one three two ");
    registry_unref(registry);
}

/* T34, T36: bytewise, whatever came first. */
static void test_sorted_by_bytes(void **state)
{
    (void)state;
    static const char *const orders[][4] = {{"b", "_", "B", "b-1"}, {"B", "b-1", "b", "_"}};
    for (size_t order = 0; order < 2; order++) {
        struct sample samples[4];
        struct registry *registry = registry_new();
        for (size_t i = 0; i < 4; i++) {
            sample_init(&samples[i], orders[order][i]);
            sample_tool(&samples[i], orders[order][i]);
            add(registry, &samples[i]);
        }
        has_tools(registry, "B _ b b-1 ");
        registry_unref(registry);
    }
}

/* D27: priority, then plugin, then position. */
static void test_hooks_are_sorted(void **state)
{
    (void)state;
    struct sample late, early;
    sample_init(&late, "zeta");
    sample_hook(&late, "z0", 0);
    sample_hook(&late, "z1", -5);
    sample_hook(&late, "z2", 0);
    sample_init(&early, "alpha");
    sample_hook(&early, "a0", 7);
    sample_hook(&early, "a1", 0);
    sample_hook(&early, "a2", INT32_MIN);
    struct registry *registry = registry_new();
    add(registry, &late);
    add(registry, &early);
    static const char *const wanted[] = {"a2", "z1", "a1", "z0", "z2", "a0"};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(registry_hook(registry, i)->name, wanted[i]);
    assert_null(registry_hook(registry, 6));
    registry_unref(registry);
}

/* ---- refusals ---- */

/* F21, T27, T37, T44, W118, D19: the whole later plugin, and both files are named. */
static void test_duplicates(void **state)
{
    (void)state;
    struct sample first, second;
    struct registry *registry = registry_new();
    sample_init(&first, "first");
    sample_tool(&first, "echo");
    add(registry, &first);
    sample_init(&second, "second");
    sample_tool(&second, "alone");
    sample_tool(&second, "echo");
    sample_hook(&second, "look", 0);
    refused(registry, &second,
            "Tool with name 'echo' already registered from '/first.so', and "
            "'/second.so' brings it again: give one of the two plugins a");
    has_tools(registry, "echo ");
    assert_ptr_equal(registry_find(registry, "echo")->instance, &first.tools[0]);
    assert_null(registry_find(registry, "alone"));
    assert_null(registry_hook(registry, 0));

    sample_init(&second, "second");
    sample_tool(&second, "twice");
    sample_tool(&second, "twice");
    refused(registry, &second, "Tool with name 'twice' already registered: '/second.so' brings it");

    sample_init(&second, "first");
    refused(registry, &second, "plugin 'first' was already loaded from '/first.so'");
    registry_unref(registry);
    assert_int_equal(first.closed, 1);
}

/* T37, C8: a tool that its plugin can do without gives way to any other, whoever comes first. */
static void test_a_tool_that_gives_way(void **state)
{
    (void)state;
    struct sample first, second, third, fourth;
    struct registry *registry = registry_new();
    sample_init(&first, "first");
    sample_tool(&first, "echo");
    add(registry, &first);
    sample_init(&second, "second");
    sample_tool(&second, "alone");
    sample_tool(&second, "echo");
    sample_tool(&second, "extra");
    sample_tool(&second, "extra");
    for (size_t i = 0; i < second.face.tool_count; i++)
        second.tools[i].options = MORTISE_MAY_BE_LEFT_OUT;
    add(registry, &second);
    has_tools(registry, "alone echo extra ");
    assert_ptr_equal(registry_find(registry, "echo")->instance, &first.tools[0]);
    assert_ptr_equal(registry_find(registry, "extra")->instance, &second.tools[2]);

    sample_init(&third, "third");
    sample_tool(&third, "alone");
    add(registry, &third);
    has_tools(registry, "alone echo extra ");
    assert_ptr_equal(registry_find(registry, "alone")->instance, &third.tools[0]);

    sample_init(&fourth, "fourth"); /* it needs one of the two */
    sample_tool(&fourth, "extra");
    sample_tool(&fourth, "echo");
    fourth.tools[0].options = MORTISE_MAY_BE_LEFT_OUT;
    refused(registry, &fourth, "already registered from '/first.so'");
    has_tools(registry, "alone echo extra ");
    registry_unref(registry);
    assert_int_equal(second.closed, 1);
}

/* A refused plugin can be mended and added: nothing of it was left behind. */
static void test_nothing_is_left_of_a_refused_one(void **state)
{
    (void)state;
    struct sample sample;
    struct registry *registry = registry_new();
    sample_init(&sample, "one");
    sample_tool(&sample, "good")->flags = MORTISE_SERIAL;
    sample_tool(&sample, "bad name");
    refused(registry, &sample, "tool 1 has the name 'bad name': a name is 1 to 64 of");
    has_tools(registry, "");
    sample.metas[1].name = "good-name";
    add(registry, &sample);
    has_tools(registry, "good good-name ");
    registry_unref(registry);
}

static void break_size(struct sample *sample)
{
    sample->face.size = 16;
}
static void break_name(struct sample *sample)
{
    sample->face.name = NULL;
}
static void break_name_length(struct sample *sample)
{
    sample->face.name = "a1234567890123456789012345678901234567890123456789012345678901234";
}
static void break_tools(struct sample *sample)
{
    sample->face.tools = NULL;
}
static void break_tool_count(struct sample *sample)
{
    sample->face.tool_count = SIZE_MAX;
}
static void break_hooks(struct sample *sample)
{
    sample->face.hooks = NULL;
}
static void break_tool(struct sample *sample)
{
    sample->tool_pointers[1] = NULL;
}
static void break_tool_size(struct sample *sample)
{
    sample->tools[1].size = 8;
}
static void break_run(struct sample *sample)
{
    sample->tools[1].run = NULL;
}
static void break_meta(struct sample *sample)
{
    sample->tools[1].meta = NULL;
}
static void break_meta_size(struct sample *sample)
{
    sample->metas[1].size = 0;
}
static void break_tool_name(struct sample *sample)
{
    sample->metas[1].name = NULL;
}
static void break_flags(struct sample *sample) /* F9 */
{
    sample->metas[1].flags = 1u << 20;
}
static void break_schema(struct sample *sample)
{
    sample->metas[1].input_schema = "{\"type\":\"array\"}";
}
static void break_output_schema(struct sample *sample)
{
    sample->metas[1].output_schema = "true";
}
static void break_shape(struct sample *sample)
{
    static const mortise_shape shape = {.size = 4};
    sample->metas[1].shape = &shape;
}
static void break_hook(struct sample *sample)
{
    sample->hook_pointers[0] = NULL;
}
static void break_hook_size(struct sample *sample)
{
    sample->hooks[0].size = 24;
}
static void break_hook_name(struct sample *sample)
{
    sample->hooks[0].name = "a/b";
}

/* Each says what is wrong and what to do; nothing is registered. */
static void test_broken_plugins(void **state)
{
    (void)state;
    static const struct {
        void (*damage)(struct sample *sample);
        const char *why;
    } cases[] = {
        {break_size, "its mortise_plugin is not complete: 'size' says 16 bytes, 64 are needed"},
        {break_name, "it has the name '': a plugin's name is"},
        {break_name_length, "it has the name 'a123456789"},
        {break_tools, "it counts 2 tools and 1 hooks, but an array of them is NULL"},
        {break_hooks, "it counts 2 tools and 1 hooks, but an array of them is NULL"},
        {break_tool_count, "its mortise_plugin is not filled in"},
        {break_tool, "tool 1 is not complete"},
        {break_tool_size, "tool 1 is not complete"},
        {break_run, "tool 1 is not complete"},
        {break_meta, "tool 1 is not complete"},
        {break_meta_size, "tool 1 is not complete"},
        {break_tool_name, "tool 1 has the name '': a name is 1 to 64 of"},
        {break_flags, "tool 'b' has a flag (0x100000) that this host does not know (it knows "
                      "read_only, concurrency_safe, long_running, "},
        {break_schema, "the input schema of tool 'b' cannot be used: it must say \"type\""},
        {break_output_schema, "the output schema of tool 'b' cannot be used: it must be a JSON"},
        {break_shape, "tool 'b': its table of arguments is cut short"},
        {break_hook, "hook 0 is not complete"},
        {break_hook_size, "hook 0 is not complete"},
        {break_hook_name, "hook 0 has the name 'a/b': a name is 1 to 64 of"},
    };
    struct registry *registry = registry_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sample sample;
        sample_init(&sample, "one");
        sample_tool(&sample, "a");
        sample_tool(&sample, "b");
        sample_hook(&sample, "look", 0);
        cases[i].damage(&sample);
        refused(registry, &sample, cases[i].why);
        assert_int_equal(registry_tool_count(registry), 0);
        assert_null(registry_find(registry, "a"));
        assert_null(registry_plugin(registry, 0));
    }
    registry_unref(registry);
}

/* Whatever allocation fails: all or nothing, and said so (T27). */
static void test_no_memory(void **state)
{
    (void)state;
    struct sample first, second;
    sample_init(&first, "first");
    sample_tool(&first, "kept");
    sample_init(&second, "second");
    sample_tool(&second, "echo")->flags = MORTISE_SERIAL | MORTISE_LONG_RUNNING;
    sample_tool(&second, "untidy")->description = "\xFF";
    sample_hook(&second, "look", 0);
    bool done = false;
    for (int allowed = 0; !done; allowed++) {
        struct registry *registry = registry_new();
        struct error error = ERROR_INIT;
        add(registry, &first);
        second.closed = 0;
        fail_after(allowed);
        done = sample_add(registry, &second, &error);
        fail_never();
        has_tools(registry, done ? "echo kept untidy " : "kept ");
        if (!done) {
            assert_string_equal(error.message, "out of memory");
            assert_null(registry_find(registry, "echo"));
            assert_null(registry_hook(registry, 0));
            add(registry, &second);
        }
        registry_unref(registry);
        assert_true(allowed < 200);
    }
}

/* ---- the rest ---- */

/* T16: one object, whatever paths lead to it. */
static void test_claims(void **state)
{
    (void)state;
    struct registry *registry = registry_new();
    const char *earlier;
    int handles[2];
    assert_true(registry_claim(registry, &handles[0], "/a.so", &earlier));
    assert_true(registry_claim(registry, &handles[1], "/b.so", &earlier));
    assert_false(registry_claim(registry, &handles[0], "/link.so", &earlier));
    assert_string_equal(earlier, "/a.so");
    registry_unref(registry);
}

static void test_refusals_are_kept(void **state)
{
    (void)state;
    struct registry *registry = registry_new();
    registry_refuse(registry, "/a.so", "it is empty");
    registry_refuse(registry, "/b.so", "it is cut short");
    assert_string_equal(registry_refusal(registry, 1)->path, "/b.so");
    assert_string_equal(registry_refusal(registry, 1)->reason, "it is cut short");
    assert_null(registry_refusal(registry, 2));
    registry_unref(registry);
}

/* D19: "rename" wins over "prefix"; the plugin's own name stays known. */
static void test_names_from_the_configuration(void **state)
{
    (void)state;
    struct sample sample;
    struct error error = ERROR_INIT;
    sample_init(&sample, "one");
    sample_tool(&sample, "read");
    sample_tool(&sample, "write");
    struct registry *registry = registry_new();
    struct plugin *plugin = plugin_new("/one.so", &sample.face, NULL);
    plugin->config = json_loads("{\"prefix\":\"my_\",\"rename\":{\"write\":\"put\"}}", 0, NULL);
    assert_true(registry_add(registry, plugin, &error));
    has_tools(registry, "my_read put ");
    assert_string_equal(registry_find(registry, "put")->own_name, "write");
    assert_string_equal(registry_find(registry, "my_read")->meta.description, "Tool: my_read");
    registry_unref(registry);

    registry = registry_new();
    plugin = plugin_new("/one.so", &sample.face, NULL);
    plugin->config = json_loads("{\"prefix\":\"my \"}", 0, NULL);
    assert_false(registry_add(registry, plugin, &error));
    assert_has(error.message, "the configuration makes tool 'read' to 'my read'");
    plugin_unref(plugin);
    registry_unref(registry);
}

/* T25: looking needs no lock (ThreadSanitizer would tell). */
static void *look(void *registry)
{
    char found[256];
    for (int i = 0; i < 1000; i++) {
        assert_non_null(registry_find(registry_ref(registry), "echo"));
        names(registry, found);
        registry_unref(registry);
    }
    return NULL;
}

static void test_looking_from_many_threads(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, "one");
    sample_tool(&sample, "echo");
    struct registry *registry = registry_new();
    add(registry, &sample);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, registry), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    registry_unref(registry);
    assert_int_equal(sample.closed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_is_empty),
        cmocka_unit_test(test_references_share_it),
        cmocka_unit_test(test_a_tool_that_may_be_left_out),
        cmocka_unit_test(test_meta_is_copied),
        cmocka_unit_test(test_three_tools_at_once),
        cmocka_unit_test(test_sorted_by_bytes),
        cmocka_unit_test(test_hooks_are_sorted),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_a_tool_that_gives_way),
        cmocka_unit_test(test_nothing_is_left_of_a_refused_one),
        cmocka_unit_test(test_broken_plugins),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_refusals_are_kept),
        cmocka_unit_test(test_names_from_the_configuration),
        cmocka_unit_test(test_looking_from_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
