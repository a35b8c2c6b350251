#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "timeline/timeline.h"
#include "unit/base/failing.h"

/* Writes its letter into a shared trace. */
struct listener {
    char letter;
    char *trace;
};

static void listen(void *self, const struct event *event)
{
    struct listener *listener = self;
    (void)event;
    size_t length = strlen(listener->trace);
    listener->trace[length] = listener->letter;
}

/* W124: registration order, and only what was asked for. */
static void test_order_and_masks(void **state)
{
    (void)state;
    char trace[16] = "";
    struct listener a = {'a', trace}, b = {'b', trace}, c = {'c', trace};
    struct timeline timeline;
    timeline_init(&timeline);
    assert_true(timeline_add(&timeline, EVENT_ALL, listen, &b));
    assert_true(timeline_add(&timeline, EVENT_BIT(EVENT_PING), listen, &a));
    assert_true(timeline_add(&timeline, EVENT_BIT(EVENT_PING) | EVENT_BIT(EVENT_STOP), listen, &c));
    timeline_emit(&timeline, &(struct event){.kind = EVENT_PING});
    assert_string_equal(trace, "bac");
    timeline_emit(&timeline, &(struct event){.kind = EVENT_STOP});
    assert_string_equal(trace, "bacbc");
    timeline_emit(&timeline, &(struct event){.kind = EVENT_SETTLED});
    assert_string_equal(trace, "bacbcb");
    timeline_release(&timeline);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct timeline timeline;
    timeline_init(&timeline);
    fail_after(0);
    assert_false(timeline_add(&timeline, EVENT_ALL, listen, NULL));
    assert_true(fail_never());
    timeline_emit(&timeline, &(struct event){.kind = EVENT_PING});
    timeline_release(&timeline);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_masks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
