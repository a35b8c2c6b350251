/* A request that the model's context cannot take is made smaller once (FAULTS 41 to 45), and an
 * answer that calls a tool in its text (FAULTS 88). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "worker/state.h"

#define REFUSAL(message) "{\"error\":{\"kind\":\"context_overflow\",\"message\":\"" message "\"}},"
#define TOO_LONG         REFUSAL("prompt is too long: 20000 tokens > 16000 maximum")
#define DONE             "{\"text\":\"Done.\"}"

enum { LONG = 8000 };

static void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text ? text : "(nothing)");
}

/* A call of echo with that many bytes, which come back as its result. */
static void put_turn(struct text *script, const char *id, size_t bytes)
{
    text_printf(script, "{\"calls\":[{\"id\":\"%s\",\"name\":\"echo\",\"arguments\":{\"t\":\"", id);
    for (size_t i = 0; i < bytes; i++)
        text_putc(script, 'x');
    text_puts(script, "\"}}]},");
}

/* Two calls, one of them with a long result, and then these turns. */
static void open_long(struct stage *stage, const char *turns, const mortise_hooks *hooks)
{
    struct text script = TEXT_INIT;
    put_turn(&script, "short", 10);
    put_turn(&script, "long", LONG);
    text_puts(&script, turns);
    stage_open(stage, script.data, hooks);
    text_release(&script);
}

static size_t length_of(const struct stage *stage, size_t index)
{
    return worker_history(stage->worker)->items[index]->text.length;
}

static void the_longest_result_is_shortened_and_stays_so(void **state) /* FAULTS 41, 45 */
{
    struct stage stage;
    (void)state;
    open_long(&stage, TOO_LONG "{\"expect\":[\"bytes left out\"],\"text\":\"Done.\"}," DONE, NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_int_equal(stage.result.turns, 3); /* the second one is not asked for twice */
    assert_contains(text_cstr(&stage.trace), "turn_start retry status turn_end ");
    assert_in_range(length_of(&stage, 4), 1024, LONG / 2 + 1000);
    assert_in_range(length_of(&stage, 2), 1, 100);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_null(strstr(text_cstr(&stage.trace), "retry"));
    stage_close(&stage);
}

static void the_second_time_it_is_an_error(void **state) /* FAULTS 41, 45 */
{
    struct stage stage;
    (void)state;
    open_long(&stage, TOO_LONG TOO_LONG DONE, NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_CONTEXT_OVERFLOW);
    assert_contains(stage.result.error.message,
                    "prompt is too long: 20000 tokens > 16000 maximum;");
    assert_contains(stage.result.error.message, "--result-limit");
    assert_int_equal(stage_item_count(&stage), 5);
    assert_in_range(length_of(&stage, 4), LONG, LONG + 100); /* nothing was given away for it */
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    stage_close(&stage);
}

static void another_error_is_not_talked_over(void **state)
{
    struct stage stage;
    (void)state;
    open_long(&stage, TOO_LONG "{\"error\":{\"kind\":\"auth\",\"message\":\"no\"}}", NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_string_equal(stage.result.error.message, "no");
    assert_in_range(length_of(&stage, 4), LONG, LONG + 100);
    stage_close(&stage);
}

static void what_cannot_be_shortened_is_not_sent_again(void **state) /* FAULTS 41 */
{
    struct stage stage;
    (void)state;
    stage_open(&stage, TOO_LONG DONE, NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_CONTEXT_OVERFLOW);
    assert_null(strstr(text_cstr(&stage.trace), "retry"));
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    stage_close(&stage);
}

static void what_was_shown_is_not_made_again(void **state) /* D11, FAULTS 38 */
{
    struct stage stage;
    (void)state;
    open_long(
        &stage,
        "{\"text\":\"Hm\",\"error\":{\"kind\":\"context_overflow\",\"message\":\"full\"}}," DONE,
        NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_contains(stage.result.error.message, "full;");
    assert_null(strstr(text_cstr(&stage.trace), "retry"));
    stage_close(&stage);
}

static void what_is_locked_stays(void **state) /* FAULTS 45; D17 */
{
    struct stage stage;
    (void)state;
    open_long(&stage, DONE "," TOO_LONG DONE, NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    worker_lock(stage.worker);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_contains(stage.result.error.message, "unlock the session");
    assert_in_range(length_of(&stage, 4), LONG, LONG + 100);
    stage_close(&stage);
}

static void a_shorter_answer_is_asked_for(void **state) /* FAULTS 43 */
{
    struct stage stage;
    (void)state;
    open_long(
        &stage,
        REFUSAL("exceed context limit: 6000 + 8192 > 10000") "{\"expect\":["
                                                             "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                                             "xxxxxxxxx\"],\"text\":\"Done.\"}",
        NULL);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_in_range(length_of(&stage, 4), LONG, LONG + 100);
    assert_int_equal(worker_config(stage.worker)->max_tokens, -1); /* of that request alone */
    stage_close(&stage);
}

/* ---- what hooks write ---- */

static mortise_verdict write_long(void *state, mortise_hook *hook,
                                  const mortise_pre_llm_request *event)
{
    struct text json = TEXT_INIT;
    (void)state;
    (void)event;
    if (hook->ops->item_count(hook) < 5)
        return MORTISE_CONTINUE;
    text_puts(&json, "{\"type\":\"function_call_output\",\"call_id\":\"short\",\"output\":\"");
    for (size_t i = 0; i < 2 * LONG; i++)
        text_putc(&json, 'y');
    text_puts(&json, "\"}");
    assert_int_equal(hook->ops->set_item(hook, 2, json.data, json.length), MORTISE_OK);
    text_release(&json);
    return MORTISE_CONTINUE;
}

static void what_a_hook_wrote_is_shortened_in_its_request_alone(void **state) /* D18, W22 */
{
    const mortise_hooks hooks = {
        .size = sizeof(hooks), .name = "writer", .pre_llm_request = write_long};
    struct stage stage;
    (void)state;
    open_long(&stage, TOO_LONG "{\"expect\":[\"yyyy\",\"bytes left out\"],\"text\":\"Done.\"}",
              &hooks);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_in_range(length_of(&stage, 2), 1, 100);
    assert_in_range(length_of(&stage, 4), 1024, LONG - 100);
    stage_close(&stage);
}

/* ---- files that go with results ---- */

static struct item *result_with_files(const char *id)
{
    static char picture[60000];
    struct item *item = item_output(id, "Look.", 5, false);
    const struct attachment files[] = {
        {.mime_type = (char *)(uintptr_t) "image/png",
         .name = (char *)(uintptr_t) "plot.png",
         .data = {picture, sizeof(picture)}},
        {.mime_type = (char *)(uintptr_t) "image/jpeg",
         .uri = (char *)(uintptr_t) "https://example.org/a.jpg"},
    };
    assert_non_null(item);
    assert_true(item_attach(item, &files[0]) && item_attach(item, &files[1]));
    return item;
}

static void files_are_named_where_they_are_left_out(void **state) /* F75; D12 */
{
    struct stage stage;
    struct error error;
    (void)state;
    stage_open(&stage, TOO_LONG DONE, NULL);
    struct item *items[] = {item_call("a", "look", "{}", 2, true), result_with_files("a")};
    if (!worker_set_history(stage.worker, items, 2, &error))
        fail_msg("%s", error.message);
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    const struct item *result = worker_history(stage.worker)->items[1];
    assert_int_equal(result->attachment_count, 0);
    assert_string_equal(result->text.data,
                        "Look.\n[mortise: left out here: image/png, 60.0 kB, 'plot.png']"
                        "\n[mortise: left out here: image/jpeg, https://example.org/a.jpg]");
    stage_close(&stage);
}

/* ---- a journal ---- */

static struct {
    size_t items; /* of the last replace; 0: there was none */
    bool refuses;
} book;

static bool append(void *self, const struct item *item, struct error *error)
{
    (void)self;
    (void)item;
    (void)error;
    return true;
}

static bool call_started(void *self, const char *call_id, struct error *error)
{
    (void)self;
    (void)call_id;
    (void)error;
    return true;
}

static bool replace(void *self, struct item *const *items, size_t count, struct error *error)
{
    (void)self;
    (void)items;
    book.items = count;
    return !book.refuses || error_set(error, ERROR_INTERNAL, "the disk is full");
}

static void what_was_shortened_is_written_down(void **state) /* FAULTS 45; D25 */
{
    static const struct journal journal = {append, call_started, replace, NULL};
    struct stage stage;
    (void)state;
    for (int refuses = 0; refuses < 2; refuses++) {
        book.items = 0;
        book.refuses = refuses;
        open_long(&stage, TOO_LONG DONE, NULL);
        stage.options.journal = &journal;
        stage_renew(&stage);
        enum worker_status status = stage_run(&stage, "Go");
        assert_int_equal(book.items, 5);
        assert_int_equal(status, refuses ? WORKER_FAILED : WORKER_FINISHED);
        if (refuses)
            assert_string_equal(stage.result.error.message, "the disk is full");
        assert_int_equal(length_of(&stage, 4) > LONG, refuses);
        stage_close(&stage);
    }
}

/* ---- calls that are written as text ---- */

static void a_call_that_is_text_is_told_apart(void **state) /* FAULTS 88 */
{
    (void)state;
    static struct tool_definition list[] = {{"get_weather", "", "{}"}, {"add", "", "{}"}};
    const struct toolset tools = {.items = list, .count = 2};
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}", "get_weather"},
        {"  ```json\n[{\"name\": \"add\", \"parameters\": {}}]\n```", "add"},
        {"I look.\n<tool_call>\n{\"name\": \"get_weather\"}\n</tool_call>", "get_weather"},
        {"<function=add>{\"a\": 1}</function>", "add"},
        {"[TOOL_CALLS][{\"name\": \"add\"}]", "add"},
        {"<|python_tag|>get_weather.call(city=\"Oslo\")", "get_weather"},
        {"<\xEF\xBD\x9Ctool\xE2\x96\x81"
         "calls\xE2\x96\x81"
         "begin\xEF\xBD\x9C>add",
         "add"},
        {"<|channel|>commentary to=functions.get_weather <|message|>{}", "get_weather"},
        {"{\"name\": \"Ada\", \"arguments\": \"none\"}", NULL}, /* no tool of that name */
        {"{\"name\": \"add\"}", NULL},
        {"You can call get_weather with the arguments \"city\".", NULL},
        {"<tool_call> is how it begins.", NULL},
        {"<tool_call>get_weather2</tool_call>", NULL},
        {"", NULL},
        {"```", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *name = written_call(&tools, cases[i].text, strlen(cases[i].text));
        if (cases[i].name ? !name || strcmp(name, cases[i].name) != 0 : name != NULL)
            fail_msg("%s in '%s'", name ? name : "nothing", cases[i].text);
    }
}

static void note_status(void *self, const struct event *event)
{
    struct text *said = self;
    text_append(said, event->as.status.text.data, event->as.status.text.length);
}

static void the_user_is_told_of_a_call_that_is_text(void **state) /* FAULTS 88 */
{
    struct stage stage;
    struct text said = TEXT_INIT;
    (void)state;
    stage_open(&stage, "{\"text\":\"<tool_call>{\\\"name\\\": \\\"echo\\\"}</tool_call>\"}", NULL);
    assert_true(
        timeline_add(worker_timeline(stage.worker), EVENT_BIT(EVENT_STATUS), note_status, &said));
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 0);
    assert_contains(text_cstr(&said), "wrote a call of 'echo' as text, so it was not run");
    text_release(&said);
    stage_close(&stage);
}

/* ---- what a program adds by hand ---- */

static void an_item_that_belongs_to_nothing_is_refused(void **state) /* FAULTS 120 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    (void)state;
    stage_open(&stage, DONE, NULL);
    struct worker *worker = stage.worker;
    assert_false(worker_push_item(worker, item_output("a", "x", 1, false), &error));
    assert_string_equal(error.message, "result 'a' has no call before it");
    assert_true(worker_push_item(worker, item_call("a", "echo", "{}", 2, true), &error));
    assert_false(worker_push_item(worker, item_call("a", "echo", "{}", 2, true), &error));
    assert_string_equal(error.message, "there is a call 'a' already");
    assert_true(worker_push_item(worker, item_output("a", "x", 1, false), &error));
    assert_false(worker_push_item(worker, item_output("a", "x", 1, false), &error));
    assert_string_equal(error.message, "call 'a' has a result already");
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    stage_close(&stage);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_result_is_shortened_and_stays_so),
        cmocka_unit_test(the_second_time_it_is_an_error),
        cmocka_unit_test(another_error_is_not_talked_over),
        cmocka_unit_test(what_cannot_be_shortened_is_not_sent_again),
        cmocka_unit_test(what_was_shown_is_not_made_again),
        cmocka_unit_test(what_is_locked_stays),
        cmocka_unit_test(a_shorter_answer_is_asked_for),
        cmocka_unit_test(what_a_hook_wrote_is_shortened_in_its_request_alone),
        cmocka_unit_test(files_are_named_where_they_are_left_out),
        cmocka_unit_test(what_was_shortened_is_written_down),
        cmocka_unit_test(a_call_that_is_text_is_told_apart),
        cmocka_unit_test(the_user_is_told_of_a_call_that_is_text),
        cmocka_unit_test(an_item_that_belongs_to_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
