/* mortise/tasks.h while the n-th allocation fails: an error each time, and everything released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mortise/tasks.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "sdk_fakes.h"
#include "unit/base/failing.h"

static mortise_call call = {.size = sizeof(mortise_call), .ops = &fake_call_ops};
static atomic_int released, ran;
static atomic_int work_allocations; /* that succeed */
static atomic_bool work_failed;     /* one of them did not */

static void release(void *data)
{
    (void)data;
    atomic_fetch_add(&released, 1);
}

/* A long result, so that formatting it needs memory too. */
static mortise_status work(mortise_task *task, void *data)
{
    (void)data;
    atomic_fetch_add(&ran, 1);
    fail_after(atomic_load(&work_allocations));
    mortise_status status = mortise_task_reply(task, "%0600d", 7);
    if (status == MORTISE_OK)
        status = mortise_task_reply_json(task, "[%0600d]", 0);
    if (status == MORTISE_INVALID) /* 000 is no JSON number; the failure has a reason then */
        status = MORTISE_FAILED;
    atomic_store(&work_failed, fail_never());
    return status;
}

/* The status once the task has ended. */
static void wait_for_end(mortise_tasks *tasks, const char *id)
{
    do {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_equal(mortise_task_reply_status(tasks, &call, id), MORTISE_OK);
    } while (strstr(fake.text, "processing"));
}

static void starting_and_telling(void **state)
{
    (void)state;
    fake_reset();
    atomic_store(&work_allocations, 1000);
    bool failed = true;
    int n = 0;
    for (; failed; n++) {
        atomic_store(&released, 0);
        atomic_store(&ran, 0);
        fail_after(n);
        mortise_tasks *tasks = mortise_tasks_new(0, 0);
        mortise_status status = MORTISE_NO_MEMORY;
        if (tasks)
            status = mortise_task_start(tasks, &call, work, NULL, release);
        if (status == MORTISE_OK)
            status = mortise_task_reply_status(tasks, &call, "nobody");
        failed = fail_never();
        assert_true(failed == (status != MORTISE_OK));
        mortise_tasks_close(tasks);
        if (tasks)
            assert_int_equal(atomic_load(&released), 1);
        assert_true(atomic_load(&ran) <= 1);
    }
    assert_true(n > 3);
    assert_string_equal(fake.text, "{\"error\":\"Task not found\"}");
}

static void working(void **state)
{
    (void)state;
    atomic_store(&work_failed, true);
    int n = 0;
    for (; atomic_load(&work_failed); n++) {
        char id[40] = "";
        atomic_store(&work_allocations, n);
        mortise_tasks *tasks = mortise_tasks_new(0, 0);
        assert_int_equal(mortise_task_start(tasks, &call, work, NULL, release), MORTISE_OK);
        assert_int_equal(mortise_json_string(fake.text, "task_id", id, sizeof(id)), MORTISE_OK);
        wait_for_end(tasks, id);
        assert_non_null(strstr(fake.text, atomic_load(&work_failed)
                                              ? "\"failed\",\"error\":\"out of memory\""
                                              : "\"failed\",\"error\":\"its result is not valid"));
        mortise_tasks_close(tasks);
    }
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starting_and_telling),
        cmocka_unit_test(working),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
