/* A hook that is asked at one event, and what it may do there: what the host allows. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"

struct fake_hook {
    mortise_hook face; /* first: what the plugin has is this */
    mortise_test *test;
    const char *file, *name;
    int line, at;
    size_t locked_prefix;
    struct pool memory;                   /* until the hook returns */
    struct list items, appended, removed; /* const char *: JSON; call ids */
    bool responded;
    mortise_test_decision decision;
};

static struct fake_hook *hook_of(mortise_hook *face)
{
    return (struct fake_hook *)face;
}

static bool is_at(const struct fake_hook *hook, int first, int second)
{
    return hook->at == first || hook->at == second;
}

/* ---- for every event ---- */

static void op_reason(mortise_hook *face, const char *text, size_t length)
{
    struct fake_hook *hook = hook_of(face);
    hook->decision.reason = mortise__pool_copy(&hook->test->pool, text, text ? length : 0);
}

static const char *op_context(mortise_hook *face, const char *key)
{
    mortise_test *test = hook_of(face)->test;
    const char *value;
    if (!key || mortise__test_context(test, key, &value))
        return key ? value : NULL;
    return strcmp(key, "invocation") == 0 ? test->run : mortise__test_default_context(test, key);
}

static void *op_alloc(mortise_hook *face, size_t bytes)
{
    return mortise__pool_take(&hook_of(face)->memory, bytes);
}

/* ---- items ---- */

static const char **item_at(const struct fake_hook *hook, size_t index)
{
    const char **items = hook->items.items;
    return index < hook->items.count ? &items[index] : NULL;
}

static size_t op_item_count(mortise_hook *face)
{
    return hook_of(face)->items.count;
}

static const char *op_item(mortise_hook *face, size_t index, size_t *length)
{
    const char **item = item_at(hook_of(face), index);
    if (length)
        *length = item ? strlen(*item) : 0;
    return item ? *item : NULL;
}

/* Whether a string member is the same in both items, or in none. */
static bool same_member(const char *a, const char *b, const char *key)
{
    char first[256] = "", second[256] = "";
    return mortise_json_string(a, key, first, sizeof(first)) ==
               mortise_json_string(b, key, second, sizeof(second)) &&
           strcmp(first, second) == 0;
}

static bool is_message(const char *item, const char *role)
{
    char type[32] = "", said[32] = "";
    mortise_json_string(item, "type", type, sizeof(type));
    mortise_json_string(item, "role", said, sizeof(said));
    return strcmp(type, "message") == 0 && (!role || strcmp(said, role) == 0);
}

static mortise_status op_set_item(mortise_hook *face, size_t index, const char *json, size_t length)
{
    struct fake_hook *hook = hook_of(face);
    bool is_prompt = hook->at == MORTISE__TEST_AT_prompt_submit;
    const char **place = item_at(hook, index);
    if (!is_at(hook, MORTISE__TEST_AT_prompt_submit, MORTISE__TEST_AT_pre_llm_request) ||
        index < hook->locked_prefix)
        return MORTISE_DENIED;
    if (!place)
        return MORTISE_NOT_FOUND;
    const char *item = mortise__pool_copy(&hook->test->pool, json, length);
    bool fits = is_prompt ? is_message(item, "user")
                          : mortise_json_length(item) > 0 && same_member(*place, item, "type") &&
                                same_member(*place, item, "call_id");
    if (!fits)
        return MORTISE_INVALID;
    *place = item;
    return MORTISE_OK;
}

static mortise_status op_remove_item(mortise_hook *face, size_t index)
{
    struct fake_hook *hook = hook_of(face);
    const char **place = item_at(hook, index);
    char call_id[256];
    if (hook->at != MORTISE__TEST_AT_pre_llm_request || index < hook->locked_prefix)
        return MORTISE_DENIED;
    if (!place)
        return MORTISE_NOT_FOUND;
    if (mortise_json_string(*place, "call_id", call_id, sizeof(call_id)) == MORTISE_OK)
        *(const char **)mortise__list_add(&hook->removed, sizeof(char *)) =
            mortise__pool_text(&hook->memory, call_id);
    hook->items.count--;
    memmove(place, place + 1, (hook->items.count - index) * sizeof(*place));
    return MORTISE_OK;
}

static mortise_status op_append(mortise_hook *face, const char *json, size_t length)
{
    struct fake_hook *hook = hook_of(face);
    if (!is_at(hook, MORTISE__TEST_AT_pre_llm_request, MORTISE__TEST_AT_turn_end))
        return MORTISE_DENIED;
    const char *item = mortise__pool_copy(&hook->test->pool, json, length);
    if (!mortise_json_length(item) || !is_message(item, NULL))
        return MORTISE_INVALID;
    *(const char **)mortise__list_add(&hook->appended, sizeof(char *)) = item;
    if (hook->at == MORTISE__TEST_AT_pre_llm_request)
        *(const char **)mortise__list_add(&hook->items, sizeof(char *)) = item;
    return MORTISE_OK;
}

/* A call that was removed without its result, or a result without its call; NULL: there is none. */
static const char *unpaired(const struct fake_hook *hook)
{
    const char *const *removed = hook->removed.items;
    char call_id[256];
    for (size_t i = 0; i < hook->removed.count; i++)
        for (size_t j = 0; j < hook->items.count; j++)
            if (mortise_json_string(*item_at(hook, j), "call_id", call_id, sizeof(call_id)) ==
                    MORTISE_OK &&
                strcmp(call_id, removed[i]) == 0)
                return removed[i];
    return NULL;
}

/* ---- calls ---- */

static mortise_status op_set_arguments(mortise_hook *face, const char *json, size_t length)
{
    struct fake_hook *hook = hook_of(face);
    if (hook->at != MORTISE__TEST_AT_pre_tool_call)
        return MORTISE_DENIED;
    const char *copy = mortise__pool_copy(&hook->test->pool, json, length), *object;
    if (mortise_json_object(copy, NULL, &object) != MORTISE_OK)
        return MORTISE_INVALID;
    hook->decision.arguments = copy;
    return MORTISE_OK;
}

static mortise_status set_result(struct fake_hook *hook, int at, bool is_error, const char *text,
                                 size_t length)
{
    if (hook->at != at)
        return MORTISE_DENIED;
    if (!text && length)
        return MORTISE_INVALID;
    hook->decision.result = mortise__pool_copy(&hook->test->pool, text, length);
    hook->decision.result_length = length;
    hook->decision.is_error = is_error;
    return MORTISE_OK;
}

static mortise_status op_respond(mortise_hook *face, bool is_error, const char *text, size_t length)
{
    struct fake_hook *hook = hook_of(face);
    mortise_status status =
        set_result(hook, MORTISE__TEST_AT_pre_tool_call, is_error, text, length);
    hook->responded |= status == MORTISE_OK;
    return status;
}

static mortise_status op_set_result(mortise_hook *face, bool is_error, const char *text,
                                    size_t length)
{
    return set_result(hook_of(face), MORTISE__TEST_AT_post_tool_call, is_error, text, length);
}

static void *op_tool_state(mortise_hook *face, const char *name, const char *tag)
{
    const struct fake_hook *hook = hook_of(face);
    const mortise_plugin *plugin = hook->test->plugin;
    if (!is_at(hook, MORTISE__TEST_AT_pre_tool_call, MORTISE__TEST_AT_post_tool_call) || !name ||
        !tag)
        return NULL;
    for (size_t i = 0; i < plugin->tool_count; i++)
        if (strcmp(plugin->tools[i]->meta->name, name) == 0)
            return plugin->tools[i]->state_tag && strcmp(plugin->tools[i]->state_tag, tag) == 0
                       ? plugin->tools[i]->state
                       : NULL;
    return NULL;
}

static const mortise_hook_ops hook_ops = {
    .size = sizeof(mortise_hook_ops),
    .reason = op_reason,
    .context = op_context,
    .alloc = op_alloc,
    .item_count = op_item_count,
    .item = op_item,
    .set_item = op_set_item,
    .remove_item = op_remove_item,
    .append = op_append,
    .set_arguments = op_set_arguments,
    .respond = op_respond,
    .set_result = op_set_result,
    .tool_state = op_tool_state,
};

/* ---- asking: the event is copied, and what was left out is filled in ---- */

static void fill_length(const char **text, size_t *length, const char *otherwise)
{
    if (!*text)
        *text = otherwise;
    if (*length == 0)
        *length = strlen(*text);
}

static const mortise_tool_meta some_meta = {.size = sizeof(mortise_tool_meta), .name = "tool"};

/* Asks function `at` of the table, if it is there. */
#define ASK(name)                                                                                  \
    (hooks->name ? (*asked = true, hooks->name(hooks->state, &hook->face, &event))                 \
                 : MORTISE_CONTINUE)

static mortise_verdict ask_prompt(struct fake_hook *hook, const mortise_hooks *hooks,
                                  mortise_prompt_submit event, bool *asked)
{
    fill_length(&event.item, &event.item_length,
                "{\"type\":\"message\",\"role\":\"user\",\"content\":[]}");
    hook->items.count = 0;
    *(const char **)mortise__list_add(&hook->items, sizeof(char *)) =
        mortise__pool_copy(&hook->test->pool, event.item, event.item_length);
    return ASK(prompt_submit);
}

static mortise_verdict ask_request(struct fake_hook *hook, const mortise_hooks *hooks,
                                   mortise_pre_llm_request event, bool *asked)
{
    hook->locked_prefix = event.locked_prefix;
    if (!event.model)
        event.model = "test/model";
    return ASK(pre_llm_request);
}

static mortise_verdict ask_before_call(struct fake_hook *hook, const mortise_hooks *hooks,
                                       mortise_pre_tool_call event, bool *asked)
{
    char id[40];
    mortise__test_make_id(id, "call");
    fill_length(&event.arguments, &event.arguments_length, "{}");
    event.call_id = event.call_id ? event.call_id : id;
    event.meta = event.meta ? event.meta : &some_meta;
    event.count = event.count ? event.count : 1;
    hook->decision.arguments =
        mortise__pool_copy(&hook->test->pool, event.arguments, event.arguments_length);
    return ASK(pre_tool_call);
}

static mortise_verdict ask_after_call(struct fake_hook *hook, const mortise_hooks *hooks,
                                      mortise_post_tool_call event, bool *asked)
{
    char id[40];
    mortise__test_make_id(id, "call");
    fill_length(&event.arguments, &event.arguments_length, "{}");
    fill_length(&event.result, &event.result_length, "");
    event.call_id = event.call_id ? event.call_id : id;
    event.meta = event.meta ? event.meta : &some_meta;
    event.count = event.count ? event.count : 1;
    if (event.is_error && !event.error_code)
        event.error_code = "tool.error";
    hook->decision.result =
        mortise__pool_copy(&hook->test->pool, event.result, event.result_length);
    hook->decision.result_length = event.result_length;
    hook->decision.is_error = event.is_error;
    return ASK(post_tool_call);
}

static mortise_verdict ask_turn_end(struct fake_hook *hook, const mortise_hooks *hooks,
                                    mortise_turn_end event, bool *asked)
{
    return ASK(turn_end);
}

static mortise_verdict ask_abort(struct fake_hook *hook, const mortise_hooks *hooks,
                                 mortise_abort event, bool *asked)
{
    fill_length(&event.reason, &event.reason_length, "");
    return ASK(on_abort);
}

static mortise_verdict ask_text(struct fake_hook *hook, const mortise_hooks *hooks,
                                mortise_text_delta event, bool *asked)
{
    fill_length(&event.text, &event.length, "");
    return ASK(text_delta);
}

static mortise_verdict ask_call_delta(struct fake_hook *hook, const mortise_hooks *hooks,
                                      mortise_tool_call_delta event, bool *asked)
{
    fill_length(&event.json, &event.length, "");
    return ASK(tool_call_delta);
}

static mortise_verdict ask_chunk(struct fake_hook *hook, const mortise_hooks *hooks,
                                 mortise_stream_chunk event, bool *asked)
{
    fill_length(&event.json, &event.length, "{}");
    event.event = event.event ? event.event : "ping";
    return ASK(stream_chunk);
}

static mortise_verdict ask_complete(struct fake_hook *hook, const mortise_hooks *hooks,
                                    mortise_stream_complete event, bool *asked)
{
    return ASK(stream_complete);
}

static mortise_verdict ask(struct fake_hook *hook, const mortise_hooks *hooks, const void *event,
                           bool *asked)
{
    switch (hook->at) {
    case MORTISE__TEST_AT_prompt_submit:
        return ask_prompt(hook, hooks, *(const mortise_prompt_submit *)event, asked);
    case MORTISE__TEST_AT_pre_llm_request:
        return ask_request(hook, hooks, *(const mortise_pre_llm_request *)event, asked);
    case MORTISE__TEST_AT_pre_tool_call:
        return ask_before_call(hook, hooks, *(const mortise_pre_tool_call *)event, asked);
    case MORTISE__TEST_AT_post_tool_call:
        return ask_after_call(hook, hooks, *(const mortise_post_tool_call *)event, asked);
    case MORTISE__TEST_AT_turn_end:
        return ask_turn_end(hook, hooks, *(const mortise_turn_end *)event, asked);
    case MORTISE__TEST_AT_on_abort:
        return ask_abort(hook, hooks, *(const mortise_abort *)event, asked);
    case MORTISE__TEST_AT_text_delta:
        return ask_text(hook, hooks, *(const mortise_text_delta *)event, asked);
    case MORTISE__TEST_AT_tool_call_delta:
        return ask_call_delta(hook, hooks, *(const mortise_tool_call_delta *)event, asked);
    case MORTISE__TEST_AT_stream_chunk:
        return ask_chunk(hook, hooks, *(const mortise_stream_chunk *)event, asked);
    default:
        return ask_complete(hook, hooks, *(const mortise_stream_complete *)event, asked);
    }
}

/* ---- what came of it ---- */

#define VERDICT(name) (1u << MORTISE_##name)

static bool may_decide(int at, mortise_verdict verdict)
{
    static const unsigned more[] = {
        [MORTISE__TEST_AT_prompt_submit] = VERDICT(ABORT),
        [MORTISE__TEST_AT_pre_llm_request] = VERDICT(ABORT),
        [MORTISE__TEST_AT_pre_tool_call] =
            VERDICT(SKIP) | VERDICT(RESPOND) | VERDICT(PAUSE) | VERDICT(ABORT),
        [MORTISE__TEST_AT_post_tool_call] = VERDICT(ABORT),
        [MORTISE__TEST_AT_turn_end] = VERDICT(CONTINUE_WITH) | VERDICT(PAUSE) | VERDICT(ABORT),
        [MORTISE__TEST_AT_on_abort] = 0,
        [MORTISE__TEST_AT_text_delta] = VERDICT(PAUSE) | VERDICT(ABORT),
        [MORTISE__TEST_AT_tool_call_delta] = VERDICT(PAUSE) | VERDICT(ABORT),
        [MORTISE__TEST_AT_stream_chunk] = VERDICT(PAUSE) | VERDICT(ABORT),
        [MORTISE__TEST_AT_stream_complete] = VERDICT(PAUSE) | VERDICT(ABORT),
    };
    unsigned allowed = more[at] | VERDICT(CONTINUE) | VERDICT(HOOK_FAILED);
    return verdict < 32 && (allowed >> verdict & 1);
}

static void look_for_misuse(const struct fake_hook *hook)
{
    mortise_verdict verdict = hook->decision.verdict;
    const char *wrong = NULL, *alone = unpaired(hook);
    if (!may_decide(hook->at, verdict))
        wrong = "gave a verdict that this event does not know";
    else if (verdict == MORTISE_RESPOND && !hook->responded)
        wrong = "returned MORTISE_RESPOND without respond()";
    else if (verdict == MORTISE_CONTINUE_WITH && hook->appended.count == 0)
        wrong = "returned MORTISE_CONTINUE_WITH without append()";
    if (wrong)
        mortise__test_fail(hook->file, hook->line, "'%s' %s", hook->name, wrong);
    if (alone)
        mortise__test_fail(hook->file, hook->line,
                           "'%s' removed only one of call '%s' and its result", hook->name, alone);
}

/* A list of texts that lives as long as the test. */
static const char *const *keep_list(mortise_test *test, const struct list *list)
{
    const char **copy = mortise__pool_take(&test->pool, (list->count + 1) * sizeof(*copy));
    if (list->count > 0)
        memcpy(copy, list->items, list->count * sizeof(*copy));
    return copy;
}

/* The plugin's own copy of a set of hooks, which has its state. */
static const mortise_hooks *find_hooks(const mortise_test *test, const mortise_hooks *hooks)
{
    for (size_t i = 0; test->plugin && i < test->plugin->hook_count; i++)
        if (strcmp(test->plugin->hooks[i]->name, hooks->name) == 0)
            return test->plugin->hooks[i];
    return NULL;
}

bool mortise_test_has_hooks(mortise_test *test, const mortise_hooks *hooks)
{
    return find_hooks(test, hooks) != NULL;
}

void mortise_test_items(mortise_test *test, const char *const *items, size_t count)
{
    test->items.count = 0;
    for (size_t i = 0; i < count; i++)
        *(const char **)mortise__list_add(&test->items, sizeof(char *)) =
            mortise__pool_text(&test->pool, items[i]);
}

const mortise_test_decision *mortise__test_hook(mortise_test *test, const char *file, int line,
                                                const mortise_hooks *hooks, int at,
                                                const void *event)
{
    bool asked = false;
    struct fake_hook hook = {
        .face = {.size = sizeof(mortise_hook), .ops = &hook_ops},
        .test = test,
        .file = file,
        .line = line,
        .name = hooks->name,
        .at = at,
        .items = test->items,
        .decision = {.reason = ""},
    };
    test->items = (struct list){0};
    hooks = find_hooks(test, hooks);
    if (hooks)
        hook.decision.verdict = ask(&hook, hooks, event, &asked);
    if (!asked)
        mortise__test_fail(file, line, "the plugin does not take this event with the hooks '%s'",
                           hook.name);
    look_for_misuse(&hook);

    mortise_test_decision *decision = mortise__pool_take(&test->pool, sizeof(*decision));
    *decision = hook.decision;
    decision->items = keep_list(test, &hook.items);
    decision->item_count = hook.items.count;
    decision->appended = keep_list(test, &hook.appended);
    decision->appended_count = hook.appended.count;
    mortise__list_release(&hook.items);
    mortise__list_release(&hook.appended);
    mortise__list_release(&hook.removed);
    mortise__pool_release(&hook.memory);
    return decision;
}
