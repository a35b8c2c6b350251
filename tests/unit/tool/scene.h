/*
 * scene - a batch of fake calls on a real pool, with hooks, and everything that was told.
 *
 *     struct scene scene;
 *     scene_init(&scene, tools, hooks);
 *     scene_call(&scene, "c1", "fast", "{}"); …
 *     end = scene_run(&scene);
 *     assert_string_equal(scene_told(&scene), "result c1 ok: …\n…");
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "fake.h"

#include "timeline/timeline.h"
#include "tool/dispatch.h"

#define SCENE_MAX 64

struct scene {
    struct registry *registry;
    struct pool *pool;
    struct timeline timeline;
    struct hook_setting hooks;
    struct dispatch dispatch; /* to be changed before scene_run() */
    struct dispatch_call calls[SCENE_MAX];
    size_t count;
    struct hook_outcome outcome;
    struct text told; /* a line for each progress, result and decision of a hook */
};

void scene_init(struct scene *scene, const mortise_tool *const *tools,
                const mortise_hooks *const *hooks);
void scene_release(struct scene *scene);
void scene_call(struct scene *scene, const char *id, const char *name, const char *arguments);
/* A call whose arguments arguments_repair() refused. */
void scene_bad_call(struct scene *scene, const char *id, const char *name, const char *arguments,
                    const char *reason);
enum dispatch_end scene_run(struct scene *scene);
const char *scene_told(const struct scene *scene);
/* What the model sees of call `index`. */
const char *scene_text(const struct scene *scene, size_t index);

/* Hooks that do what the test says: NAME_verdict, NAME_reason, … */
struct scripted {
    mortise_verdict verdict;
    const char *reason;
    const char *call_id; /* for this call only; NULL: for all */
    const char *arguments;
    const char *result; /* respond() or set_result() */
    bool is_error;
};
mortise_verdict scripted_pre(void *state, mortise_hook *hook, const mortise_pre_tool_call *event);
mortise_verdict scripted_post(void *state, mortise_hook *hook, const mortise_post_tool_call *event);

#endif
