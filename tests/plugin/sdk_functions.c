/* Tools that know nothing but their arguments, without a host: F8, T59. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_fakes.h"

MORTISE_FUNCTION(repeat, 0, "Say it often.",
    (string,  text,  "What.",      required),
    (integer, count, "How often.", required));

static mortise_answer repeat(const repeat_args *args)
{
    if (args->count < 0)
        return mortise_failure("not %d times", (int)args->count);
    if (args->count == 0)
        return mortise_json("[\"%s\",%d]", args->text, 0);
    return mortise_text("%0*d%s", (int)args->count, 0, args->text);
}

static void test_is_called_like_any_function(void **state)
{
    (void)state;
    const repeat_args args = {.text = "a", .count = 2};
    mortise_answer answer = repeat(&args);
    assert_string_equal(answer.text, "00a");
    assert_false(answer.is_json || answer.is_error);
    free(answer.text);
}

/* T56, T57 */
static void test_answers_through_its_tool(void **state)
{
    (void)state;
    mortise_call call = {.size = sizeof(call), .ops = &fake_call_ops, .tool = &repeat_tool};
    repeat_args args = {.text = "a", .count = 3000};
    fake_reset();
    assert_int_equal(repeat_tool.run(&repeat_tool, &call, &args), MORTISE_OK);
    assert_int_equal(fake.number, MORTISE_TEXT_RESULT);
    assert_int_equal(fake.length, 3001);
    assert_int_equal(fake.text[3000], 'a');

    args.count = 0;
    assert_int_equal(repeat_tool.run(&repeat_tool, &call, &args), MORTISE_OK);
    assert_int_equal(fake.number, MORTISE_JSON_RESULT);
    assert_string_equal(fake.text, "[\"a\",0]");

    args.count = -1;
    assert_int_equal(repeat_tool.run(&repeat_tool, &call, &args), MORTISE_FAILED);
    assert_string_equal(fake.text, "not -1 times");
}

static void test_no_answer_is_no_memory(void **state)
{
    (void)state;
    mortise_call call = {.size = sizeof(call), .ops = &fake_call_ops, .tool = &repeat_tool};
    const mortise_answer nothing = {.text = NULL};
    fake_reset();
    assert_int_equal(mortise_give_answer(&call, nothing), MORTISE_NO_MEMORY);
    assert_string_equal(fake.text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_called_like_any_function),
        cmocka_unit_test(test_answers_through_its_tool),
        cmocka_unit_test(test_no_answer_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
