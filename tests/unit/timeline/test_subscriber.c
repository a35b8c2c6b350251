/* Typed callbacks with scopes, and an example of a subscriber (W82-W94, W110, W124, D2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "timeline/subscriber.h"
#include "unit/base/failing.h"

/* ---- an example: prints as it comes, and counts at the end (W94) ---- */

struct printer {
    struct text out;
    unsigned scopes; /* that are alive */
};

struct counter {
    unsigned deltas;
};

static void *make_counter(void *self)
{
    struct printer *printer = self;
    printer->scopes++;
    return calloc(1, sizeof(struct counter));
}

static void free_counter(void *self, void *scope)
{
    struct printer *printer = self;
    printer->scopes--;
    free(scope);
}

static void print_text(void *self, void *scope, const struct text_block *block)
{
    struct printer *printer = self;
    struct counter *counter = scope;
    if (block->phase == BLOCK_GROWS) {
        counter->deltas++;
        text_append(&printer->out, block->text.data, block->text.length);
    } else if (block->phase == BLOCK_ENDS) {
        text_printf(&printer->out, "%s (%u)", block->aborted ? "…" : "", counter->deltas);
    }
}

static void print_tool_use(void *self, void *scope, const struct tool_use_block *block)
{
    struct printer *printer = self;
    struct counter *counter = scope;
    if (block->phase == BLOCK_BEGINS)
        text_printf(&printer->out, " <%s %s", block->id, block->name);
    else if (block->phase == BLOCK_GROWS)
        counter->deltas++;
    else
        text_printf(&printer->out, " %.*s%s (%u)>", (int)block->json.length, block->json.data,
                    block->aborted ? "…" : "", counter->deltas);
}

static void print_complete(void *self, struct slice text)
{
    text_printf(&((struct printer *)self)->out, " [%.*s]", (int)text.length, text.data);
}

static void print_call(void *self, const struct tool_use *call)
{
    struct printer *printer = self;
    text_printf(&printer->out, " {%s", call->name);
    if (call->input)
        text_json(&printer->out, call->input);
    text_puts(&printer->out, "}");
}

static void print_turn_start(void *self, unsigned turn)
{
    text_printf(&((struct printer *)self)->out, "turn %u: ", turn);
}

static void print_turn_end(void *self, unsigned turn)
{
    text_printf(&((struct printer *)self)->out, " end %u\n", turn);
}

static void print_usage(void *self, const struct usage *usage)
{
    text_printf(&((struct printer *)self)->out, " %lld tokens", (long long)usage->output_tokens);
}

static void print_status(void *self, struct slice text)
{
    text_printf(&((struct printer *)self)->out, " status %.*s", (int)text.length, text.data);
}

static void print_failure(void *self, const struct error *error)
{
    text_printf(&((struct printer *)self)->out, " error %s", error->message);
}

static struct subscriber printer_of(struct printer *printer)
{
    return (struct subscriber){
        .self = printer,
        .text_scope = make_counter,
        .text_scope_free = free_counter,
        .text_block = print_text,
        .text_complete = print_complete,
        .tool_use_scope = make_counter,
        .tool_use_scope_free = free_counter,
        .tool_use_block = print_tool_use,
        .tool_call_complete = print_call,
        .turn_start = print_turn_start,
        .usage = print_usage,
        .turn_end = print_turn_end,
        .status = print_status,
        .error = print_failure,
    };
}

/* ---- events ---- */

static struct timeline timeline;

static struct slice slice(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void emit(struct event event)
{
    timeline_emit(&timeline, &event);
}

static void start(enum block_kind kind, unsigned index)
{
    bool is_call = kind == BLOCK_TOOL_USE;
    emit((struct event){.kind = EVENT_BLOCK_START,
                        .as.block = {.kind = kind,
                                     .index = index,
                                     .id = is_call ? "c1" : NULL,
                                     .name = is_call ? "add" : NULL}});
}

static void grow(enum block_kind kind, unsigned index, const char *text)
{
    emit((struct event){.kind = EVENT_BLOCK_DELTA,
                        .as.block = {.kind = kind, .index = index, .text = slice(text)}});
}

static void stop(enum block_kind kind, unsigned index, const char *text, bool aborted)
{
    emit((struct event){
        .kind = EVENT_BLOCK_STOP,
        .as.block = {.kind = kind, .index = index, .text = slice(text), .aborted = aborted}});
}

static void begin(struct printer *printer)
{
    *printer = (struct printer){0};
    timeline_init(&timeline);
    struct subscriber subscriber = printer_of(printer);
    assert_true(timeline_subscribe(&timeline, &subscriber));
}

static void end(struct printer *printer, const char *expected)
{
    assert_int_equal(printer->scopes, 0);
    assert_string_equal(text_cstr(&printer->out), expected);
    timeline_release(&timeline);
    text_release(&printer->out);
}

/* W82-W93: blocks that come mixed each have their scope. */
static void test_a_whole_turn(void **state)
{
    (void)state;
    struct printer printer;
    begin(&printer);
    emit((struct event){.kind = EVENT_TURN_START, .as.turn_start.turn = 3});
    start(BLOCK_TEXT, 0);
    grow(BLOCK_TEXT, 0, "Hel");
    start(BLOCK_TOOL_USE, 1);
    assert_int_equal(printer.scopes, 2);
    grow(BLOCK_TOOL_USE, 1, "{\"n\"");
    grow(BLOCK_TEXT, 0, "lo");
    stop(BLOCK_TEXT, 0, "Hello", false);
    assert_int_equal(printer.scopes, 1);
    grow(BLOCK_TOOL_USE, 1, ": 1}");
    stop(BLOCK_TOOL_USE, 1, "{\"n\": 1}", false);
    emit((struct event){.kind = EVENT_STATUS, .as.status.text = slice("busy")});
    emit((struct event){.kind = EVENT_USAGE, .as.usage = {1, 2, -1, -1, -1}});
    emit((struct event){.kind = EVENT_TURN_END, .as.turn_end.turn = 3});
    end(&printer, "turn 3: Hel <c1 addlo (2) [Hello] {\"n\": 1} (2)> {add{\"n\":1}} status busy "
                  "2 tokens end 3\n");
}

/* W90, W91: also when it is empty; what is no object has no input. */
static void test_empty_and_unreadable(void **state)
{
    (void)state;
    struct printer printer;
    begin(&printer);
    start(BLOCK_TEXT, 0);
    stop(BLOCK_TEXT, 0, "", false);
    start(BLOCK_TOOL_USE, 1);
    stop(BLOCK_TOOL_USE, 1, "", false);
    start(BLOCK_TOOL_USE, 2);
    stop(BLOCK_TOOL_USE, 2, "[1", false);
    end(&printer, " (0) [] <c1 add  (0)> {add{}} <c1 add [1 (0)> {add}");
}

/* W51, D2: a block that breaks off ends as aborted, and nothing is complete. */
static void test_aborted_blocks(void **state)
{
    (void)state;
    struct printer printer;
    struct error error;
    begin(&printer);
    error_set(&error, ERROR_NETWORK, "gone");
    start(BLOCK_TEXT, 0);
    grow(BLOCK_TEXT, 0, "Hel");
    stop(BLOCK_TEXT, 0, "Hel", true);
    start(BLOCK_TEXT, 1);
    start(BLOCK_TOOL_USE, 2);
    emit((struct event){.kind = EVENT_USAGE, .as.usage = {1, 1, -1, -1, -1}});
    emit((struct event){.kind = EVENT_RESET, .as.reset.reason = "retry"});
    assert_int_equal(printer.scopes, 0);
    grow(BLOCK_TEXT, 1, "lost");
    start(BLOCK_TEXT, 0);
    grow(BLOCK_TEXT, 0, "Yes");
    emit((struct event){.kind = EVENT_ERROR, .as.error = &error});
    emit((struct event){.kind = EVENT_TURN_END});
    end(&printer, "Hel… (1) <c1 add … (0)>… (0)Yes error gone… (1) end 0\n");
}

/* W87: one number per request, that of the attempt that counted. */
static void test_usage_once(void **state)
{
    (void)state;
    struct printer printer;
    begin(&printer);
    emit((struct event){.kind = EVENT_USAGE, .as.usage = {1, 1, -1, -1, -1}});
    emit((struct event){.kind = EVENT_RESET, .as.reset.reason = "retry"});
    emit((struct event){.kind = EVENT_USAGE, .as.usage = {1, 7, -1, -1, -1}});
    emit((struct event){.kind = EVENT_TURN_END});
    end(&printer, " 7 tokens end 0\n");
}

static void count_ping(void *self)
{
    ++*(int *)self;
}

static void count_thinking(void *self, void *scope, const struct text_block *block)
{
    (void)scope;
    (void)block;
    ++*(int *)self;
}

static void count_directly(void *self, const struct event *event)
{
    (void)event;
    ++*(int *)self;
}

/* W82, W110, W124: several subscribers beside plain handlers, each with what it wants. */
static void test_several(void **state)
{
    (void)state;
    int pings = 0, thoughts = 0, direct = 0;
    struct printer printer;
    begin(&printer);
    assert_true(
        timeline_subscribe(&timeline, &(struct subscriber){.self = &pings, .ping = count_ping}));
    assert_true(timeline_subscribe(
        &timeline, &(struct subscriber){.self = &thoughts, .thinking_block = count_thinking}));
    assert_true(timeline_add(&timeline, EVENT_BIT(EVENT_PING), count_directly, &direct));
    emit((struct event){.kind = EVENT_PING});
    start(BLOCK_REASONING, 0);
    grow(BLOCK_REASONING, 0, "hm");
    stop(BLOCK_REASONING, 0, "hm", false);
    assert_int_equal(pings, 1);
    assert_int_equal(direct, 1);
    assert_int_equal(thoughts, 3);
    end(&printer, "");
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct printer printer = {0};
        struct subscriber subscriber = printer_of(&printer);
        subscriber.text_scope = subscriber.tool_use_scope = NULL; /* those are the test's */
        subscriber.text_block = NULL;
        subscriber.tool_use_block = NULL;
        timeline_init(&timeline);
        fail_after(allowed);
        timeline_subscribe(&timeline, &subscriber);
        start(BLOCK_TEXT, 0);
        start(BLOCK_TOOL_USE, 1);
        stop(BLOCK_TOOL_USE, 1, "{\"n\":1}", false);
        failed = fail_never();
        timeline_release(&timeline);
        text_release(&printer.out);
    }
}

int main(void)
{
    json_set_alloc_funcs(malloc, free);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_turn),   cmocka_unit_test(test_empty_and_unreadable),
        cmocka_unit_test(test_aborted_blocks), cmocka_unit_test(test_usage_once),
        cmocka_unit_test(test_several),        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
