#include <mortise/test.h>

#include "greet.c"

int main(void) /* T73 */
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "X"}), "Hello, X!");
    mortise_test_text(mortise_test_run(test, &greet_tool, &(greet_args){.name = "日本"}),
                      "Hello, 日本!");
    return mortise_test_close(test);
}
