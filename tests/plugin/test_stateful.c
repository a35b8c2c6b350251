/* A tool with state, from a file, in many calls at once: F63, F64. */
#include "../unit/tool/scene.h"

#include <dlfcn.h>

#include "plugin/loader.h"

#define PATH GOOD "/stateful.so"

static struct registry *load(void)
{
    struct error error = ERROR_INIT;
    struct loader loader = {.registry = registry_new()};
    assert_non_null(loader.registry);
    if (!loader_load(&loader, PATH, &error))
        fail_msg("%s", error.message);
    return loader.registry;
}

/* What the plugin wrote down when it was closed. */
static int noted(const char *name)
{
    void *object = dlopen(PATH, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(object);
    const int *number = dlsym(object, name);
    assert_non_null(number);
    int value = *number;
    dlclose(object);
    return value;
}

/* F64: a tool with state takes all that one without takes. */
static void check_options(const struct registry *registry)
{
    const mortise_tool_meta *meta = &registry_find(registry, "share")->meta;
    assert_int_equal(meta->flags,
                     MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_LONG_RUNNING);
    assert_non_null(strstr(meta->input_schema, "\"n\""));
    assert_non_null(strstr(meta->output_schema, "\"state\""));
    assert_string_equal(meta->scopes[0], "state:use");
}

/* F63: one state for all calls, which is freed once, after the last of them. */
static void test_64_calls_share_a_state(void **state)
{
    (void)state;
    static const char *const scopes[] = {"state:use", NULL};
    const struct call_context context = {.scopes = scopes};
    struct registry *registry = load();
    struct scene scene;
    scene_init(&scene, NULL, NULL);
    scene.dispatch.registry = registry;
    scene.dispatch.hooks = NULL;
    scene.dispatch.context = &context;
    for (int i = 0; i < SCENE_MAX; i++)
        scene_call(&scene, "c", "share", "{\"n\":1}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    for (size_t i = 0; i < scene.count; i++) {
        assert_true(scene.calls[i].result.success);
        assert_string_equal(scene_text(&scene, i), scene_text(&scene, 0));
    }
    scene_release(&scene);
    check_options(registry);
    assert_int_equal(noted("fixture_closed"), 0);
    registry_unref(registry);
    assert_int_equal(noted("fixture_made"), 1);
    assert_int_equal(noted("fixture_closed"), 1);
    assert_int_equal(noted("fixture_calls"), SCENE_MAX);
    assert_int_equal(noted("fixture_most"), SCENE_MAX); /* they were inside together */
    assert_int_equal(noted("fixture_inside"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_64_calls_share_a_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
