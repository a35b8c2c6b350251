#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "base/queue.h"

struct message {
    struct queue_node node;
    int sender;
    int number;
};

static bool is_readable(const struct queue *queue)
{
    struct pollfd wait = {.fd = queue->fd, .events = POLLIN};
    return poll(&wait, 1, 0) == 1;
}

static void test_readable_while_something_waits(void **state)
{
    (void)state;
    struct message messages[3] = {{.number = 0}, {.number = 1}, {.number = 2}};
    struct queue queue;
    assert_true(queue_init(&queue));
    assert_false(is_readable(&queue));
    assert_null(queue_pop(&queue));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            queue_push(&queue, &messages[i].node);
            assert_true(is_readable(&queue));
        }
        for (int i = 0; i < 3; i++) {
            assert_true(is_readable(&queue));
            assert_ptr_equal(queue_pop(&queue), &messages[i].node);
        }
        assert_false(is_readable(&queue));
        assert_null(queue_pop(&queue));
    }
    int fd = queue.fd;
    queue_release(&queue);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

enum { SENDERS = 8, EACH = 5000 };

static struct message messages[SENDERS][EACH];
static struct queue shared;

static void *send_all(void *argument)
{
    struct message *mine = argument;
    for (int i = 0; i < EACH; i++)
        queue_push(&shared, &mine[i].node);
    return NULL;
}

/* None is lost, none comes twice, each sender's come in order, and no wake-up is missed. */
static void test_many_senders(void **state)
{
    (void)state;
    pthread_t threads[SENDERS];
    int next[SENDERS] = {0};
    assert_true(queue_init(&shared));
    for (int sender = 0; sender < SENDERS; sender++) {
        for (int i = 0; i < EACH; i++)
            messages[sender][i] = (struct message){.sender = sender, .number = i};
        assert_int_equal(pthread_create(&threads[sender], NULL, send_all, messages[sender]), 0);
    }
    for (int received = 0; received < SENDERS * EACH;) {
        struct pollfd wait = {.fd = shared.fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, 10000), 1);
        for (struct queue_node *node; (node = queue_pop(&shared)); received++) {
            struct message *message = (struct message *)node;
            assert_int_equal(message->number, next[message->sender]++);
        }
    }
    for (int sender = 0; sender < SENDERS; sender++)
        pthread_join(threads[sender], NULL);
    assert_false(is_readable(&shared));
    queue_release(&shared);
}

static void test_without_descriptors(void **state)
{
    (void)state;
    struct queue queue;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool made = queue_init(&queue);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readable_while_something_waits),
        cmocka_unit_test(test_many_senders),
        cmocka_unit_test(test_without_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
