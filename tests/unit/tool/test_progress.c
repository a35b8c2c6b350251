/* What a tool says while it runs: F38-F49. */
#include "fake.h"

#include <math.h>
#include <pthread.h>

#define NOTICE "[mortise: tool progress truncated]"
#define ANY    .input_schema = "{\"type\":\"object\"}"

/* What came, oldest first. */
static struct {
    char stream[64];
    char *text;
    size_t length;
    double done, total;
    bool numeric, notice;
} seen[600];
static size_t seen_count;
static size_t room = SIZE_MAX; /* then send_progress() has none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool watch(void *self, struct call *call, const struct progress *progress)
{
    (void)self, (void)call;
    pthread_mutex_lock(&lock);
    bool fits = progress->notice || seen_count < room;
    if (fits) {
        assert_true(seen_count < sizeof(seen) / sizeof(seen[0]));
        snprintf(seen[seen_count].stream, 64, "%s", progress->stream ? progress->stream : "");
        seen[seen_count].text = malloc(progress->text.length + 1);
        memcpy(seen[seen_count].text, progress->text.data, progress->text.length);
        seen[seen_count].text[progress->text.length] = '\0';
        seen[seen_count].length = progress->text.length;
        seen[seen_count].done = progress->done;
        seen[seen_count].total = progress->total;
        seen[seen_count].numeric = !progress->stream;
        seen[seen_count++].notice = progress->notice;
    }
    pthread_mutex_unlock(&lock);
    return fits;
}

static size_t notices(void)
{
    size_t count = 0;
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].notice) {
            assert_string_equal(seen[i].text, NOTICE);
            count++;
        }
    return count;
}

static void forget(void)
{
    while (seen_count)
        free(seen[--seen_count].text);
}

/* Runs a tool with a watcher; what it said is in `seen`. */
static void run(mortise_status (*function)(const mortise_tool *, mortise_call *, const void *))
{
    const mortise_tool_meta meta = {
        .size = sizeof(meta), .name = "talker", .input_schema = "{\"type\":\"object\"}"};
    const mortise_tool tool = {.size = sizeof(tool), .meta = &meta, .run = function};
    const mortise_tool *const tools[] = {&tool, NULL};
    const struct call_watcher watcher = {.progress = watch};
    struct registry *registry = fake_registry(tools, NULL);
    struct call *call =
        call_new(registry, registry_tool(registry, 0), "c", "{}", 2, NULL, NULL, -1, &watcher);
    struct tool_result result;
    forget();
    call_run(call);
    call_take_result(call, &result);
    assert_string_equal(result.text.data, "result");
    tool_result_release(&result);
    call_unref(call);
    registry_unref(registry);
}

static mortise_status talk(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    call->ops->emit(call, "stdout", "hello\n", 6);
    call->ops->emit(call, NULL, "x", 1);
    call->ops->emit(call, "my label", "a\xFF\0b", 4);
    call->ops->emit(call, "stdout", "", 0);
    call->ops->emit(call, "stdout", NULL, 0);
    call->ops->progress(call, 1, 4, NULL);
    call->ops->progress(call, NAN, INFINITY, "caf\xE9");
    return fake_reply(call, "result");
}

static void test_what_is_said(void **state)
{
    (void)state;
    run(talk);
    assert_int_equal(seen_count, 5);
    assert_string_equal(seen[0].stream, "stdout");
    assert_string_equal(seen[0].text, "hello\n");
    assert_string_equal(seen[1].stream, "stdout");
    assert_string_equal(seen[2].stream, "my label");
    assert_string_equal(seen[2].text, "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                      "b");
    assert_true(seen[3].numeric && seen[3].done == 1 && seen[3].total == 4);
    assert_true(seen[4].numeric && seen[4].done == 0 && seen[4].total == 0);
    assert_string_equal(seen[4].text, "caf\xEF\xBF\xBD");
    assert_int_equal(notices(), 0);
}

/* ---- F45: 8192 bytes, on the border of a character ---- */

static const char *character;
static size_t chunk_length;

static void fill(char *chunk, size_t length)
{
    size_t width = strlen(character);
    memset(chunk, 'a', length % width);
    for (size_t i = length % width; i < length; i += width)
        memcpy(chunk + i, character, width);
}

static mortise_status emit_one(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    char chunk[10000];
    fill(chunk, chunk_length);
    call->ops->emit(call, "stdout", chunk, chunk_length);
    call->ops->emit(call, "stdout", "still passes", 12);
    return fake_reply(call, "result");
}

static void test_long_chunks_are_cut(void **state)
{
    (void)state;
    static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < 4; i++) {
        for (chunk_length = 8185; chunk_length <= 8200; chunk_length++) {
            character = characters[i];
            size_t width = strlen(character);
            size_t over = chunk_length <= 8192 ? 0 : (chunk_length - 8192 + width - 1) / width;
            run(emit_one);
            assert_int_equal(seen[0].length, chunk_length - over * width);
            assert_true(seen[0].length <= 8192 && seen[0].length > 8192 - 8);
            assert_int_equal(notices(), over > 0);
            assert_int_equal(seen_count, 2 + (over > 0));
            assert_string_equal(seen[seen_count - 1].text, "still passes");
        }
    }
}

/* ---- F46: 1 MiB per call ---- */

static mortise_status emit_megabytes(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    char chunk[8000];
    memset(chunk, 'x', sizeof(chunk));
    for (int i = 0; i < 300; i++)
        call->ops->emit(call, "stderr", chunk, sizeof(chunk));
    call->ops->emit(call, "stderr", "small", 5); /* 1048576 % 8000 is left: it fits */
    return fake_reply(call, "result");
}

static void test_a_call_has_a_megabyte(void **state)
{
    (void)state;
    run(emit_megabytes);
    assert_int_equal(seen_count, 131 + 1 + 1);
    assert_int_equal(notices(), 1);
    assert_true(seen[131].notice);
    assert_string_equal(seen[131].stream, "stderr");
    assert_string_equal(seen[132].text, "small");
}

/* ---- F47: one notice, whatever was lost ---- */

static mortise_status emit_many(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    for (int i = 0; i < 10; i++)
        call->ops->emit(call, "stdout", "x", 1);
    call->ops->progress(call, 1, 2, NULL);
    return fake_reply(call, "result");
}

static void test_a_full_queue_is_noticed_once(void **state)
{
    (void)state;
    room = 3;
    run(emit_many);
    room = SIZE_MAX;
    assert_int_equal(seen_count, 4);
    assert_int_equal(notices(), 1);
}

/* ---- threads, and nobody who watches ---- */

static void *emit_from_thread(void *argument)
{
    mortise_call *call = argument;
    char chunk[9000];
    memset(chunk, 'x', sizeof(chunk));
    for (int i = 0; i < 50; i++)
        call->ops->emit(call, "stdout", chunk, sizeof(chunk));
    return NULL;
}

static mortise_status emit_from_threads(const mortise_tool *self, mortise_call *call,
                                        const void *args)
{
    (void)self, (void)args;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, emit_from_thread, call);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return fake_reply(call, "result");
}

static void test_threads_share_a_budget_and_a_notice(void **state)
{
    (void)state;
    run(emit_from_threads);
    assert_int_equal(notices(), 1);
    assert_int_equal(seen_count, 128 + 1);
}

static mortise_status unwatched(const mortise_tool *self, mortise_call *call, const void *args)
{
    emit_many(self, call, args);
    return talk(self, call, args);
}
FAKE_TOOL(unwatched, 0, ANY);

static void test_without_a_watcher(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&unwatched_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    forget();
    assert_answer(registry, "unwatched", "{}", "result"); /* F42 */
    assert_int_equal(seen_count, 0);
    registry_unref(registry);
}

static int forget_all(void **state)
{
    (void)state;
    forget();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_said),
        cmocka_unit_test(test_long_chunks_are_cut),
        cmocka_unit_test(test_a_call_has_a_megabyte),
        cmocka_unit_test(test_a_full_queue_is_noticed_once),
        cmocka_unit_test(test_threads_share_a_budget_and_a_notice),
        cmocka_unit_test(test_without_a_watcher),
    };
    return cmocka_run_group_tests(tests, NULL, forget_all);
}
