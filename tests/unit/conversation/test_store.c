#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conversation/store_journal.h"
#include "conversation/store_transfer.h"
#include "unit/base/failing.h"
#include "unit/conversation/store_fixture.h"

static struct error error = ERROR_INIT;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, error.message);                                              \
    } while (0)

static void assert_loads(struct store *store, const char *id, struct item *const *wanted,
                         size_t count)
{
    struct session_items items;
    assert_ok(store->ops->load(store, id, &items, &error));
    assert_int_equal(items.skipped, 0);
    assert_same_items(items.items, items.count, wanted, count);
    session_items_release(&items);
}

/* Only the user can read it (cli: sessions are 0600), and its folder. */
static void test_files_are_private(void **state)
{
    const struct fixture *fixture = *state;
    struct stat status;
    char folder[128], wal[160];
    fixture_session(fixture->store, "one");
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    snprintf(wal, sizeof(wal), "%s-wal", fixture->path);
    assert_int_equal(stat(wal, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    snprintf(folder, sizeof(folder), "%s/data", fixture->folder);
    assert_int_equal(stat(folder, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void test_nothing_is_made_for_readers(void **state)
{
    const struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/elsewhere/sessions.db", fixture->folder);
    assert_null(store_sqlite_open(path, false, &error));
    assert_int_equal(error.kind, ERROR_NONE);
    assert_int_equal(access(path, F_OK), -1);
}

/* D15, D23: an item that was stored is the same in every byte, its response's own form too. */
static void test_round_trip(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, 1, &error));
    assert_ok(store->ops->append(store, "one", items + 1, 4, &error));
    for (size_t i = 5; i < SAMPLE_COUNT; i++)
        assert_ok(store->ops->append(store, "one", items + i, 1, &error));
    assert_loads(store, "one", items, SAMPLE_COUNT);
    struct session session;
    assert_ok(store->ops->find(store, "one", &session, &error));
    assert_true(session.crashed); /* nobody has said how the run ended */
    session_release(&session);

    struct store *again = fixture_open(fixture);
    assert_loads(again, "one", items, SAMPLE_COUNT);
    store_close(again);
    sample_free(items);
}

/* Items of one response that come one by one share it too. */
static void test_response_over_several_appends(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    sample_make(items);
    fixture_session(store, "one");
    for (size_t i = 0; i < SAMPLE_COUNT; i++)
        assert_ok(store->ops->append(store, "one", items + i, 1, &error));
    assert_loads(store, "one", items, SAMPLE_COUNT);
    sample_free(items);
}

/* A response of which not every item is there does not go back to the letter: its own form
 * would show calls that have no result. */
static void test_part_of_a_response(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    struct session_items loaded;
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, 3, &error));
    assert_ok(store->ops->load(store, "one", &loaded, &error));
    assert_int_equal(loaded.count, 3);
    assert_non_null(loaded.items[2]->origin);
    assert_null(loaded.items[2]->origin->verbatim.data);
    session_items_release(&loaded);
    sample_free(items);
}

static void test_replace(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, 7, &error));
    assert_ok(store->ops->replace(store, "one", items, SAMPLE_COUNT, &error));
    assert_loads(store, "one", items, SAMPLE_COUNT);
    assert_ok(store->ops->replace(store, "one", NULL, 0, &error));
    assert_loads(store, "one", items, 0);
    assert_ok(store->ops->append(store, "one", items, 5, &error));
    assert_loads(store, "one", items, 5);
    sample_free(items);
}

/* D25: what was started and has no result is known after a crash. */
static void test_started_calls(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    struct session_items loaded;
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, 6, &error)); /* call_1 has its result */
    assert_ok(store->ops->call_started(store, "one", "call_1", &error));
    assert_ok(store->ops->call_started(store, "one", "call_2", &error));
    assert_ok(store->ops->call_started(store, "one", "call_2", &error));
    assert_ok(store->ops->load(store, "one", &loaded, &error));
    assert_int_equal(loaded.started_count, 1);
    assert_string_equal(loaded.started[0], "call_2");
    session_items_release(&loaded);
    sample_free(items);
}

static void test_find(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct session session;
    fixture_session(store, "ses_abc");
    fixture_session(store, "ses_abd");
    fixture_session(store, "ses_ab");
    assert_ok(store->ops->find(store, "ses_abc", &session, &error));
    assert_string_equal(session.id, "ses_abc");
    assert_string_equal(session.model, "anthropic/m");
    assert_null(session.system);
    assert_int_equal(session.state, SESSION_IDLE);
    session_release(&session);
    assert_ok(store->ops->find(store, "ses_ab", &session, &error)); /* whole before beginning */
    assert_string_equal(session.id, "ses_ab");
    session_release(&session);
    static const char *const missing[] = {"ses_a", "ses_x", "", "ses%", "ses_abcd"};
    for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
        assert_false(store->ops->find(store, missing[i], &session, &error));
        assert_int_equal(error.kind, ERROR_USAGE);
    }
    assert_false(store->ops->append(store, "ses_x", NULL, 0, &error));
    assert_int_equal(error.kind, ERROR_USAGE);
}

static bool count_sessions(void *data, const struct session *session)
{
    assert_non_null(session->id);
    ++*(size_t *)data;
    return true;
}

static void test_latest_and_list(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct session session;
    bool found;
    size_t count = 0;
    assert_ok(store->ops->latest(store, NULL, false, &session, &found, &error));
    assert_false(found);
    fixture_session(store, "one");
    fixture_session(store, "two");
    assert_ok(store->ops->set_state(store, "one", SESSION_PAUSED, &error));
    assert_ok(store->ops->latest(store, "/work", false, &session, &found, &error));
    assert_true(found);
    assert_string_equal(session.id, "two");
    session_release(&session);
    assert_ok(store->ops->latest(store, "/work", true, &session, &found, &error));
    assert_true(found);
    assert_string_equal(session.id, "one");
    session_release(&session);
    assert_ok(store->ops->latest(store, "/elsewhere", false, &session, &found, &error));
    assert_false(found);
    assert_ok(store->ops->list(store, count_sessions, &count, &error));
    assert_int_equal(count, 2);
    assert_ok(store->ops->remove(store, "one", &error));
    assert_false(store->ops->remove(store, "one", &error));
    count = 0;
    assert_ok(store->ops->list(store, count_sessions, &count, &error));
    assert_int_equal(count, 1);
}

static void test_update(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct session session;
    fixture_session(store, "one");
    assert_ok(store->ops->update(store, "one", "A title", NULL, "Be brief.", &error));
    assert_ok(store->ops->find(store, "one", &session, &error));
    assert_string_equal(session.title, "A title");
    assert_string_equal(session.model, "anthropic/m");
    assert_string_equal(session.system, "Be brief.");
    session_release(&session);
    assert_false(store->ops->update(store, "two", "A title", NULL, NULL, &error));
}

static void test_titles(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Hello", "Hello"},
        {" \n What  is\tthis? \n", "What is this?"},
        {"", ""},
        {"one two three four five six seven eight nine ten eleven twelve thirteen",
         "one two three four five six seven eight nine ten eleven"},
        {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg",
         "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct item *item =
            item_message(ROLE_USER, PART_INPUT_TEXT, cases[i][0], strlen(cases[i][0]));
        char *title = session_title(item);
        assert_string_equal(title, cases[i][1]);
        free(title);
        item_unref(item);
    }
}

/* ---- the journal ---- */

static struct session new_session(const char *id)
{
    return (struct session){.id = strdup(id), .model = strdup("anthropic/m"), .cwd = strdup("/w")};
}

/* A session is there with its first item, and a response is written as one. */
static void test_journal(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    struct store_journal journal;
    struct session session = new_session("one");
    sample_make(items);
    store_journal_init(&journal, store, &session, false);
    assert_ok(store_journal_set_state(&journal, SESSION_RUNNING, &error));
    assert_false(store->ops->find(store, "one", &session, &error));

    for (size_t i = 0; i < 4; i++)
        assert_ok(journal.journal.append(journal.journal.self, items[i], &error));
    assert_loads(store, "one", items, 1);
    assert_ok(journal.journal.append(journal.journal.self, items[4], &error));
    assert_loads(store, "one", items, 5);
    assert_ok(journal.journal.call_started(journal.journal.self, "call_1", &error));
    for (size_t i = 5; i < SAMPLE_COUNT; i++)
        assert_ok(journal.journal.append(journal.journal.self, items[i], &error));
    assert_loads(store, "one", items, SAMPLE_COUNT);

    assert_ok(store->ops->find(store, "one", &session, &error));
    assert_int_equal(session.state, SESSION_RUNNING);
    assert_int_equal(strncmp(session.title, "one two", 7), 0);
    session_release(&session);
    assert_ok(journal.journal.replace(journal.journal.self, items, 2, &error));
    store_journal_release(&journal);
    sample_free(items);
}

/* ---- lines ---- */

static void collect_line(void *data, const char *line, size_t length)
{
    text_append(data, line, length);
}

static bool import_text(struct store *store, const char *lines, size_t length)
{
    char *id = NULL;
    FILE *file = fmemopen((void *)(uintptr_t)lines, length, "r");
    assert_non_null(file);
    bool ok = session_import(store, file, "x.jsonl", &id, &error);
    free(id);
    fclose(file);
    return ok;
}

static void export_sample(struct store *store, struct text *lines)
{
    struct item *items[SAMPLE_COUNT];
    size_t skipped;
    sample_make(items);
    fixture_session(store, "one");
    assert_ok(store->ops->append(store, "one", items, 6, &error));
    assert_ok(store->ops->call_started(store, "one", "call_2", &error));
    sample_free(items);
    assert_ok(session_export(store, "one", collect_line, lines, &skipped, &error));
}

static void test_export_and_import(void **state)
{
    const struct fixture *fixture = *state;
    struct store *store = fixture->store;
    struct item *items[SAMPLE_COUNT];
    struct text lines = TEXT_INIT, again = TEXT_INIT;
    size_t skipped;
    export_sample(store, &lines);
    assert_false(import_text(store, lines.data, lines.length)); /* it is there */
    assert_non_null(strstr(error.message, "'one' is there already"));
    assert_ok(store->ops->remove(store, "one", &error));
    assert_ok(import_text(store, lines.data, lines.length));
    sample_make(items);
    assert_loads(store, "one", items, 6);
    assert_ok(session_export(store, "one", collect_line, &again, &skipped, &error));
    assert_string_equal(text_cstr(&again), text_cstr(&lines));
    sample_free(items);
    text_release(&lines);
    text_release(&again);
}

#define HEADER "{\"mortise_session\":1,\"id\":\"x\",\"state\":\"idle\"}\n"
#define USER   "{\"item\":{\"type\":\"message\",\"role\":\"user\",\"content\":[]}"
#define RESULT "{\"item\":{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"\"}"

static void test_broken_lines(void **state)
{
    const struct fixture *fixture = *state;
    static const struct {
        const char *lines, *part;
    } cases[] = {
        {"\n", "line 1"},
        {"[]\n", "line 1: it is no JSON object"},
        {"{}\n", "line 1: it is no exported session"},
        {"{\"mortise_session\":2}\n", "newer"},
        {"{\"mortise_session\":1,\"id\":\"x\",\"state\":\"odd\"}\n", "'state'"},
        {"{\"mortise_session\":1,\"id\":\"../x\",\"state\":\"idle\"}\n", "'id'"},
        {"{\"mortise_session\":1,\"id\":\"x\",\"state\":\"idle\",\"more\":1}\n", "'more'"},
        {HEADER "{\n", "line 2"},
        {HEADER USER "}\n" USER ",\"more\":1}\n", "line 3: member 'more'"},
        {HEADER USER "}\n\n", "line 3"},
        {HEADER "{\"items\":1}\n", "line 2"},
        {HEADER RESULT "}\n", "line 2: result 'c' has no call"},
        {HEADER USER ",\"same_response\":true}\n", "line 2: 'same_response'"},
        {HEADER USER ",\"response\":{\"provider\":\"p\"}}\n", "line 2: 'response'"},
        {HEADER USER ",\"attachments\":[{\"mime_type\":\"\",\"data\":\"@\"}]}\n", "base64"},
        {HEADER USER ",\"started\":true}\n", "'started' belongs to calls"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_false(import_text(fixture->store, cases[i].lines, strlen(cases[i].lines)));
        if (error.kind != ERROR_USAGE || !strstr(error.message, cases[i].part))
            fail_msg("%s: %s", cases[i].lines, error.message);
        struct session session;
        assert_false(fixture->store->ops->find(fixture->store, "x", &session, &error));
    }
}

/* ---- without memory ---- */

static bool write_and_read(struct fixture *fixture, struct item **items, const struct text *lines)
{
    struct session session = {0};
    struct session_items loaded;
    struct store *store = store_sqlite_open(fixture->path, true, &error);
    if (!store)
        return false;
    bool ok = import_text(store, lines->data, lines->length) &&
              store->ops->append(store, "one", items + 6, 2, &error) &&
              store->ops->find(store, "on", &session, &error) &&
              store->ops->load(store, "one", &loaded, &error);
    if (ok) {
        assert_int_equal(loaded.count, 8);
        session_items_release(&loaded);
    }
    session_release(&session);
    store_close(store);
    return ok;
}

/* Whichever allocation fails: an error that says so, and nothing half. */
static void test_no_memory(void **state)
{
    struct fixture *fixture = *state;
    struct item *items[SAMPLE_COUNT];
    struct text lines = TEXT_INIT;
    bool done = false;
    export_sample(fixture->store, &lines);
    sample_make(items);
    assert_ok(fixture->store->ops->remove(fixture->store, "one", &error));
    for (int n = 0; !done; n++) {
        assert_true(n < 5000);
        error_clear(&error);
        fail_after(n);
        bool ok = write_and_read(fixture, items, &lines);
        bool failed = fail_never();
        done = !failed;
        assert_true(ok || failed);
        if (!ok && !strstr(error.message, "memory"))
            fail_msg("allocation %d: %s", n, error.message);
        struct session session;
        if (fixture->store->ops->find(fixture->store, "one", &session, &error)) {
            assert_true(session.item_count == 6 || session.item_count == 8);
            session_release(&session);
            assert_ok(fixture->store->ops->remove(fixture->store, "one", &error));
        }
    }
    sample_free(items);
    text_release(&lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_are_private),
        TEST(test_nothing_is_made_for_readers),
        TEST(test_round_trip),
        TEST(test_response_over_several_appends),
        TEST(test_part_of_a_response),
        TEST(test_replace),
        TEST(test_started_calls),
        TEST(test_find),
        TEST(test_latest_and_list),
        TEST(test_update),
        cmocka_unit_test(test_titles),
        TEST(test_journal),
        TEST(test_export_and_import),
        TEST(test_broken_lines),
        TEST(test_no_memory),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
