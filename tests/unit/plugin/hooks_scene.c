#include "hooks_scene.h"

/* ---- a run with hooks that do what the test says ---- */

struct script scripts[4];

static mortise_verdict play(void *state, mortise_hook *hook, const void *event)
{
    struct script *script = state;
    script->asked++;
    if (script->act)
        script->act(hook, event);
    return script->verdict;
}

#define TAKE(event)                                                                                \
    static mortise_verdict take_##event(void *state, mortise_hook *hook,                           \
                                        const mortise_##event *event)                              \
    {                                                                                              \
        return play(state, hook, event);                                                           \
    }
TAKE(prompt_submit)
TAKE(pre_llm_request)
TAKE(pre_tool_call)
TAKE(post_tool_call)
TAKE(turn_end)
static mortise_verdict take_on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    return play(state, hook, event);
}

struct sample sample;
static struct sample stranger;
struct registry *registry;
static struct timeline timeline;
char told[TOLD_BYTES];

static void note_hook(void *self, const struct event *event)
{
    (void)self;
    size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, "%s %s %s %s\n", event->as.hook.hook,
             event->as.hook.event, event->as.hook.decision,
             event->as.hook.reason ? event->as.hook.reason : "-");
}

static const char *context(void *data, const char *key, struct arena *memory)
{
    (void)data, (void)memory;
    return strcmp(key, "session") == 0 ? "s1" : NULL;
}

struct hook_setting setting = {.timeline = &timeline, .context = context};
struct hook_outcome outcome;
int secret = 42;

int hooks_scene_start(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    memset(scripts, 0, sizeof(scripts));
    *told = '\0';
    sample_init(&sample, "own");
    sample_tool(&sample, "count");
    sample.tools[0].state = &secret;
    sample.tools[0].state_tag = "counter";
    sample_init(&stranger, "other");
    sample_tool(&stranger, "theirs");
    stranger.tools[0].state = &secret;
    stranger.tools[0].state_tag = "counter";
    for (size_t i = 0; i < 4; i++) {
        static const char *const hook_names[] = {"h0", "h1", "h2", "h3"};
        mortise_hooks *hooks = sample_hook(&sample, hook_names[i], 0);
        hooks->state = &scripts[i];
        hooks->prompt_submit = take_prompt_submit;
        hooks->pre_llm_request = take_pre_llm_request;
        hooks->pre_tool_call = take_pre_tool_call;
        hooks->post_tool_call = take_post_tool_call;
        hooks->turn_end = take_turn_end;
        hooks->on_abort = take_on_abort;
    }
    registry = registry_new();
    setting.registry = registry;
    timeline_init(&timeline);
    timeline_add(&timeline, EVENT_BIT(EVENT_HOOK), note_hook, NULL);
    return sample_add(registry, &sample, &error) && sample_add(registry, &stranger, &error) ? 0
                                                                                            : -1;
}

int hooks_scene_end(void **state)
{
    (void)state;
    registry_unref(registry);
    timeline_release(&timeline);
    return 0;
}

void went_on(void)
{
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
    assert_false(outcome.failed);
    assert_null(outcome.hook);
    assert_string_equal(outcome.reason, "");
}

void decided(mortise_verdict verdict, const char *hook, const char *reason)
{
    assert_int_equal(outcome.verdict, verdict);
    assert_int_equal(outcome.failed, verdict == MORTISE_HOOK_FAILED);
    assert_string_equal(outcome.hook->name, hook);
    assert_string_equal(outcome.reason, reason);
}

void has_json(const struct item *item, const char *wanted)
{
    struct text text = TEXT_INIT;
    item_write_json(item, &text);
    assert_has(text_cstr(&text), wanted);
    text_release(&text);
}

void give_reason(mortise_hook *hook, const void *event)
{
    (void)event;
    hook->ops->reason(hook, "because\xFF of it", 14);
}

/* ---- events of the test ---- */

mortise_status set_item(mortise_hook *hook, size_t index, const char *json)
{
    return hook->ops->set_item(hook, index, json, strlen(json));
}

mortise_status append(mortise_hook *hook, const char *json)
{
    return hook->ops->append(hook, json, strlen(json));
}

struct item *prompt;

void submit(void)
{
    prompt = item_message(ROLE_USER, PART_INPUT_TEXT, "hello", 5);
    hooks_prompt_submit(&setting, &prompt, &outcome);
}

struct hook_tool_call call;

static struct bytes bytes(const char *text)
{
    return (struct bytes){strdup(text), strlen(text)};
}

void pre_call(void)
{
    call = (struct hook_tool_call){.tool = registry_find(registry, "count"),
                                   .call_id = "c1",
                                   .turn = 3,
                                   .index = 1,
                                   .count = 2,
                                   .arguments = bytes("{\"n\":1}")};
    hooks_pre_tool_call(&setting, &call, &outcome);
}

void post_call_with(const struct attachment *attachments, size_t count)
{
    call = (struct hook_tool_call){.tool = registry_find(registry, "count"),
                                   .call_id = "c1",
                                   .arguments = bytes("{\"n\":1}"),
                                   .result = bytes("one"),
                                   .error_code = "tool.error",
                                   .duration_us = 7,
                                   .attachments = attachments,
                                   .attachment_count = count};
    hooks_post_tool_call(&setting, &call, &outcome);
}

void post_call(void)
{
    post_call_with(NULL, 0);
}

void free_call(void)
{
    free(call.arguments.data);
    free(call.result.data);
}

struct item_list items, appended;

/* user, call, result, user */
void fill_items(void)
{
    item_list_add(&items, item_message(ROLE_USER, PART_INPUT_TEXT, "first", 5));
    item_list_add(&items, item_call("c1", "count", "{}", 2, true));
    item_list_add(&items, item_output("c1", "one", 3, false));
    item_list_add(&items, item_message(ROLE_USER, PART_INPUT_TEXT, "last", 4));
}

void pre_request(size_t locked)
{
    fill_items();
    hooks_pre_llm_request(&setting, &items, locked, 2, "script/x", &appended, &outcome);
}

void turn_end(void)
{
    fill_items();
    hooks_turn_end(&setting, items.items, items.count, 2, &appended, &outcome);
}

void free_items(void)
{
    item_list_release(&items);
    item_list_release(&appended);
}
