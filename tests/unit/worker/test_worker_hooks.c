#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "stage.h"

#define CALL "{\"calls\":[{\"id\":\"a\",\"name\":\"echo\",\"arguments\":{\"n\":1}}]},"

static void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text ? text : "(nothing)");
}

/* What the hooks of a test saw, and how often. */
static struct {
    unsigned prompts, requests, ends, aborts;
    char reason[256];
} seen;

static void reason(mortise_hook *hook, const char *text)
{
    hook->ops->reason(hook, text, strlen(text));
}

static mortise_verdict note_abort(void *state, mortise_hook *hook, const mortise_abort *event)
{
    (void)state;
    (void)hook;
    seen.aborts++;
    snprintf(seen.reason, sizeof(seen.reason), "%.*s", (int)event->reason_length, event->reason);
    return MORTISE_CONTINUE;
}

/* ---- OnPromptSubmit ---- */

static mortise_verdict refuse_prompt(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    (void)state;
    (void)event;
    seen.prompts++;
    reason(hook, "not today");
    return MORTISE_ABORT;
}

static void a_refused_prompt_changes_nothing(void **state) /* W17, W19, W60 */
{
    const mortise_hooks hooks = {.size = sizeof(hooks),
                                 .name = "gate",
                                 .prompt_submit = refuse_prompt,
                                 .on_abort = note_abort};
    struct stage stage;
    (void)state;
    seen.prompts = seen.aborts = 0;
    stage_open(&stage, "{\"text\":\"never\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_ABORTED);
    assert_contains(stage.result.error.message, "not today");
    assert_contains(stage.result.error.message, "gate");
    assert_int_equal(stage_item_count(&stage), 0);
    assert_int_equal(worker_turn_count(stage.worker), 0);
    assert_int_equal(seen.prompts, 1);
    assert_int_equal(seen.aborts, 1);
    assert_contains(seen.reason, "not today");
    assert_true(worker_last_run_interrupted(stage.worker));
    stage_close(&stage);
}

static mortise_verdict change_prompt(void *state, mortise_hook *hook,
                                     const mortise_prompt_submit *event)
{
    static const char item[] = "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                               "\"input_text\",\"text\":\"changed\"}]}";
    (void)state;
    (void)event;
    seen.prompts++;
    hook->ops->set_item(hook, 0, item, sizeof(item) - 1);
    return MORTISE_CONTINUE;
}

static void a_changed_prompt_is_what_is_stored(void **state) /* W17, W18 */
{
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "gate", .prompt_submit = change_prompt};
    struct stage stage;
    (void)state;
    seen.prompts = 0;
    stage_open(&stage, CALL "{\"expect\":[\"changed\"],\"text\":\"ok\"}", &hooks);
    assert_int_equal(stage_run(&stage, "original"), WORKER_FINISHED);
    assert_contains(stage_item(&stage, 0), "changed");
    assert_int_equal(seen.prompts, 1); /* once per run, not per turn */
    stage_close(&stage);
}

/* ---- PreLlmRequest ---- */

static mortise_verdict edit_request(void *state, mortise_hook *hook,
                                    const mortise_pre_llm_request *event)
{
    static const char edited[] = "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                                 "\"input_text\",\"text\":\"[redacted]\"}]}";
    static const char added[] = "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                                "\"input_text\",\"text\":\"remember this\"}]}";
    (void)state;
    seen.requests++;
    if (event->turn == 0) {
        hook->ops->set_item(hook, 0, edited, sizeof(edited) - 1);
        hook->ops->append(hook, added, sizeof(added) - 1);
    }
    return MORTISE_CONTINUE;
}

static void an_edit_is_for_one_request_and_an_append_stays(void **state) /* W21, W22, D18 */
{
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "edit", .pre_llm_request = edit_request};
    struct stage stage;
    (void)state;
    seen.requests = 0;
    stage_open(&stage,
               "{\"expect\":[\"[redacted]\",\"remember this\"],\"calls\":[{\"id\":\"a\",\"name\":"
               "\"echo\",\"arguments\":{}}]},"
               "{\"expect\":[\"my secret\",\"remember this\"],\"text\":\"ok\"}",
               &hooks);
    assert_int_equal(stage_run(&stage, "my secret"), WORKER_FINISHED);
    assert_int_equal(seen.requests, 2);
    assert_contains(stage_item(&stage, 0), "my secret");
    assert_contains(stage_item(&stage, 1), "remember this");
    stage_close(&stage);
}

static mortise_verdict refuse_request(void *state, mortise_hook *hook,
                                      const mortise_pre_llm_request *event)
{
    (void)state;
    (void)event;
    reason(hook, "over budget");
    return MORTISE_ABORT;
}

static void a_refused_request_is_not_sent(void **state) /* W23 */
{
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "budget", .pre_llm_request = refuse_request};
    struct stage stage;
    (void)state;
    stage_open(&stage, "{\"text\":\"never\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_ABORTED);
    assert_int_equal(worker_turn_count(stage.worker), 0);
    assert_string_equal(text_cstr(&stage.trace), "run_start turn_start hook error turn_end ");
    stage_close(&stage);
}

/* ---- PreToolCall, PostToolCall ---- */

static mortise_verdict before(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    static const char changed[] = "{\"n\":2}";
    (void)event;
    switch (*(mortise_verdict *)state) {
    case MORTISE_CONTINUE:
        hook->ops->set_arguments(hook, changed, sizeof(changed) - 1);
        break;
    case MORTISE_RESPOND:
        hook->ops->respond(hook, false, "cached", 6);
        break;
    default:
        reason(hook, "because");
    }
    return *(mortise_verdict *)state;
}

static void a_hook_decides_on_each_call(void **state) /* W31, W32, W66-W69, D1, D4, T70 */
{
    static const struct {
        mortise_verdict verdict;
        enum worker_status status;
        unsigned calls;
        const char *output; /* NULL: none is stored */
    } cases[] = {
        {MORTISE_CONTINUE, WORKER_FINISHED, 1, "\"output\":\"{\\\"n\\\":2}\",\"is_error\":false"},
        {MORTISE_SKIP, WORKER_FINISHED, 0, "Tool call skipped by hook 'before': because"},
        {MORTISE_RESPOND, WORKER_FINISHED, 0, "\"output\":\"cached\",\"is_error\":false"},
        {MORTISE_ABORT, WORKER_ABORTED, 0, "\"is_error\":true"},
        {MORTISE_PAUSE, WORKER_PAUSED, 0, NULL},
        {MORTISE_HOOK_FAILED, WORKER_HOOK, 0, "\"is_error\":true"},
        {77, WORKER_HOOK, 0, "\"is_error\":true"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        mortise_verdict verdict = cases[i].verdict;
        const mortise_hooks hooks = {
            .size = sizeof(hooks), .name = "before", .state = &verdict, .pre_tool_call = before};
        struct stage stage;
        stage_open(&stage, CALL "{\"text\":\"ok\"}", &hooks);
        assert_int_equal(stage_run(&stage, "Go"), cases[i].status);
        assert_int_equal(stage.calls, cases[i].calls);
        if (cases[i].output)
            assert_contains(stage_item(&stage, 2), cases[i].output);
        else
            assert_int_equal(stage_item_count(&stage), 2);
        stage_close(&stage);
    }
}

static void a_paused_run_goes_on_with_the_next(void **state) /* W58, D6 */
{
    mortise_verdict verdict = MORTISE_PAUSE;
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "before", .state = &verdict, .pre_tool_call = before};
    struct stage stage;
    (void)state;
    stage_open(&stage, CALL "{\"text\":\"ok\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_PAUSED);
    verdict = MORTISE_CONTINUE;
    assert_int_equal(stage_run(&stage, "And now?"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 1);
    assert_contains(stage_item(&stage, 2), "function_call_output");
    assert_contains(stage_item(&stage, 3), "And now?");
    stage_close(&stage);
}

static mortise_verdict pause_once(void *state, mortise_hook *hook,
                                  const mortise_pre_tool_call *event)
{
    (void)hook;
    (void)event;
    return ++*(unsigned *)state == 1 ? MORTISE_PAUSE : MORTISE_CONTINUE;
}

static void a_resumed_run_asks_its_hooks_again(void **state) /* W41, W56, W57, W59 */
{
    unsigned asked = 0;
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "before", .state = &asked, .pre_tool_call = pause_once};
    struct stage stage;
    (void)state;
    stage_open(&stage, CALL "{\"text\":\"ok\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_PAUSED);
    assert_true(worker_last_run_interrupted(stage.worker));
    assert_int_equal(stage.calls, 0);
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    assert_false(worker_last_run_interrupted(stage.worker));
    assert_int_equal(asked, 2);
    assert_int_equal(stage.calls, 1);
    assert_int_equal(stage_item_count(&stage), 4); /* no second message of the user */
    stage_close(&stage);
}

static mortise_verdict after(void *state, mortise_hook *hook, const mortise_post_tool_call *event)
{
    (void)state;
    assert_int_equal(event->result_length, 7);
    hook->ops->set_result(hook, true, "masked", 6);
    return MORTISE_CONTINUE;
}

static void a_hook_changes_a_result(void **state) /* W35, W70, T71 */
{
    const mortise_hooks hooks = {.size = sizeof(hooks), .name = "after", .post_tool_call = after};
    struct stage stage;
    (void)state;
    stage_open(&stage, CALL "{\"expect\":[\"masked\"],\"text\":\"ok\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_contains(stage_item(&stage, 2), "\"output\":\"masked\",\"is_error\":true");
    stage_close(&stage);
}

/* ---- the stream ---- */

static mortise_verdict on_text(void *state, mortise_hook *hook, const mortise_text_delta *event)
{
    seen.prompts += (unsigned)event->length;
    reason(hook, "bad words");
    return *(mortise_verdict *)state;
}

static void a_hook_ends_a_response(void **state) /* W27, W74, W79, W80, D5 */
{
    static const struct {
        mortise_verdict verdict;
        enum worker_status status;
    } cases[] = {{MORTISE_ABORT, WORKER_ABORTED},
                 {MORTISE_PAUSE, WORKER_PAUSED},
                 {MORTISE_HOOK_FAILED, WORKER_HOOK}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        mortise_verdict verdict = cases[i].verdict;
        const mortise_hooks hooks = {
            .size = sizeof(hooks), .name = "words", .state = &verdict, .text_delta = on_text};
        struct stage stage;
        seen.prompts = 0;
        stage_open(&stage,
                   "{\"text\":\"one two three four five six\",\"chunk\":4},{\"text\":\"again\"}",
                   &hooks);
        assert_int_equal(stage_run(&stage, "Go"), cases[i].status);
        assert_int_equal(seen.prompts, 4); /* nothing more was asked */
        assert_int_equal(stage_item_count(&stage), 1); /* and nothing of it is stored */
        verdict = MORTISE_CONTINUE;
        assert_int_equal(stage_run(&stage, "Once more"), WORKER_FINISHED);
        stage_close(&stage);
    }
}

static struct text chunks;

static mortise_verdict on_chunk(void *state, mortise_hook *hook, const mortise_stream_chunk *event)
{
    (void)state;
    (void)hook;
    assert_int_equal(event->json[0], '{');
    assert_int_equal(event->json[event->length - 1], '}');
    text_printf(&chunks, "%s ", event->event);
    return MORTISE_CONTINUE;
}

static mortise_verdict on_call_delta(void *state, mortise_hook *hook,
                                     const mortise_tool_call_delta *event)
{
    (void)state;
    (void)hook;
    text_printf(&chunks, "<%.*s> ", (int)event->length, event->json);
    return MORTISE_CONTINUE;
}

static mortise_verdict on_complete(void *state, mortise_hook *hook,
                                   const mortise_stream_complete *event)
{
    (void)state;
    (void)hook;
    text_printf(&chunks, "complete(%u, %u) ", event->turn, (unsigned)event->event_count);
    return MORTISE_CONTINUE;
}

static void every_event_of_a_stream_is_told(void **state) /* W25, W26, W28, W75-W78 */
{
    const mortise_hooks hooks = {.size = sizeof(hooks),
                                 .name = "watch",
                                 .tool_call_delta = on_call_delta,
                                 .stream_chunk = on_chunk,
                                 .stream_complete = on_complete};
    struct stage stage;
    (void)state;
    stage_open(&stage, CALL "{\"reasoning\":\"hm\",\"text\":\"ok\",\"usage\":{\"input_tokens\":1}}",
               &hooks);
    text_reset(&chunks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&chunks),
                        "tool_call_start tool_call_delta <{\"n\":1}> tool_call_stop stop "
                        "complete(0, 4) "
                        "reasoning_start reasoning_delta reasoning_stop text_start text_delta "
                        "text_stop usage stop complete(1, 8) ");
    text_release(&chunks);
    stage_close(&stage);
}

/* ---- OnTurnEnd, OnAbort ---- */

static mortise_verdict once_more(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    static const char item[] = "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                               "\"input_text\",\"text\":\"Are you sure?\"}]}";
    (void)state;
    (void)event;
    if (seen.ends++ > 0)
        return MORTISE_CONTINUE;
    hook->ops->append(hook, item, sizeof(item) - 1);
    return MORTISE_CONTINUE_WITH;
}

static void a_hook_goes_on_with_a_message(void **state) /* W38-W42, W72 */
{
    const mortise_hooks hooks = {.size = sizeof(hooks),
                                 .name = "sure",
                                 .turn_end = once_more,
                                 .on_abort = note_abort};
    struct stage stage;
    (void)state;
    seen.ends = seen.aborts = 0;
    stage_open(&stage, CALL "{\"text\":\"Yes.\"},{\"expect\":[\"Are you sure?\"],\"text\":\"Sure.\"}",
               &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&stage.result.text), "Sure.");
    assert_int_equal(seen.ends, 2); /* not while tools were called */
    assert_int_equal(seen.aborts, 0);
    stage_close(&stage);
}

static mortise_verdict cancel_and_go_on(void *state, mortise_hook *hook,
                                        const mortise_turn_end *event)
{
    worker_cancel(((struct stage *)state)->worker);
    return once_more(state, hook, event);
}

static void a_cancel_between_requests_ends_the_run(void **state) /* W53 */
{
    struct stage stage;
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "stop", .state = &stage, .turn_end = cancel_and_go_on};
    (void)state;
    seen.ends = 0;
    stage_open(&stage, "{\"text\":\"Yes.\"},{\"text\":\"Sure.\"}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_CANCELLED);
    assert_int_equal(stage.result.turns, 1);
    assert_int_equal(stage_item_count(&stage), 3);
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    assert_string_equal(text_cstr(&stage.result.text), "Sure.");
    stage_close(&stage);
}

static void an_error_is_told_once(void **state) /* W59, W60 */
{
    const mortise_hooks hooks = {.size = sizeof(hooks), .name = "watch", .on_abort = note_abort};
    struct stage stage;
    (void)state;
    seen.aborts = 0;
    stage_open(&stage, "{\"error\":{\"kind\":\"server\",\"message\":\"it broke\"}}", &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(seen.aborts, 1);
    assert_contains(seen.reason, "it broke");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_prompt_changes_nothing),
        cmocka_unit_test(a_changed_prompt_is_what_is_stored),
        cmocka_unit_test(an_edit_is_for_one_request_and_an_append_stays),
        cmocka_unit_test(a_refused_request_is_not_sent),
        cmocka_unit_test(a_hook_decides_on_each_call),
        cmocka_unit_test(a_paused_run_goes_on_with_the_next),
        cmocka_unit_test(a_resumed_run_asks_its_hooks_again),
        cmocka_unit_test(a_hook_changes_a_result),
        cmocka_unit_test(a_cancel_between_requests_ends_the_run),
        cmocka_unit_test(a_hook_ends_a_response),
        cmocka_unit_test(every_event_of_a_stream_is_told),
        cmocka_unit_test(a_hook_goes_on_with_a_message),
        cmocka_unit_test(an_error_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
