/* What was damaged becomes what history can hold, in both directions (FAULTS 119 to 121, 139). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "conversation/history.h"
#include "conversation/repair.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ORIGINS      4

static struct origin *origins[ORIGINS];

static int make_origins(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    for (int i = 0; i < ORIGINS; i++)
        origins[i] = origin_new("test", "model");
    return 0;
}

static int release_origins(void **state)
{
    (void)state;
    for (int i = 0; i < ORIGINS; i++)
        origin_unref(origins[i]);
    return 0;
}

/* "c1" is a call of response 0, "c1.2" one of response 2, "o1" its result, "x1" the result that
 * says that it was lost, "u" a user's message, "a" an answer. */
static struct item *item_of(const char *word)
{
    char id[8] = "";
    size_t length = strcspn(word, ".");
    memcpy(id, word + 1, length - 1);
    if (*word == 'c') {
        struct item *call = item_call(id, "tool", "{}", 2, true);
        if (call)
            call->origin = origin_ref(origins[word[length] ? word[length + 1] - '0' : 0]);
        return call;
    }
    if (*word == 'o')
        return item_output(id, "done", 4, false);
    return item_message(*word == 'u' ? ROLE_USER : ROLE_ASSISTANT, PART_INPUT_TEXT, "hi", 2);
}

static struct item_run run_of(const char *words)
{
    struct item_run run = {0};
    assert_true(array_reserve(&run, 64));
    while (*words) {
        char word[8] = "";
        size_t length = strcspn(words, " ");
        memcpy(word, words, length);
        run.items[run.count] = item_of(word);
        assert_non_null(run.items[run.count++]);
        words += length + (words[length] == ' ');
    }
    return run;
}

static void release(struct item_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        item_unref(run->items[i]);
    free(run->items);
}

static void words_of(const struct item_run *run, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < run->count; i++) {
        const struct item *item = run->items[i];
        char kind = item->kind == ITEM_CALL     ? 'c'
                    : item->kind == ITEM_OUTPUT ? (item->is_error ? 'x' : 'o')
                    : item->role == ROLE_USER   ? 'u'
                                                : 'a';
        used += (size_t)snprintf(out + used, size - used, "%s%c%s", i ? " " : "", kind,
                                 item->call_id ? item->call_id : "");
    }
}

static void test_every_kind_of_damage(void **state)
{
    (void)state;
    static const struct {
        const char *damaged, *repaired;
        size_t dropped;
    } cases[] = {
        /* nothing to do */
        {"", "", 0},
        {"u c1 c2 o1 o2 a u", "u c1 c2 o1 o2 a u", 0},
        {"u c1 o1 c2.1 o2 a", "u c1 o1 c2 o2 a", 0},
        /* calls that were not answered yet stay open */
        {"u c1 c2", "u c1 c2", 0},
        {"u c1 c2 o1", "u c1 c2 o1", 0},
        {"u c1 o1 a u a c2.1", "u c1 o1 a u a c2", 0},
        /* a call whose result is gone */
        {"u c1 a", "u c1 x1 a", 0},
        {"u c1 u", "u c1 x1 u", 0},
        {"u c1 c2 o2", "u c1 c2 o2 x1", 0},
        {"u c1 c2 a", "u c1 c2 x1 x2 a", 0},
        {"u c1 c2.1 o2", "u c1 x1 c2 o2", 0},
        {"u c1 c2 o1 c3.1", "u c1 c2 o1 x2 c3", 0},
        {"u c1 c2.1", "u c1 x1 c2", 0},
        {"c1 a c2.1 a c3.2", "c1 x1 a c2 x2 a c3", 0},
        /* a result whose call is gone */
        {"u o1 a", "u a", 1},
        {"o1", "", 1},
        {"u c1 o1 o2 a", "u c1 o1 a", 1},
        /* in another order */
        {"u o1 c1 a", "u c1 x1 a", 1},
        {"u o1 c1", "u c1", 1},
        {"c1 u o1 a", "c1 u o1 a", 0}, /* the writers put it behind its call */
        /* twice */
        {"u c1 o1 o1 a", "u c1 o1 a", 1},
        {"u c1 c1 o1 a", "u c1 o1 a", 1},
        {"u c1 o1 a c1.1 o1 a", "u c1 o1 a a", 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct item_run run = run_of(cases[i].damaged);
        char words[256];
        size_t dropped = 99;
        assert_true(items_repair(&run, &dropped, NULL));
        words_of(&run, words, sizeof(words));
        assert_string_equal(words, cases[i].repaired);
        assert_int_equal(dropped, cases[i].dropped);
        release(&run);
    }
}

static void test_the_model_is_told(void **state)
{
    (void)state;
    size_t dropped;
    struct item_run run = run_of("c1 a");
    assert_true(items_repair(&run, &dropped, NULL));
    assert_true(run.items[1]->is_error);
    assert_string_equal(run.items[1]->text.data,
                        "the result of this call was lost; it was not run again");
    release(&run);
}

/* ---- damage by chance ---- */

static unsigned dice(unsigned sides)
{
    static uint64_t seed = 1;
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % sides;
}

static void remove_at(struct item_run *run, size_t index)
{
    item_unref(run->items[index]);
    run->count--;
    memmove(&run->items[index], &run->items[index + 1], (run->count - index) * sizeof(*run->items));
}

static void damage(struct item_run *run)
{
    for (unsigned i = dice(6); i-- > 0 && run->count;) {
        size_t one = dice((unsigned)run->count), other = dice((unsigned)run->count);
        struct item *item = run->items[one];
        switch (dice(3)) {
        case 0:
            remove_at(run, one);
            break;
        case 1:
            run->items[one] = run->items[other];
            run->items[other] = item;
            break;
        default:
            run->items[run->count++] = item_ref(item);
        }
    }
}

/* It can be held, nothing of it is out of order, and only the last calls are open. */
static void check_repaired(const struct item_run *run)
{
    struct history history;
    bool is_open = false;
    history_init(&history);
    for (size_t i = 0; i < run->count; i++)
        assert_true(history_append(&history, item_ref(run->items[i]), NULL));
    for (size_t i = 0; i < run->count; i++) {
        const struct item *item = run->items[i];
        bool is_call = item->kind == ITEM_CALL;
        if (is_open)
            assert_true(is_call || item->kind == ITEM_OUTPUT);
        is_open |= is_call && !history_is_answered(&history, item->call_id);
        assert_true(!is_call || !is_open || !history_is_answered(&history, item->call_id));
    }
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i]->kind == ITEM_CALL &&
            !history_is_answered(&history, run->items[i]->call_id))
            assert_true(history_append(&history,
                                       item_output(run->items[i]->call_id, "now", 3, false), NULL));
    struct error error = ERROR_INIT;
    if (!history_check(history.items, history.count, &error))
        fail_msg("%s", error.message);
    assert_true(history_is_paired(&history));
    history_release(&history);
}

static void test_any_damage(void **state)
{
    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct item_run run =
            run_of("u a c1 c2 o1 o2 a u c3.1 o3 c4.2 c5.2 c6.2 o4 o5 o6 a u c7.3 c8.3");
        char once[512], twice[512];
        size_t dropped;
        damage(&run);
        assert_true(items_repair(&run, &dropped, NULL));
        words_of(&run, once, sizeof(once));
        check_repaired(&run);
        assert_true(items_repair(&run, &dropped, NULL));
        words_of(&run, twice, sizeof(twice));
        assert_string_equal(twice, once);
        assert_int_equal(dropped, 0);
        release(&run);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct item_run run = run_of("u c1 a o9 c2 c2 a");
        struct error error = ERROR_INIT;
        size_t dropped;
        fail_after(allowed);
        bool ok = items_repair(&run, &dropped, &error);
        failed = fail_never();
        assert_int_equal(ok, !failed);
        assert_int_equal(error.kind, failed ? ERROR_INTERNAL : ERROR_NONE);
        release(&run);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_damage),
        cmocka_unit_test(test_the_model_is_told),
        cmocka_unit_test(test_any_damage),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_origins, release_origins);
}
