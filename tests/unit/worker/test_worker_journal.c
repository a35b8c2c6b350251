/* What is written down, when, and what a later process makes of it (D6, D25). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "stage.h"

static void assert_contains(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text ? text : "(nothing)");
}

#define CALL(id, name) "{\"id\":\"" id "\",\"name\":\"" name "\",\"arguments\":{\"n\":1}}"

/* A journal that keeps one word per entry and refuses the one that a test names. */
static struct {
    const struct stage *stage;
    struct text words;
    const char *refused;
} book;

static bool note(const char *word, struct error *error)
{
    if (book.refused && strcmp(book.refused, word) == 0)
        return error_set(error, ERROR_CONFIG, "the disk is full");
    text_printf(&book.words, "%s ", word);
    return true;
}

static bool append(void *self, const struct item *item, struct error *error)
{
    static const char *const kinds[] = {"message", "call", "output", "reasoning"};
    const struct history *history = worker_history(book.stage->worker);
    (void)self;
    for (size_t i = 0; i < history->count; i++)
        assert_ptr_not_equal(history->items[i], item); /* first on disk, then in history */
    return note(kinds[item->kind], error);
}

static bool call_started(void *self, const char *call_id, struct error *error)
{
    (void)self;
    char word[64];
    snprintf(word, sizeof(word), "start:%s:%u", call_id, book.stage->calls);
    return note(word, error);
}

static bool replace(void *self, struct item *const *items, size_t count, struct error *error)
{
    (void)self;
    (void)items;
    return note(count ? "replaced" : "cleared", error);
}

static const struct journal journal = {append, call_started, replace, NULL};

static void open_journal(struct stage *stage, const char *turns)
{
    stage_open(stage, turns, NULL);
    stage->options.journal = &journal;
    text_reset(&book.words);
    book.stage = stage;
    book.refused = NULL;
    stage_renew(stage);
}

static void close_journal(struct stage *stage)
{
    stage_close(stage);
    text_release(&book.words);
}

static void everything_is_written_before_it_counts(void **state) /* D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"calls\":[" CALL("a", "echo") "," CALL("b", "echo") "]},{\"text\":\"ok\"}");
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_string_equal(text_cstr(&book.words),
                        "message call call start:a:0 start:b:1 output output message ");
    assert_true(worker_clear_history(stage.worker, NULL));
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, "x", 1);
    assert_true(worker_set_history(stage.worker, &item, 1, NULL));
    assert_contains(text_cstr(&book.words), "message cleared replaced ");
    close_journal(&stage);
}

static void what_cannot_be_written_ends_the_run(void **state) /* D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"calls\":[" CALL("a", "echo") "]},{\"text\":\"ok\"}");
    book.refused = "message";
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_contains(stage.result.error.message, "the disk is full");
    assert_int_equal(stage_item_count(&stage), 0);
    close_journal(&stage);
}

static void a_call_that_cannot_be_noted_is_not_run(void **state) /* D4, D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"calls\":[" CALL("a", "echo") "," CALL("b", "echo") "]},{\"text\":\"ok\"}");
    book.refused = "start:a:0";
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FAILED);
    assert_int_equal(stage.result.error.kind, ERROR_INTERNAL);
    assert_contains(stage.result.error.message, "the disk is full");
    assert_int_equal(stage.calls, 0);
    assert_int_equal(stage_item_count(&stage), 5); /* each call has its result all the same */
    assert_contains(stage_item(&stage, 3), "not run");
    assert_contains(stage_item(&stage, 4), "before it ran");
    close_journal(&stage);
}

static void a_refused_replacement_changes_nothing(void **state) /* W106 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    (void)state;
    open_journal(&stage, "{\"text\":\"ok\"}");
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    book.refused = "cleared";
    assert_false(worker_clear_history(stage.worker, &error));
    assert_int_equal(stage_item_count(&stage), 2);
    close_journal(&stage);
}

/* ---- an earlier process ---- */

static void restore(struct stage *stage, const char *name, const char *started)
{
    struct item *items[] = {item_message(ROLE_USER, PART_INPUT_TEXT, "Go", 2),
                            item_call("a", name, "{}", 2, true),
                            item_call("b", name, "{}", 2, true)};
    struct error error = ERROR_INIT;
    if (!worker_restore(stage->worker, items, 3, &started, started ? 1 : 0, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < 3; i++)
        item_unref(items[i]);
}

static void calls_that_never_started_are_run(void **state) /* W20, W56, D6, D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"text\":\"ok\"}");
    restore(&stage, "echo", NULL);
    assert_string_equal(text_cstr(&book.words), ""); /* it is on disk already */
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    assert_int_equal(stage.calls, 2);
    assert_int_equal(stage_item_count(&stage), 6);
    assert_contains(stage_item(&stage, 3), "\"call_id\":\"a\"");
    close_journal(&stage);
}

static void a_call_that_had_started_is_not_run_again(void **state) /* W58, D6, D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"text\":\"ok\"}");
    restore(&stage, "echo", "a");
    assert_int_equal(stage_run(&stage, "And?"), WORKER_FINISHED);
    assert_int_equal(stage.calls, 1);
    assert_contains(stage_item(&stage, 3), "outcome unknown: the host stopped while it ran");
    assert_contains(stage_item(&stage, 3), "\"is_error\":true");
    assert_contains(stage_item(&stage, 4), "\"call_id\":\"b\"");
    assert_contains(stage_item(&stage, 5), "And?");
    close_journal(&stage);
}

static void unless_its_tool_only_looks(void **state) /* D25 */
{
    struct stage stage;
    (void)state;
    open_journal(&stage, "{\"text\":\"ok\"}");
    restore(&stage, "look", "a");
    assert_int_equal(stage_resume(&stage), WORKER_FINISHED);
    assert_int_equal(stage.calls, 2);
    close_journal(&stage);
}

static void nothing_is_restored_into_a_conversation(void **state) /* D25 */
{
    struct stage stage;
    struct error error = ERROR_INIT;
    (void)state;
    open_journal(&stage, "{\"text\":\"ok\"}");
    assert_int_equal(stage_run(&stage, "Go"), WORKER_FINISHED);
    assert_false(worker_restore(stage.worker, NULL, 0, NULL, 0, &error));
    assert_int_equal(error.kind, ERROR_USAGE);
    close_journal(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_written_before_it_counts),
        cmocka_unit_test(what_cannot_be_written_ends_the_run),
        cmocka_unit_test(a_call_that_cannot_be_noted_is_not_run),
        cmocka_unit_test(a_refused_replacement_changes_nothing),
        cmocka_unit_test(calls_that_never_started_are_run),
        cmocka_unit_test(a_call_that_had_started_is_not_run_again),
        cmocka_unit_test(unless_its_tool_only_looks),
        cmocka_unit_test(nothing_is_restored_into_a_conversation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
