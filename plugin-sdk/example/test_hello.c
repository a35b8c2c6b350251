#include <mortise/test.h>

#include "hello.c"

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    mortise_test_text(mortise_test_run(test, &hello_tool, &(hello_args){.name = "Ada"}),
                      "Hello, Ada!");
    mortise_test_text(
        mortise_test_run(test, &hello_tool, &(hello_args){.name = "Ada", .loudly = true}),
        "HELLO, Ada!");
    return mortise_test_close(test);
}
