/* mortise/test.h, hooks: each event, what a hook may do there, and which misuse is told. */
#include <mortise/test.h>

#include "sdk_forked.h"

#include <mortise/tool.h>

#include <stdlib.h>

#define USER "{\"type\":\"message\",\"role\":\"user\",\"content\":[]}"
#define CALL "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}"
#define RESULT                                                                                     \
    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"1\",\"is_error\":false}"

static const char *step; /* what the hook shall do */

static bool shall(const char *word)
{
    return strcmp(step, word) == 0;
}

static mortise_verdict on_prompt(void *state, mortise_hook *hook,
                                 const mortise_prompt_submit *event)
{
    (void)state;
    if (shall("rewrite") &&
        hook->ops->set_item(hook, 0, "{\"type\":\"message\",\"role\":\"user\"}", 32) == MORTISE_OK)
        return MORTISE_CONTINUE;
    if (shall("assistant") &&
        hook->ops->set_item(hook, 0, "{\"type\":\"message\",\"role\":\"assistant\"}", 37) ==
            MORTISE_INVALID)
        return MORTISE_ABORT;
    mortise_hook_reason(hook, "%s of %zu", mortise_hook_context(hook, "invocation"),
                        event->item_length);
    return MORTISE_ABORT;
}

static mortise_verdict on_request(void *state, mortise_hook *hook,
                                  const mortise_pre_llm_request *event)
{
    (void)state;
    mortise_status status = MORTISE_OK;
    if (shall("locked"))
        status = hook->ops->set_item(hook, 0, USER, strlen(USER));
    else if (shall("other kind"))
        status = hook->ops->set_item(hook, 1, USER, strlen(USER));
    else if (shall("remove one"))
        status = hook->ops->remove_item(hook, 1);
    else if (shall("remove both")) {
        hook->ops->remove_item(hook, 1);
        hook->ops->remove_item(hook, 1);
    } else {
        status = mortise_hook_append_text(hook, "system", "more");
    }
    mortise_hook_reason(hook, "%d %zu %s", status, hook->ops->item_count(hook), event->model);
    return MORTISE_CONTINUE;
}

static mortise_verdict before_call(void *state, mortise_hook *hook,
                                   const mortise_pre_tool_call *event)
{
    (void)state;
    if (shall("skip")) {
        mortise_hook_reason(hook, "no %s today", event->meta->name);
        return MORTISE_SKIP;
    }
    if (shall("respond")) {
        mortise_hook_respond(hook, true, "instead of %s", event->arguments);
        return MORTISE_RESPOND;
    }
    if (shall("change"))
        hook->ops->set_arguments(hook, "{\"a\":2}", 7);
    if (shall("spoil") && hook->ops->set_arguments(hook, "[2]", 3) == MORTISE_INVALID)
        return MORTISE_PAUSE;
    if (shall("append") && hook->ops->append(hook, USER, strlen(USER)) == MORTISE_DENIED)
        return MORTISE_ABORT;
    if (shall("state"))
        return hook->ops->tool_state(hook, "tick", "hooks/1") == state &&
                       !hook->ops->tool_state(hook, "tick", "other/1")
                   ? MORTISE_PAUSE
                   : MORTISE_ABORT;
    return shall("nothing") ? MORTISE_RESPOND : MORTISE_CONTINUE;
}

static mortise_verdict after_call(void *state, mortise_hook *hook,
                                  const mortise_post_tool_call *event)
{
    (void)state;
    char text[64];
    int length = snprintf(text, sizeof(text), "<%.*s> %s", (int)event->result_length, event->result,
                          event->error_code ? event->error_code : "");
    hook->ops->set_result(hook, event->is_error, text, (size_t)length);
    return MORTISE_CONTINUE;
}

static mortise_verdict on_turn_end(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    (void)state;
    (void)event;
    if (shall("skip"))
        return MORTISE_SKIP;
    if (shall("go on"))
        mortise_hook_append_text(hook, "user", "go on");
    return MORTISE_CONTINUE_WITH;
}

static mortise_verdict on_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    (void)state;
    mortise_hook_reason(hook, "%.*s", (int)event->reason_length, event->reason);
    return MORTISE_CONTINUE;
}

static mortise_verdict on_text(void *state, mortise_hook *hook, const mortise_text_delta *event)
{
    (void)state;
    mortise_hook_reason(hook, "%zu", event->length);
    return MORTISE_PAUSE;
}

static mortise_verdict on_chunk(void *state, mortise_hook *hook, const mortise_stream_chunk *event)
{
    (void)state;
    mortise_hook_reason(hook, "%s %s", event->event, event->json);
    return MORTISE_CONTINUE;
}

MORTISE_HOOK(all, .prompt_submit = on_prompt, .pre_llm_request = on_request,
    .pre_tool_call = before_call, .post_tool_call = after_call, .turn_end = on_turn_end,
    .on_abort = on_abort, .text_delta = on_text, .stream_chunk = on_chunk);
MORTISE_HOOK(unwanted, .on_abort = on_abort);

MORTISE_TOOL(tick, 0, "Tick.", MORTISE_NO_ARGS);

static mortise_status tick(mortise_call *call, const tick_args *args)
{
    (void)args;
    return mortise_reply(call, "tick");
}

static void *hooks_open(const mortise_host *host)
{
    bool refuses = false;
    mortise_config_boolean(host, "refuse", &refuses);
    return refuses ? mortise_refuse(host, "it shall refuse") : calloc(1, 1);
}

static bool wants(const void *state, const mortise_hooks *hooks)
{
    (void)state;
    return hooks == &all_hooks;
}

MORTISE_PLUGIN(.name = "hooks", .hooks = MORTISE_HOOKS(all, unwanted), .tools = MORTISE_TOOLS(tick),
               .open = hooks_open, .close = free, .wants = wants, .state_tag = "hooks/1",
               .guard = true);

/* ---- what a test sees ---- */

static int asks_at_a_prompt(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_decision *decision;
    mortise_test_context(test, "invocation", "run-7");
    step = "look";
    decision = mortise_test_hook(test, &all_hooks, prompt_submit, .item = USER);
    mortise_test_verdict(decision, MORTISE_ABORT, "run-7 of 45");
    step = "rewrite";
    decision = mortise_test_hook(test, &all_hooks, prompt_submit, .item = USER);
    mortise_test_verdict(decision, MORTISE_CONTINUE, "");
    mortise_test_same(decision->items[0], "{\"type\":\"message\",\"role\":\"user\"}");
    step = "assistant";
    decision = mortise_test_hook(test, &all_hooks, prompt_submit, .item = USER);
    mortise_test_same(decision->items[0], USER);
    return mortise_test_close(test);
}

static const mortise_test_decision *request(mortise_test *test, const char *what)
{
    static const char *const items[] = {USER, CALL, RESULT};
    step = what;
    mortise_test_items(test, items, 3);
    return mortise_test_hook(test, &all_hooks, pre_llm_request, .locked_prefix = 1);
}

static int asks_before_a_request(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_decision *decision = request(test, "locked");
    mortise_test_verdict(decision, MORTISE_CONTINUE, "-5 3 test/model"); /* MORTISE_DENIED */
    mortise_test_true(decision->item_count == 3);
    mortise_test_verdict(request(test, "other kind"), MORTISE_CONTINUE, "-7 3"); /* …_INVALID */
    decision = request(test, "remove both");
    mortise_test_true(decision->item_count == 1);
    mortise_test_same(decision->items[0], USER);
    decision = request(test, "append");
    mortise_test_true(decision->item_count == 4 && decision->appended_count == 1);
    mortise_test_same(decision->items[3], decision->appended[0]);
    mortise_test_contains(decision->appended[0], "\"text\":\"more\"");
    return mortise_test_close(test);
}

static int asks_around_a_call(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_decision *decision;
    step = "skip";
    decision = mortise_test_hook(test, &all_hooks, pre_tool_call, .meta = &tick_meta);
    mortise_test_verdict(decision, MORTISE_SKIP, "no tick today");
    mortise_test_same(decision->arguments, "{}");
    mortise_test_same(decision->result, NULL);
    step = "respond";
    decision = mortise_test_hook(test, &all_hooks, pre_tool_call, .arguments = "{\"a\":1}");
    mortise_test_verdict(decision, MORTISE_RESPOND, "");
    mortise_test_same(decision->result, "instead of {\"a\":1}");
    mortise_test_true(decision->is_error);
    step = "change";
    decision = mortise_test_hook(test, &all_hooks, pre_tool_call, .arguments = "{\"a\":1}");
    mortise_test_same(decision->arguments, "{\"a\":2}");
    step = "spoil";
    decision = mortise_test_hook(test, &all_hooks, pre_tool_call, .arguments = "{\"a\":1}");
    mortise_test_verdict(decision, MORTISE_PAUSE, "");
    mortise_test_same(decision->arguments, "{\"a\":1}");
    step = "append";
    mortise_test_verdict(mortise_test_hook(test, &all_hooks, pre_tool_call, .turn = 0),
                         MORTISE_ABORT, "");
    step = "state";
    mortise_test_verdict(mortise_test_hook(test, &all_hooks, pre_tool_call, .turn = 0),
                         MORTISE_PAUSE, "");
    decision =
        mortise_test_hook(test, &all_hooks, post_tool_call, .result = "no", .is_error = true);
    mortise_test_same(decision->result, "<no> tool.error");
    mortise_test_true(decision->is_error);
    return mortise_test_close(test);
}

static int asks_at_the_other_events(void)
{
    mortise_test *test = mortise_test_open(NULL);
    const mortise_test_decision *decision;
    step = "go on";
    decision = mortise_test_hook(test, &all_hooks, turn_end, .turn = 1);
    mortise_test_verdict(decision, MORTISE_CONTINUE_WITH, "");
    mortise_test_true(decision->item_count == 0 && decision->appended_count == 1);
    mortise_test_verdict(mortise_test_hook(test, &all_hooks, on_abort, .reason = "because"),
                         MORTISE_CONTINUE, "because");
    mortise_test_verdict(mortise_test_hook(test, &all_hooks, text_delta, .text = "abc"),
                         MORTISE_PAUSE, "3");
    mortise_test_verdict(
        mortise_test_hook(test, &all_hooks, stream_chunk, .event = "usage", .json = "{}"),
        MORTISE_CONTINUE, "usage {}");
    mortise_test_true(mortise_test_has_hooks(test, &all_hooks));
    mortise_test_true(!mortise_test_has_hooks(test, &unwanted_hooks));
    return mortise_test_close(test);
}

/* A guard that refuses is loaded, and lets no run begin. */
static int knows_a_guard_that_refuses(void)
{
    mortise_test_refused("{\"refuse\":true}", "shall refuse");
    return mortise_test_close(mortise_test_open(NULL));
}

/* ---- what fails ---- */

static int responds_nothing(void)
{
    mortise_test *test = mortise_test_open(NULL);
    step = "nothing";
    mortise_test_hook(test, &all_hooks, pre_tool_call, .turn = 0);
    return mortise_test_close(test);
}

static int goes_on_with_nothing(void)
{
    mortise_test *test = mortise_test_open(NULL);
    step = "nothing";
    mortise_test_hook(test, &all_hooks, turn_end, .turn = 0);
    return mortise_test_close(test);
}

static int skips_a_turn(void)
{
    mortise_test *test = mortise_test_open(NULL);
    step = "skip";
    mortise_test_hook(test, &all_hooks, turn_end, .turn = 0);
    return mortise_test_close(test);
}

static int removes_half_of_a_call(void)
{
    mortise_test *test = mortise_test_open(NULL);
    request(test, "remove one");
    return mortise_test_close(test);
}

static int asks_what_is_not_taken(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_hook(test, &all_hooks, tool_call_delta, .json = "{");
    return mortise_test_close(test);
}

static int asks_who_is_not_wanted(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_hook(test, &unwanted_hooks, on_abort, .reason = "");
    return mortise_test_close(test);
}

static int expects_another_verdict(void)
{
    mortise_test *test = mortise_test_open(NULL);
    step = "skip";
    mortise_test_verdict(mortise_test_hook(test, &all_hooks, pre_tool_call, .turn = 0),
                         MORTISE_ABORT, "");
    return mortise_test_close(test);
}

int main(void)
{
    static const struct forked_case cases[] = {
        GOOD(asks_at_a_prompt),
        GOOD(asks_before_a_request),
        GOOD(asks_around_a_call),
        GOOD(asks_at_the_other_events),
        GOOD(knows_a_guard_that_refuses),
        BAD(responds_nothing, "'all' returned MORTISE_RESPOND without respond()"),
        BAD(goes_on_with_nothing, "'all' returned MORTISE_CONTINUE_WITH without append()"),
        BAD(skips_a_turn, "'all' gave a verdict that this event does not know"),
        BAD(removes_half_of_a_call, "'all' removed only one of call 'c' and its result"),
        BAD(asks_what_is_not_taken, "the plugin does not take this event with the hooks 'all'"),
        BAD(asks_who_is_not_wanted,
            "the plugin does not take this event with the hooks 'unwanted'"),
        BAD(expects_another_verdict,
            "expected MORTISE_ABORT\n    came MORTISE_SKIP: no tool today"),
    };
    return run_forked(cases, sizeof(cases) / sizeof(cases[0]));
}
