/* FAULTS 125.  A thousand random batches, some of them cancelled: whatever happens, every call has exactly
 * one result, told in call order.  Made for ThreadSanitizer. */
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define ANY     .input_schema = "{\"type\":\"object\"}"
#define SAFE    (MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE)

#define BATCHES 1000
#define CALLS   8

static unsigned seed = 12345;

static unsigned draw(unsigned below)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % below;
}

/* ---- tools of every temper ---- */

static mortise_status quick(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return fake_reply(call, "%s", call->ops->context(call, "call"));
}
FAKE_TOOL(quick, SAFE, ANY);

static mortise_status writes(const mortise_tool *self, mortise_call *call, const void *args)
{
    call->ops->emit(call, "stdout", "writing", 7);
    return quick(self, call, args);
}
FAKE_TOOL(writes, 0, ANY);

static mortise_status serial(const mortise_tool *self, mortise_call *call, const void *args)
{
    usleep(50);
    return quick(self, call, args);
}
FAKE_TOOL(serial, SAFE | MORTISE_SERIAL, ANY);

static mortise_status fails(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "no");
}
FAKE_TOOL(fails, SAFE, ANY);

static void *finish_later(void *argument)
{
    mortise_call *call = argument;
    call->ops->emit(call, "stdout", "later", 5);
    quick(NULL, call, NULL);
    call->ops->finish(call, MORTISE_OK);
    return NULL;
}

static mortise_status late(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    pthread_t thread;
    if (pthread_create(&thread, NULL, finish_later, call) != 0)
        return MORTISE_FAILED;
    pthread_detach(thread);
    return MORTISE_PENDING;
}
FAKE_TOOL(late, SAFE, ANY);

static void on_cancel(void *data)
{
    atomic_store((atomic_bool *)data, true);
}

static mortise_status patient(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    atomic_bool *told = call->ops->alloc(call, sizeof(*told));
    call->ops->on_cancel(call, on_cancel, told);
    for (int i = 0; i < 20 && !atomic_load(told) && !call->ops->cancelled(call); i++)
        usleep(50);
    return quick(self, call, args);
}
FAKE_TOOL(patient, SAFE, ANY);

static const mortise_tool *const tools[] = {&quick_tool, &writes_tool,  &serial_tool, &fails_tool,
                                            &late_tool,  &patient_tool, NULL};
static const char *const names[] = {"quick", "writes",  "serial", "fails",
                                    "late",  "patient", "nobody"};
static const char *const ids[CALLS] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"};

/* ---- */

static void *cancel_soon(void *argument)
{
    struct cancel *cancel = argument;
    usleep(300);
    cancel_trigger(cancel);
    cancel_unref(cancel);
    return NULL;
}

/* The ids of the results, in the order in which they were told. */
static void assert_told_in_order(const struct scene *scene)
{
    const char *line = scene_told(scene);
    for (size_t i = 0; i < scene->count; i++) {
        char wanted[32];
        snprintf(wanted, sizeof(wanted), "result %s ", ids[i]);
        line = strstr(line, "result ");
        assert_non_null(line);
        assert_memory_equal(line, wanted, strlen(wanted));
        line++;
    }
    assert_null(strstr(line, "result "));
}

static void run_one(struct scene *scene)
{
    bool cancels = draw(4) == 0;
    text_reset(&scene->told);
    scene->count = 0;
    scene->dispatch.cancel = cancel_new();
    scene->dispatch.strategy = (enum strategy)draw(4);
    size_t count = 1 + draw(CALLS);
    for (size_t i = 0; i < count; i++)
        scene_call(scene, ids[i], names[draw(7)], "{}");
    pthread_t thread;
    if (cancels)
        pthread_create(&thread, NULL, cancel_soon, cancel_ref(scene->dispatch.cancel));
    enum dispatch_end end = scene_run(scene);
    assert_true(end == DISPATCH_DONE || (cancels && end == DISPATCH_CANCELLED));
    if (cancels)
        pthread_join(thread, NULL);
    assert_told_in_order(scene);
    for (size_t i = 0; i < count; i++) {
        const struct tool_result *result = &scene->calls[i].result;
        assert_non_null(result->text.data);
        assert_int_equal(result->success, !result->category);
        if (result->success)
            assert_string_equal(result->text.data, ids[i]); /* no cross-talk */
        tool_result_release(&scene->calls[i].result);
    }
    cancel_unref(scene->dispatch.cancel);
}

static void test_random_batches(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene, tools, NULL);
    for (int i = 0; i < BATCHES; i++)
        run_one(&scene);
    scene.count = 0;
    scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
