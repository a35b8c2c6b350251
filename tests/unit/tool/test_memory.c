/* Whichever allocation fails: an error, never a crash, and nothing is lost or leaks. */
#include "scene.h"

#include "failing.h"
#include "tool/arguments.h"
#include "tool/single.h"

struct args {
    const char *text;
    const char *json;
    mortise_list list;
    int64_t number;
    bool seen_text, seen_json, seen_list, seen_number;
};
static const mortise_field fields[] = {
    FAKE_FIELD(args, text, MORTISE_STRING, .flags = MORTISE_REQUIRED),
    FAKE_FIELD(args, json, MORTISE_JSON, .flags = 0),
    FAKE_FIELD(args, list, MORTISE_STRINGS, .flags = 0),
    FAKE_FIELD(args, number, MORTISE_INTEGER, .fallback = "5"),
};
FAKE_SHAPE(args, fields);

static mortise_status busy(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    (void)self;
    const struct args *args = arguments;
    mortise_attachment file = {.size = sizeof(file), .mime_type = "text/plain", .name = "n"};
    file.data = "abc";
    file.length = 3;
    call->ops->attach(call, &file);
    call->ops->context(call, "invocation");
    char *memory = call->ops->alloc(call, 3000);
    if (!memory)
        return MORTISE_NO_MEMORY;
    if (args->number == 6)
        return fake_fail(call, MORTISE_MISSING, "part", "part.code", "gone");
    mortise_status status = fake_reply(call, "%s%s", args->text, args->json ? args->json : "");
    return status == MORTISE_OK
               ? call->ops->reply(call, MORTISE_JSON_RESULT, args->json, strlen(args->json))
               : status;
}
FAKE_TOOL(busy, 0, .shape = &args_shape,
          .output_schema = "{\"type\":\"object\",\"propertyNames\":{\"const\":\"a\"}}");

static mortise_status raw(const mortise_tool *self, mortise_call *call, const void *arguments)
{
    (void)self;
    return fake_reply(call, "%s", (const char *)arguments);
}
FAKE_TOOL(raw, 0,
          .input_schema = "{\"type\":\"object\",\"additionalProperties\":false,"
                          "\"properties\":{\"a\":{\"enum\":[1,2]}}}");

static const mortise_tool *const tools[] = {&busy_tool, &raw_tool, NULL};

static void test_every_call(void **state)
{
    (void)state;
    static const struct {
        const char *tool, *arguments;
    } cases[] = {
        {"busy", "{\"text\":\"x\",\"json\":{\"a\":[1.5]},\"list\":[\"p\",\"q\"]}"},
        {"busy", "{\"text\":\"x\",\"json\":{\"b\":1}}"},
        {"busy", "{\"text\":\"x\",\"number\":6}"},
        {"busy", "{\"txt\":1,\"number\":\"x\",\"list\":[1]}"},
        {"busy", "{\"text\": oops"},
        {"raw", "{\"a\":1}"},
        {"raw", "{\"b\":1,\"a\":3}"},
        {"nobody", "{}"},
    };
    struct registry *registry = fake_registry(tools, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool failed = true;
        for (int n = 0; failed && n < 2000; n++) {
            struct tool_result result;
            fail_after(n);
            fake_call(registry, cases[i].tool, cases[i].arguments, &result);
            failed = fail_never();
            assert_int_equal(result.success, !result.category);
            tool_result_release(&result);
        }
        assert_false(failed);
    }
    registry_unref(registry);
}

static void test_repairs(void **state)
{
    (void)state;
    static const char *const raws[] = {
        "{\"a\":1}",        "```json\n{}\n```",    "\"{}\"", "{}{}", "{}</a>",
        "{\"s\":\"\xFF\"}", "{\"s\":\"\\ud800\"}", "{oops"};
    for (size_t i = 0; i < sizeof(raws) / sizeof(raws[0]); i++) {
        bool failed = true;
        for (int n = 0; failed && n < 2000; n++) {
            struct text out = TEXT_INIT;
            struct error error = ERROR_INIT;
            fail_after(n);
            bool read = arguments_repair(raws[i], strlen(raws[i]), &out, &error);
            failed = fail_never();
            assert_true(read || error.kind != ERROR_NONE);
            text_release(&out);
        }
        assert_false(failed);
    }
}

static struct scripted quiet;
static const mortise_hooks watching = {.size = sizeof(watching),
                                       .name = "watching",
                                       .state = &quiet,
                                       .pre_tool_call = scripted_pre,
                                       .post_tool_call = scripted_post};

/* The allocations of this thread only: the tool's own are those of test_every_call(). */
static void test_batches(void **state)
{
    (void)state;
    static const mortise_hooks *const hooks[] = {&watching, NULL};
    struct scene scene;
    scene_init(&scene, tools, hooks);
    bool failed = true;
    for (int n = 0; failed && n < 2000; n++) {
        text_reset(&scene.told);
        text_reserve(&scene.told, 4096);
        scene.count = 0;
        scene_call(&scene, "c1", "raw", "{\"a\":1}");
        scene_call(&scene, "c2", "nobody", "{}");
        scene_bad_call(&scene, "c3", "raw", "{", "no JSON");
        fail_after(n);
        enum dispatch_end end = scene_run(&scene);
        failed = fail_never();
        assert_true(end == DISPATCH_DONE || end == DISPATCH_HOOK_FAILED);
        for (size_t i = 0; i < scene.count; i++) {
            assert_int_equal(scene.calls[i].result.success, !scene.calls[i].result.category);
            tool_result_release(&scene.calls[i].result);
        }
    }
    assert_false(failed);
    scene.count = 0;
    scene_release(&scene);
}

/* The same of a single call, with its tool. */
static void test_singles(void **state)
{
    (void)state;
    static const mortise_hooks *const hooks[] = {&watching, NULL};
    static const char *const arguments[] = {"{\"a\":1}", "{\"b\":1}"};
    struct scene scene;
    scene_init(&scene, tools, hooks);
    scene.hooks.timeline = NULL;
    for (size_t i = 0; i < 2; i++) {
        bool failed = true;
        for (int n = 0; failed && n < 2000; n++) {
            struct dispatch_call call = {.id = "c1",
                                         .name = "raw",
                                         .arguments = {arguments[i], strlen(arguments[i])},
                                         .valid = true};
            struct single single;
            fail_after(n);
            single_prepare(&single, &scene.dispatch, &call, NULL, &scene.outcome);
            single_run(&single);
            enum dispatch_end end = single_finish(&single);
            failed = fail_never();
            assert_true(end == DISPATCH_DONE || end == DISPATCH_HOOK_FAILED);
            assert_int_equal(call.result.success, !call.result.category);
            tool_result_release(&call.result);
        }
        assert_false(failed);
    }
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_repairs),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_singles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
