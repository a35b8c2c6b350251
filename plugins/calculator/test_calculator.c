#include <mortise/test.h>

#include "calculator.c"

static void calculates(mortise_test *test) /* F19 */
{
    static const struct {
        calculator_args args;
        const char *result;
    } cases[] = {
        {{.op = "add", .a = 2, .b = 3}, "5"},
        {{.op = "add", .a = 0.1, .b = 0.2}, "0.30000000000000004"},
        {{.op = "subtract", .a = 2, .b = 3}, "-1"},
        {{.op = "multiply", .a = 1.5, .b = 4}, "6"},
        {{.op = "divide", .a = 12, .b = 4}, "3"},
        {{.op = "divide", .a = 1, .b = 3}, "0.3333333333333333"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        mortise_test_text(mortise_test_run(test, &calculator_tool, &cases[i].args),
                          cases[i].result);
}

static void tells_what_cannot_be(mortise_test *test) /* F19, F22 */
{
    const mortise_test_result *result = mortise_test_run(
        test, &calculator_tool, &(calculator_args){.op = "divide", .a = 1, .b = 0});
    mortise_test_error(result, MORTISE_INVALID_INPUT, "Cannot divide by zero");
    mortise_test_same(result->code, "calculator.divide_by_zero");
    result = mortise_test_run(test, &calculator_tool,
                              &(calculator_args){.op = "multiply", .a = 1e308, .b = 1e308});
    mortise_test_error(result, MORTISE_INVALID_INPUT, "The result is too large for a number");
}

int main(void)
{
    mortise_test *test = mortise_test_open(NULL);
    calculates(test);
    tells_what_cannot_be(test);
    return mortise_test_close(test);
}
