#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "conversation/history.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "c1" is a call, "o1" its result, "u" a user's message. */
static struct item *item_of(const char *word)
{
    if (*word == 'c')
        return item_call(word + 1, "tool", "{}", 2, true);
    if (*word == 'o')
        return item_output(word + 1, "done", 4, false);
    return item_message(ROLE_USER, PART_INPUT_TEXT, "hi", 2);
}

/* Items from words like "u c1 o1". */
static void fill(struct history *history, const char *words)
{
    history_init(history);
    while (*words) {
        char word[8] = "";
        size_t length = strcspn(words, " ");
        memcpy(word, words, length);
        assert_true(history_append(history, item_of(word), NULL));
        words += length + (words[length] == ' ');
    }
}

static void test_appends_in_order(void **state)
{
    (void)state;
    struct history history;
    fill(&history, "u c1 o1 u");
    assert_int_equal(history.count, 4);
    assert_int_equal(history.items[1]->kind, ITEM_CALL);
    assert_int_equal(history.items[2]->kind, ITEM_OUTPUT);
    history_release(&history);
    assert_int_equal(history.count, 0);
}

static void test_append_takes_a_failed_constructor(void **state)
{
    (void)state;
    struct history history;
    struct error error = ERROR_INIT;
    history_init(&history);
    assert_false(history_append(&history, NULL, &error));
    assert_int_equal(error.kind, ERROR_INTERNAL);
    history_release(&history);
}

/* D14: a call id is known for the whole session. */
static void test_knows_call_ids(void **state)
{
    (void)state;
    struct history history;
    history_init(&history);
    assert_false(history_has_call(&history, "7"));
    for (int i = 0; i < 500; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        assert_true(history_append(&history, item_call(id, "n", "{}", 2, true), NULL));
    }
    assert_true(history_append(&history, item_output("x", "", 0, false), NULL));
    assert_true(history_has_call(&history, "7"));
    assert_true(history_has_call(&history, "499"));
    assert_false(history_has_call(&history, "500"));
    assert_false(history_has_call(&history, "x"));
    history_release(&history);
}

/* W20, D6 */
static void test_finds_the_first_unanswered_call(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        size_t index;
    } cases[] = {{"", 0},         {"u", 1},          {"u c1", 1},        {"u c1 o1", 3},
                 {"c1 c2 o2", 0}, {"c1 c2 o1 u", 1}, {"c1 o1 c2 o2", 4}, {"o1 c1", 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct history history;
        fill(&history, cases[i].words);
        assert_int_equal(history_first_unanswered(&history), cases[i].index);
        history_release(&history);
    }
}

/* D1, D4: what goes on the wire has one result per call. */
static void test_checks_pairs(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", NULL},
        {"u", NULL},
        {"u c1 o1 u", NULL},
        {"c1 c2 o2 o1", NULL},
        {"c1", "call '1' has no result"},
        {"c1 c2 o1", "call '2' has no result"},
        {"o1", "result '1' has no call before it"},
        {"o1 c1", "result '1' has no call before it"},
        {"c1 o1 o1", "call '1' has two results"},
        {"c1 o1 c1 o1", "call id '1' is used by two calls"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct history history;
        struct error error = ERROR_INIT;
        fill(&history, cases[i][0]);
        bool whole = history_check(history.items, history.count, &error);
        assert_int_equal(whole, cases[i][1] == NULL);
        assert_int_equal(history_is_paired(&history), whole); /* known without a look */
        if (!whole) {
            assert_int_equal(error.kind, ERROR_INTERNAL);
            assert_string_equal(error.message, cases[i][1]);
        }
        history_release(&history);
    }
}

static bool refuse(void *self, const struct item *item, struct error *error)
{
    ++*(int *)self;
    assert_int_equal(item->kind, ITEM_CALL);
    return error_set(error, ERROR_CONFIG, "the disk is full");
}

/* D25: what is not written down does not enter. */
static void test_a_journal_can_refuse(void **state)
{
    (void)state;
    int asked = 0;
    const struct journal journal = {.append = refuse, .self = &asked};
    struct history history;
    struct error error = ERROR_INIT;
    fill(&history, "u");
    history.journal = &journal;
    assert_false(history_append(&history, item_of("c1"), &error));
    assert_string_equal(error.message, "the disk is full");
    assert_int_equal(asked, 1);
    assert_int_equal(history.count, 1);
    assert_false(history_has_call(&history, "1"));
    assert_true(history_is_paired(&history));
    history.journal = NULL;
    assert_true(history_append(&history, item_of("c1"), &error));
    assert_false(history_is_answered(&history, "1"));
    assert_true(history_append(&history, item_of("o1"), &error));
    assert_true(history_is_answered(&history, "1"));
    history_release(&history);
}

static bool note_replaced(void *self, struct item *const *items, size_t count, struct error *error)
{
    bool *refuses = self;
    assert_int_equal(count, 4);
    assert_string_equal(items[2]->text.data, "short");
    return !*refuses || error_set(error, ERROR_CONFIG, "the disk is full");
}

/* Written down first, and all or nothing. */
static void test_results_are_replaced(void **state)
{
    (void)state;
    bool refuses = true;
    const struct journal journal = {.replace = note_replaced, .self = &refuses};
    struct history history;
    struct error error = ERROR_INIT;
    fill(&history, "u c1 o1 u");
    history.journal = &journal;
    struct item *shorter = item_output("1", "short", 5, false);
    struct item *results[] = {NULL, NULL, shorter, NULL};
    assert_false(history_replace_results(&history, results, &error));
    assert_string_equal(error.message, "the disk is full");
    assert_string_equal(history.items[2]->text.data, "done");
    refuses = false;
    assert_true(history_replace_results(&history, results, &error));
    assert_ptr_equal(history.items[2], shorter);
    assert_true(history_is_paired(&history));
    item_unref(shorter);
    history_release(&history);
}

static bool build_and_check(struct history *history)
{
    bool good = true;
    for (int i = 0; i < 12; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        good = history_append(history, item_call(id, "n", "{}", 2, true), NULL) &&
               history_append(history, item_output(id, "", 0, false), NULL) && good;
    }
    struct error error = ERROR_INIT;
    return history_check(history->items, history->count, &error) && good;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int count = 0;; count++) {
        struct history history;
        history_init(&history);
        fail_after(count);
        bool good = build_and_check(&history);
        bool failed = fail_never();
        assert_int_equal(good, !failed);
        history_release(&history);
        if (!failed)
            break;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appends_in_order),
        cmocka_unit_test(test_append_takes_a_failed_constructor),
        cmocka_unit_test(test_knows_call_ids),
        cmocka_unit_test(test_finds_the_first_unanswered_call),
        cmocka_unit_test(test_checks_pairs),
        cmocka_unit_test(test_a_journal_can_refuse),
        cmocka_unit_test(test_results_are_replaced),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
