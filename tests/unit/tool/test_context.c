/* What a call is told of its caller: R2, F26-F28, F31, F59-F61. */
#include "scene.h"

#include <pthread.h>
#include <unistd.h>

#include "base/id.h"
#include "tool/context.h"

#define ANY  .input_schema = "{\"type\":\"object\"}"
#define SAFE (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

static const char *const keys[] = {"user",      "session", "tenant",   "agent",
                                   "app",       "scopes",  "metadata", "metadata.project",
                                   "metadata.", "metadat", "workspace"};

static mortise_status tell(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    struct text text = TEXT_INIT;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = call->ops->context(call, keys[i]);
        text_printf(&text, "%s=%s;", keys[i], value ? value : "-");
        assert_ptr_equal(call->ops->context(call, keys[i]), value);
    }
    mortise_status status = fake_reply(call, "%s", text_cstr(&text));
    text_release(&text);
    return status;
}
FAKE_TOOL(tell, SAFE, ANY);

static void assert_told(const struct call_context *context, const char *wanted)
{
    struct registry *registry = fake_one(&tell_tool);
    struct tool_result result;
    tool_call(registry, "tell", "{}", 2, context, NULL, &result);
    assert_string_equal(text_cstr(&result.text), wanted);
    tool_result_release(&result);
    registry_unref(registry);
}

/* F26-F28 */
static void test_all_that_is_known(void **state)
{
    (void)state;
    static const char *const scopes[] = {"vault:read", "mail", NULL};
    static const struct metadata metadata[] = {
        {"project", "sun \"rise\""}, {"empty", ""}, {NULL, NULL}};
    const struct call_context context = {.user = "ada",
                                         .session = "s1",
                                         .tenant = "acme",
                                         .agent = "coder",
                                         .app = "editor",
                                         .workspace = "/w",
                                         .scopes = scopes,
                                         .metadata = metadata};
    assert_told(&context, "user=ada;session=s1;tenant=acme;agent=coder;app=editor;"
                          "scopes=vault:read mail;"
                          "metadata={\"project\":\"sun \\\"rise\\\"\",\"empty\":\"\"};"
                          "metadata.project=sun \"rise\";metadata.=-;metadat=-;workspace=/w;");
}

/* F59: a direct call has the caller's name for agent and application, and nothing else. */
static void test_nothing_is_known(void **state)
{
    (void)state;
#define NOBODY(name)                                                                               \
    "user=anonymous;session=-;tenant=-;agent=" name ";app=" name ";scopes=-;metadata=-;"           \
    "metadata.project=-;metadata.=-;metadat=-;workspace=-;"
    static const struct call_context callers[] = {{.agent = "me"}, {.app = "me"}};
    assert_told(NULL, NOBODY("-"));
    assert_told(&callers[0], NOBODY("me"));
    assert_told(&callers[1], NOBODY("me"));
}

static char ids[4][2][ID_SIZE];
static unsigned id_count;

static mortise_status note_ids(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    snprintf(ids[id_count][0], ID_SIZE, "%s", call->ops->context(call, "call"));
    snprintf(ids[id_count][1], ID_SIZE, "%s", call->ops->context(call, "invocation"));
    assert_string_equal(call->ops->context(call, "call"), ids[id_count][0]);
    assert_string_equal(call->ops->context(call, "invocation"), ids[id_count++][1]);
    return MORTISE_OK;
}
FAKE_TOOL(note_ids, 0, ANY);

/* F60: made, and distinct; F61: or given. */
static void test_ids(void **state)
{
    (void)state;
    struct registry *registry = fake_one(&note_ids_tool);
    const struct call_context context = {.invocation = "run_1", .session = "mine"};
    struct tool_result result;
    id_count = 0;
    for (int i = 0; i < 2; i++) {
        fake_call(registry, "note_ids", "{}", &result);
        tool_result_release(&result);
    }
    assert_string_not_equal(ids[0][0], ids[1][0]);
    assert_string_not_equal(ids[0][1], ids[1][1]);
    struct call *call =
        call_new(registry, registry_tool(registry, 0), "call_1", "{}", 2, &context, NULL, -1, NULL);
    call_run(call);
    call_take_result(call, &result);
    tool_result_release(&result);
    call_unref(call);
    assert_string_equal(ids[2][0], "call_1");
    assert_string_equal(ids[2][1], "run_1");
    registry_unref(registry);
}

/* ---- two runs at once ---- */

/* Asks for the same again and again, so that calls of both runs are inside together. */
static mortise_status whoami(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    for (int i = 0; i < 20; i++) {
        call->ops->context(call, "metadata");
        usleep(100);
    }
    return fake_reply(call, "%s %s/%s %s %s %s", call->ops->context(call, "call"),
                      call->ops->context(call, "batch_index"),
                      call->ops->context(call, "batch_size"), call->ops->context(call, "user"),
                      call->ops->context(call, "invocation"),
                      call->ops->context(call, "metadata.color"));
}
FAKE_TOOL(whoami, SAFE, ANY);

static void *run_scene(void *scene)
{
    return scene_run(scene) == DISPATCH_DONE ? scene : NULL;
}

static void check_scene(const struct scene *scene)
{
    const struct call_context *context = scene->dispatch.context;
    for (size_t i = 0; i < scene->count; i++) {
        char wanted[100];
        snprintf(wanted, sizeof(wanted), "%s %zu/%zu %s %s %s", scene->calls[i].id, i, scene->count,
                 context->user, context->invocation, context->metadata[0].value);
        assert_string_equal(scene_text(scene, i), wanted);
    }
}

/* F31: the same values under every strategy, and nothing of the other run's. */
static void test_two_runs_at_once(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&whoami_tool, NULL};
    static const struct metadata red[] = {{"color", "red"}, {NULL, NULL}};
    static const struct metadata blue[] = {{"color", "blue"}, {NULL, NULL}};
    static const struct call_context contexts[] = {
        {.user = "ada", .invocation = "run_a", .metadata = red},
        {.user = "bob", .invocation = "run_b", .metadata = blue}};
    static char names[2][20][8];
    for (int strategy = STRATEGY_AUTO; strategy <= STRATEGY_PARALLEL; strategy++) {
        struct scene scenes[2];
        pthread_t threads[2];
        for (int s = 0; s < 2; s++) {
            scene_init(&scenes[s], tools, NULL);
            scenes[s].dispatch.context = &contexts[s];
            scenes[s].dispatch.strategy = (enum strategy)strategy;
            for (int i = 0; i < 20; i++) {
                snprintf(names[s][i], sizeof(names[s][i]), "%c%d", 'a' + s, i);
                scene_call(&scenes[s], names[s][i], "whoami", "{}");
            }
        }
        scenes[1].dispatch.registry = scenes[0].registry; /* the very same tool */
        for (int s = 0; s < 2; s++)
            assert_int_equal(pthread_create(&threads[s], NULL, run_scene, &scenes[s]), 0);
        for (int s = 0; s < 2; s++) {
            void *done = NULL;
            pthread_join(threads[s], &done);
            assert_non_null(done);
            check_scene(&scenes[s]);
        }
        scene_release(&scenes[1]);
        scene_release(&scenes[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_that_is_known),
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_two_runs_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
