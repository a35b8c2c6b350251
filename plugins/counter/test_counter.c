#include <mortise/test.h>

#include "counter.c"

int main(void) /* T10, T13, T72 */
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &counter_tool, NULL), "count: 0");
    mortise_test_text(mortise_test_run(test, &counter_tool, NULL), "count: 1");
    mortise_test_text(mortise_test_run(test, &counter_tool, NULL), "count: 2");
    return mortise_test_close(test);
}
