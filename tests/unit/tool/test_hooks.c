/* PreToolCall and PostToolCall around a batch: D1, D4, W31-W35, W66-W71, T66-T71, D26. */
#include "scene.h"

#include <stdatomic.h>

#define ANY .input_schema = "{\"type\":\"object\"}"

struct number_args {
    int64_t number;
    bool seen_number;
};
static const mortise_field number_fields[] = {
    FAKE_FIELD(number_args, number, MORTISE_INTEGER, .fallback = "0")};
FAKE_SHAPE(number_args, number_fields);

static atomic_int runs;

static mortise_status show(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    atomic_fetch_add(&runs, 1);
    return fake_reply(call, "%d", (int)((const struct number_args *)args)->number);
}
FAKE_TOOL(show, 0, .shape = &number_args_shape);

static const mortise_tool *const tools[] = {&show_tool, NULL};

static struct scripted pre, post;
static const mortise_hooks guard = {
    .size = sizeof(guard), .name = "guard", .state = &pre, .pre_tool_call = scripted_pre};
static const mortise_hooks after = {
    .size = sizeof(after), .name = "after", .state = &post, .post_tool_call = scripted_post};
static const mortise_hooks *const hooks[] = {&guard, &after, NULL};

/* Three calls of `show`, under the scripts. */
static enum dispatch_end run(struct scene *scene, struct scripted before, struct scripted behind)
{
    pre = before;
    post = behind;
    atomic_store(&runs, 0);
    scene_init(scene, tools, hooks);
    scene_call(scene, "c1", "show", "{\"number\":1}");
    scene_call(scene, "c2", "show", "{\"number\":2}");
    scene_call(scene, "c3", "show", "{\"number\":3}");
    return scene_run(scene);
}

#define QUIET ((struct scripted){.verdict = MORTISE_CONTINUE})

static void test_continue(void **state)
{
    (void)state;
    struct scene scene;
    assert_int_equal(run(&scene, QUIET, QUIET), DISPATCH_DONE);
    assert_string_equal(scene_told(&scene), "result c1 ok: 1\nresult c2 ok: 2\nresult c3 ok: 3\n");
    assert_int_equal(scene.outcome.verdict, MORTISE_CONTINUE);
    scene_release(&scene);
}

static void test_skip(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted skip = {.verdict = MORTISE_SKIP, .call_id = "c2", .reason = "not on Sundays"};
    struct scripted edit = {.result = "seen", .call_id = "c2"};
    assert_int_equal(run(&scene, skip, edit), DISPATCH_DONE);
    assert_string_equal(scene_text(&scene, 1), "Tool call skipped by hook 'guard': not on Sundays");
    assert_string_equal(scene.calls[1].result.category, "forbidden");
    assert_string_equal(scene_text(&scene, 2), "3");
    assert_int_equal(atomic_load(&runs), 2);
    scene_release(&scene);

    skip.reason = NULL;
    run(&scene, skip, QUIET);
    assert_string_equal(scene_text(&scene, 1), "Tool call skipped by hook 'guard'");
    scene_release(&scene);
}

/* The tool is not run, and PostToolCall still sees the result. */
static void test_respond(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted respond = {.verdict = MORTISE_RESPOND, .call_id = "c1", .result = "cached"};
    assert_int_equal(run(&scene, respond, QUIET), DISPATCH_DONE);
    assert_string_equal(scene_text(&scene, 0), "cached");
    assert_true(scene.calls[0].result.success);
    assert_int_equal(atomic_load(&runs), 2);
    scene_release(&scene);

    struct scripted edit = {.result = "edited", .call_id = "c1"};
    run(&scene, respond, edit);
    assert_string_equal(scene_text(&scene, 0), "edited");
    scene_release(&scene);

    respond.is_error = true;
    run(&scene, respond, QUIET);
    assert_false(scene.calls[0].result.success);
    assert_string_equal(scene.calls[0].result.component, "hook");
    assert_string_equal(scene.calls[0].result.category, "internal");
    scene_release(&scene);
}

/* T70: an edit reaches the tool, and is checked like the model's own arguments. */
static void test_edited_arguments(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted edit = {.arguments = "{\"number\":42}", .call_id = "c2"};
    assert_int_equal(run(&scene, edit, QUIET), DISPATCH_DONE);
    assert_string_equal(scene_text(&scene, 1), "42");
    scene_release(&scene);

    edit.arguments = "{\"number\":\"x\"}";
    run(&scene, edit, QUIET);
    assert_string_equal(scene_text(&scene, 1),
                        "Invalid argument: 'number' must be an integer, got \"x\"");
    assert_int_equal(atomic_load(&runs), 2);
    scene_release(&scene);
}

/* W68: no tool runs; what an earlier hook answered stays. */
static void test_abort_before(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted abort_it = {.verdict = MORTISE_ABORT, .call_id = "c2", .reason = "enough"};
    assert_int_equal(run(&scene, abort_it, QUIET), DISPATCH_ABORTED);
    assert_int_equal(atomic_load(&runs), 0);
    assert_string_equal(scene_told(&scene), "hook PreToolCall abort\n"
                                            "result c1 cancelled: cancelled before it ran\n"
                                            "result c2 cancelled: cancelled before it ran\n"
                                            "result c3 cancelled: cancelled before it ran\n");
    assert_string_equal(scene.outcome.hook->name, "guard");
    assert_string_equal(scene.outcome.reason, "enough");
    scene_release(&scene);
}

static void test_pause_before(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted pause_it = {.verdict = MORTISE_PAUSE, .call_id = "c3", .reason = "ask first"};
    assert_int_equal(run(&scene, pause_it, QUIET), DISPATCH_PAUSED);
    assert_int_equal(atomic_load(&runs), 0);
    assert_string_equal(scene_told(&scene), "hook PreToolCall pause\n");
    assert_string_equal(scene.outcome.reason, "ask first");
    for (size_t i = 0; i < 3; i++)
        assert_null(scene.calls[i].result.text.data);
    scene_release(&scene);
}

static void test_failures_let_nothing_through(void **state)
{
    (void)state;
    static const mortise_verdict verdicts[] = {MORTISE_HOOK_FAILED, MORTISE_CONTINUE_WITH, 77};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        struct scripted fails = {.verdict = verdicts[i], .reason = "no database"};
        assert_int_equal(run(&scene, fails, QUIET), DISPATCH_HOOK_FAILED);
        assert_int_equal(atomic_load(&runs), 0);
        assert_true(scene.outcome.failed);
        assert_string_equal(scene_text(&scene, 2), "cancelled before it ran");
        scene_release(&scene);
    }
    struct scene scene;
    struct scripted empty = {.verdict = MORTISE_RESPOND}; /* respond() was forgotten */
    assert_int_equal(run(&scene, empty, QUIET), DISPATCH_HOOK_FAILED);
    assert_int_equal(atomic_load(&runs), 0);
    scene_release(&scene);
}

/* T71 */
static void test_edited_results(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted edit = {.result = "[redacted]", .call_id = "c2"};
    assert_int_equal(run(&scene, QUIET, edit), DISPATCH_DONE);
    assert_string_equal(scene_text(&scene, 1), "[redacted]");
    assert_true(scene.calls[1].result.success);
    scene_release(&scene);

    edit.is_error = true;
    run(&scene, QUIET, edit);
    assert_false(scene.calls[1].result.success);
    assert_string_equal(scene.calls[1].result.category, "internal");
    assert_string_equal(scene.calls[1].result.code, "hook.error");
    scene_release(&scene);
}

static mortise_status list(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return call->ops->reply(call, MORTISE_JSON_RESULT, "[1,2,3]", 7);
}
FAKE_TOOL(list, 0, .input_schema = "{\"type\":\"object\"}");

static int edits;

/* As often as is asked, each as long as what was there: memory is used again. */
static mortise_verdict edit_often(void *state, mortise_hook *hook,
                                  const mortise_post_tool_call *event)
{
    (void)state, (void)event;
    for (int i = 0; i < edits; i++)
        hook->ops->set_result(hook, false, "no list", 7);
    return MORTISE_CONTINUE;
}

/* What a hook wrote is text, wherever it lies. */
static void test_edited_json(void **state)
{
    (void)state;
    static const mortise_tool *const lists[] = {&list_tool, NULL};
    static const mortise_hooks often = {
        .size = sizeof(often), .name = "often", .post_tool_call = edit_often};
    static const mortise_hooks *const one[] = {&often, NULL};
    for (edits = 0; edits < 4; edits++) {
        struct scene scene;
        scene_init(&scene, lists, one);
        scene_call(&scene, "c1", "list", "{}");
        assert_int_equal(scene_run(&scene), DISPATCH_DONE);
        assert_string_equal(scene_text(&scene, 0), edits ? "no list" : "[1,2,3]");
        assert_true(scene.calls[0].result.is_json == !edits);
        scene_release(&scene);
    }
}

/* W71, D4: results that exist are kept, what has not started never will. */
static void test_abort_after(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted abort_it = {.verdict = MORTISE_ABORT, .call_id = "c1", .reason = "enough"};
    assert_int_equal(run(&scene, QUIET, abort_it), DISPATCH_ABORTED);
    assert_int_equal(atomic_load(&runs), 1);
    assert_string_equal(scene_told(&scene), "hook PostToolCall abort\n"
                                            "result c1 ok: 1\n"
                                            "result c2 cancelled: cancelled before it ran\n"
                                            "result c3 cancelled: cancelled before it ran\n");
    assert_string_equal(scene.outcome.hook->name, "after");
    scene_release(&scene);
}

static void test_failure_after(void **state)
{
    (void)state;
    struct scene scene;
    struct scripted fails = {.verdict = MORTISE_SKIP, .call_id = "c2"}; /* none of this event's */
    assert_int_equal(run(&scene, QUIET, fails), DISPATCH_HOOK_FAILED);
    assert_int_equal(atomic_load(&runs), 2);
    assert_string_equal(scene_text(&scene, 0), "1");
    assert_string_equal(scene_text(&scene, 1), "2");
    assert_string_equal(scene_text(&scene, 2), "cancelled before it ran");
    scene_release(&scene);
}

/* ---- when hooks are asked ---- */

static char order[400];

static mortise_verdict log_pre(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    (void)state, (void)hook;
    snprintf(order + strlen(order), sizeof(order) - strlen(order), "pre %s %u/%u turn %u, %d ran\n",
             event->call_id, event->index, event->count, event->turn, atomic_load(&runs));
    return MORTISE_CONTINUE;
}

static mortise_verdict log_post(void *state, mortise_hook *hook,
                                const mortise_post_tool_call *event)
{
    (void)state, (void)hook;
    snprintf(order + strlen(order), sizeof(order) - strlen(order), "post %s %.*s -> %.*s %s\n",
             event->call_id, (int)event->arguments_length, event->arguments,
             (int)event->result_length, event->result, event->error_code ? event->error_code : "-");
    assert_string_equal(event->meta->name, "show");
    assert_non_null(event->meta->input_schema); /* T68 */
    assert_true((event->duration_us > 0) == !event->is_error);
    return MORTISE_CONTINUE;
}

static const mortise_hooks log_hooks = {
    .size = sizeof(log_hooks), .name = "log", .pre_tool_call = log_pre, .post_tool_call = log_post};

/* W31: all are asked before any runs; W46: unknown and unreadable calls are nobody's. */
static void test_who_is_asked(void **state)
{
    (void)state;
    static const mortise_hooks *const one[] = {&log_hooks, NULL};
    struct scene scene;
    scene_init(&scene, tools, one);
    scene.dispatch.turn = 4;
    atomic_store(&runs, 0);
    order[0] = '\0';
    scene_call(&scene, "c1", "show", "{\"number\":1}");
    scene_call(&scene, "c2", "teleport", "{}");
    scene_bad_call(&scene, "c3", "show", "{", "no JSON");
    scene_call(&scene, "c4", "show", "{\"number\":[]}");
    assert_int_equal(scene_run(&scene), DISPATCH_DONE);
    assert_string_equal(order, "pre c1 0/4 turn 4, 0 ran\n"
                               "pre c4 3/4 turn 4, 0 ran\n"
                               "post c1 {\"number\":1} -> 1 -\n"
                               "post c4 {\"number\":[]} -> Invalid argument: 'number' must be an "
                               "integer, got [] tool.arguments\n");
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continue),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_respond),
        cmocka_unit_test(test_edited_arguments),
        cmocka_unit_test(test_abort_before),
        cmocka_unit_test(test_pause_before),
        cmocka_unit_test(test_failures_let_nothing_through),
        cmocka_unit_test(test_edited_results),
        cmocka_unit_test(test_edited_json),
        cmocka_unit_test(test_abort_after),
        cmocka_unit_test(test_failure_after),
        cmocka_unit_test(test_who_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
