/* client_complete() with a client that fails as it is told (D11). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "provider/provider.h"

enum act { ACT_FAIL, ACT_USAGE_AND_FAIL, ACT_BLOCK_AND_FAIL, ACT_ANSWER };

struct fake {
    struct client client;
    const enum act *acts; /* one per attempt; the last one repeats */
    size_t act_count;
    struct error error;
    unsigned hinted_attempts; /* so many of the first ones say retry_after_ms */
    unsigned attempts;
    bool is_freed;
};

static void fail_attempt(const struct fake *fake, struct stream *stream)
{
    struct error error = fake->error;
    if (fake->attempts > fake->hinted_attempts)
        error.retry_after_ms = -1;
    stream_fail(stream, &error);
}

static void fake_attempt(struct client *client, const struct request *request,
                         struct stream *stream, struct cancel *cancel, int64_t deadline_ms)
{
    struct fake *fake = (struct fake *)client;
    (void)request;
    (void)cancel;
    (void)deadline_ms;
    size_t index = fake->attempts++;
    enum act act = fake->acts[index < fake->act_count ? index : fake->act_count - 1];
    if (act == ACT_USAGE_AND_FAIL)
        stream_usage(stream, &(struct usage){.input_tokens = 7});
    if (act == ACT_BLOCK_AND_FAIL || act == ACT_ANSWER)
        stream_delta(stream, stream_open(stream, BLOCK_TEXT, NULL, NULL), "hi", 2, false);
    if (act == ACT_ANSWER)
        stream_stop(stream, STOP_END);
    else
        fail_attempt(fake, stream);
    stream_finish(stream);
}

static void fake_free(struct client *client)
{
    ((struct fake *)client)->is_freed = true;
}

static const struct client_ops fake_ops = {.attempt = fake_attempt, .free = fake_free};

/* What a front end would see of it. */
struct seen {
    unsigned retries;
    unsigned resets;
    unsigned attempt;
    int64_t wait_ms;
    enum error_kind reason;
    bool reset_before_retry;
    struct cancel *cancel; /* triggered after this attempt */
    unsigned cancel_at;
};

struct scene {
    struct fake fake;
    struct seen seen;
    struct timeline timeline;
    struct stream stream;
    struct cancel *cancel;
};

static void on_event(void *self, const struct event *event)
{
    struct seen *seen = self;
    if (event->kind == EVENT_RESET) {
        seen->resets++;
        seen->reset_before_retry = seen->retries < seen->resets;
        return;
    }
    seen->retries++;
    seen->attempt = event->as.retry.attempt;
    seen->wait_ms = event->as.retry.wait_ms;
    seen->reason = event->as.retry.reason->kind;
    if (seen->attempt == seen->cancel_at)
        cancel_trigger(seen->cancel);
}

static int set_up(void **state)
{
    static const enum act always[] = {ACT_FAIL};
    struct scene *scene = calloc(1, sizeof(*scene));
    assert_non_null(scene);
    scene->fake = (struct fake){.client = {.ops = &fake_ops, .max_attempts = 4},
                                .acts = always,
                                .act_count = 1,
                                .hinted_attempts = UINT_MAX};
    error_set(&scene->fake.error, ERROR_OVERLOADED, "too much to do");
    scene->fake.error.retryable = true;
    scene->fake.error.retry_after_ms = 0;
    timeline_init(&scene->timeline);
    assert_true(timeline_add(&scene->timeline, EVENT_BIT(EVENT_RETRY) | EVENT_BIT(EVENT_RESET),
                             on_event, &scene->seen));
    stream_init(&scene->stream, &scene->timeline);
    scene->cancel = cancel_new();
    assert_non_null(scene->cancel);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    cancel_unref(scene->cancel);
    stream_release(&scene->stream);
    timeline_release(&scene->timeline);
    free(scene);
    return 0;
}

static void play(struct scene *scene, const enum act *acts, size_t count)
{
    scene->fake.acts = acts;
    scene->fake.act_count = count;
}

static bool complete(struct scene *scene, int64_t deadline_ms)
{
    static const struct request request;
    return client_complete(&scene->fake.client, &request, &scene->stream, scene->cancel,
                           deadline_ms);
}

/* ---- how often ---- */

static void test_stops_after_the_last_attempt(void **state)
{
    struct scene *scene = *state;
    assert_false(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 4);
    assert_int_equal(scene->seen.retries, 3);
    assert_int_equal(scene->seen.attempt, 3);
    assert_int_equal(scene->seen.reason, ERROR_OVERLOADED);
    assert_int_equal(scene->stream.error.kind, ERROR_OVERLOADED);
    assert_string_equal(scene->stream.error.message, "too much to do");
}

static void test_a_later_attempt_may_succeed(void **state)
{
    static const enum act acts[] = {ACT_FAIL, ACT_FAIL, ACT_ANSWER};
    struct scene *scene = *state;
    play(scene, acts, 3);
    assert_true(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 3);
    assert_int_equal(scene->stream.error.kind, ERROR_NONE);
    assert_int_equal(scene->stream.stop, STOP_END);
}

static void test_one_attempt_when_no_retry_is_wanted(void **state)
{
    struct scene *scene = *state;
    scene->fake.client.max_attempts = 1;
    assert_false(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 1);
    assert_int_equal(scene->seen.retries, 0);
}

static void test_a_final_error_is_not_retried(void **state)
{
    struct scene *scene = *state;
    scene->fake.error.retryable = false;
    assert_false(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 1);
}

static void test_what_was_shown_is_not_made_again(void **state)
{
    static const enum act acts[] = {ACT_BLOCK_AND_FAIL};
    struct scene *scene = *state;
    play(scene, acts, 1);
    assert_false(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 1);
    assert_int_equal(scene->seen.retries, 0);
    assert_true(scene->stream.error.retryable);
}

static void test_reset_only_when_something_was_emitted(void **state)
{
    static const enum act acts[] = {ACT_USAGE_AND_FAIL, ACT_FAIL, ACT_ANSWER};
    struct scene *scene = *state;
    play(scene, acts, 3);
    assert_true(complete(scene, -1));
    assert_int_equal(scene->seen.retries, 2);
    assert_int_equal(scene->seen.resets, 1);
    assert_false(scene->seen.reset_before_retry);
    assert_int_equal(scene->stream.usage.input_tokens, -1);
}

/* ---- how long ---- */

/* How long it would wait after that many attempts: it is cancelled as soon as it says so. */
static int64_t backoff_after(struct scene *scene, unsigned attempts)
{
    cancel_unref(scene->cancel);
    scene->cancel = cancel_new();
    assert_non_null(scene->cancel);
    scene->seen = (struct seen){.cancel = scene->cancel, .cancel_at = attempts};
    scene->fake.attempts = 0;
    scene->fake.client.max_attempts = attempts + 1;
    scene->fake.hinted_attempts = attempts - 1;
    assert_false(complete(scene, -1));
    assert_int_equal(scene->seen.attempt, attempts);
    return scene->seen.wait_ms;
}

/* Full jitter: anything up to a limit that doubles, and not always the same. */
static void test_backoff_is_anything_up_to_its_limit(void **state)
{
    static const int64_t limits_ms[] = {500, 1000, 2000, 4000, 8000, 10000, 10000};
    struct scene *scene = *state;
    for (unsigned i = 0; i < sizeof(limits_ms) / sizeof(limits_ms[0]); i++) {
        int64_t least = INT64_MAX, most = -1;
        for (int round = 0; round < 60; round++) {
            int64_t wait_ms = backoff_after(scene, i + 1);
            least = wait_ms < least ? wait_ms : least;
            most = wait_ms > most ? wait_ms : most;
        }
        assert_in_range(least, 0, limits_ms[i] / 2);
        assert_in_range(most, limits_ms[i] / 2, limits_ms[i]);
    }
}

static void test_the_server_says_how_long(void **state)
{
    static const enum act acts[] = {ACT_FAIL, ACT_ANSWER};
    struct scene *scene = *state;
    play(scene, acts, 2);
    scene->fake.error.retry_after_ms = 120;
    int64_t start = clock_ms();
    assert_true(complete(scene, -1));
    int64_t took_ms = clock_ms() - start;
    assert_int_equal(scene->seen.wait_ms, 120);
    assert_in_range(took_ms, 119, 1000);
}

static void *cancel_soon(void *cancel)
{
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    cancel_trigger(cancel);
    return NULL;
}

/* An hour is cut to a minute, and a cancel ends that at once. */
static void test_a_long_wait_is_capped_and_can_be_cancelled(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    scene->fake.error.retry_after_ms = 3600000;
    int64_t start = clock_ms();
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, scene->cancel), 0);
    assert_false(complete(scene, -1));
    int64_t took_ms = clock_ms() - start;
    pthread_join(thread, NULL);
    assert_int_equal(scene->seen.wait_ms, 60000);
    assert_in_range(took_ms, 29, 2000);
    assert_int_equal(scene->stream.error.kind, ERROR_CANCELLED);
    assert_int_equal(scene->fake.attempts, 1);
}

static void test_a_wait_that_the_deadline_forbids_is_not_begun(void **state)
{
    struct scene *scene = *state;
    scene->fake.error.retry_after_ms = 5000;
    int64_t start = clock_ms();
    assert_false(complete(scene, start + 1000));
    assert_true(clock_ms() - start < 500);
    assert_int_equal(scene->seen.retries, 0);
    assert_int_equal(scene->stream.error.kind, ERROR_OVERLOADED);
}

/* D21: cancelled before it began. */
static void test_nothing_is_tried_after_a_cancel(void **state)
{
    struct scene *scene = *state;
    cancel_trigger(scene->cancel);
    assert_false(complete(scene, -1));
    assert_int_equal(scene->fake.attempts, 0);
    assert_int_equal(scene->stream.error.kind, ERROR_CANCELLED);
}

static void test_free_goes_to_the_client(void **state)
{
    struct scene *scene = *state;
    client_free(NULL);
    client_free(&scene->fake.client);
    assert_true(scene->fake.is_freed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stops_after_the_last_attempt),
        TEST(test_a_later_attempt_may_succeed),
        TEST(test_one_attempt_when_no_retry_is_wanted),
        TEST(test_a_final_error_is_not_retried),
        TEST(test_what_was_shown_is_not_made_again),
        TEST(test_reset_only_when_something_was_emitted),
        TEST(test_backoff_is_anything_up_to_its_limit),
        TEST(test_the_server_says_how_long),
        TEST(test_a_long_wait_is_capped_and_can_be_cancelled),
        TEST(test_a_wait_that_the_deadline_forbids_is_not_begun),
        TEST(test_nothing_is_tried_after_a_cancel),
        TEST(test_free_goes_to_the_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
