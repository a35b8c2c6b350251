/* A choice between fixed words, numbers, and an error that the model can act on. */
#include <mortise/tool.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MORTISE_TOOL(calculator, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE | MORTISE_IDEMPOTENT,
    "Add, subtract, multiply or divide two numbers.",
    (string, op, "What to do with them.", required, one_of("add", "subtract", "multiply", "divide")),
    (number, a,  "The first number.",     required),
    (number, b,  "The second number.",    required));

/* The shortest text that reads as exactly this number again. */
static void print_number(char text[32], double number)
{
    if (fabs(number) < 1e15 && number == (double)(int64_t)number) {
        snprintf(text, 32, "%lld", (long long)number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

static mortise_status calculator(mortise_call *call, const calculator_args *args)
{
    double result;
    if (strcmp(args->op, "add") == 0)
        result = args->a + args->b;
    else if (strcmp(args->op, "subtract") == 0)
        result = args->a - args->b;
    else if (strcmp(args->op, "multiply") == 0)
        result = args->a * args->b;
    else if (args->b != 0)
        result = args->a / args->b;
    else
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "calculator.divide_by_zero",
                               "Cannot divide by zero");
    if (!isfinite(result))
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "calculator.overflow",
                               "The result is too large for a number");

    char text[32];
    print_number(text, result);
    return mortise_reply(call, "%s", text);
}

MORTISE_PLUGIN(.name = "calculator", .version = "1.0.0", .tools = MORTISE_TOOLS(calculator));
