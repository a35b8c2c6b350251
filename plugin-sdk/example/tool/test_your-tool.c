/* Runs the tool without a host; `mortise tools call` also checks what a model sends. */
#include <mortise/test.h>

#include "your-tool.c"

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);

    your_tool_args args = {.text = "ha", .times = 3, .between = "comma"};
    mortise_test_text(mortise_test_run(test, &your_tool_tool, &args), "ha, ha, ha");
    args.times = 1;
    mortise_test_text(mortise_test_run(test, &your_tool_tool, &args), "ha");
    args.text = "";
    mortise_test_text(mortise_test_run(test, &your_tool_tool, &args), "");

    char text[1001] = "";
    memset(text, 'x', 1000);
    args = (your_tool_args){.text = text, .times = 100, .between = "line"};
    mortise_test_error(mortise_test_run(test, &your_tool_tool, &args), MORTISE_INVALID_INPUT,
                       "100099 bytes");

    mortise_test_cancel(test, 0);
    args.times = 2;
    const mortise_test_result *result = mortise_test_run(test, &your_tool_tool, &args);
    mortise_test_true(result->status == MORTISE_CANCELLED);
    return mortise_test_close(test);
}
