/* A JSON result is what its tool's output schema says, or it is an error (F22, R12). */
#include "fake.h"

static const char *result;
static uint32_t type;

static mortise_status answer(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    (void)args;
    return call->ops->reply(call, type, result, strlen(result));
}
FAKE_TOOL(answer, 0,
          .output_schema =
              "{\"type\":\"object\",\"properties\":{\"degrees\":{\"type\":\"number\"}},"
              "\"required\":[\"degrees\"],\"additionalProperties\":false}");

static mortise_status plain(const mortise_tool *self, mortise_call *call, const void *args)
{
    return answer(self, call, args);
}
FAKE_TOOL(plain, 0, .output_schema = NULL);

static const mortise_tool *const tools[] = {&answer_tool, &plain_tool, NULL};

static void expect(const char *tool, const char *json, const char *complaint)
{
    struct registry *registry = fake_registry(tools, NULL);
    result = json;
    if (!complaint) {
        assert_answer(registry, tool, "{}", json);
    } else {
        struct tool_result came;
        fake_call(registry, tool, "{}", &came);
        assert_string_equal(text_cstr(&came.text), complaint);
        assert_false(came.success);
        assert_string_equal(came.category, "internal");
        assert_string_equal(came.component, "host");
        assert_string_equal(came.code, "tool.bad_output");
        tool_result_release(&came);
    }
    registry_unref(registry);
}

#define BAD                                                                                        \
    "Internal error: tool 'answer' replied with something that its output schema does not allow: "

static void test_results(void **state)
{
    (void)state;
    type = MORTISE_JSON_RESULT;
    expect("answer", "{ \"degrees\": 1.50 }", NULL);
    expect("answer", "{\"degrees\":36893488147419103232}", NULL);
    expect("answer", "{\"degrees\":\"warm\"}",
           BAD "'degrees' must be of type number, got \"warm\"");
    expect("answer", "{\"city\":\"Oslo\"}",
           BAD "'degrees' is required\n'city' is not known (the members are 'degrees')");
    expect("answer", "[]", BAD "the result must be of type object, got []");
}

/* What goes with a result is taken out of it before. */
static void test_with_parts(void **state)
{
    (void)state;
    struct registry *registry = fake_registry(tools, NULL);
    type = MORTISE_JSON_RESULT;
    result = "{\"degrees\":1,\"file_data\":[{\"mime_type\":\"text/plain\",\"uri\":\"https://"
             "example.com/a\"}]}";
    assert_answer(registry, "answer", "{}", "{\"degrees\":1}");
    registry_unref(registry);
}

/* Nobody reads what no schema describes; text is no JSON. */
static void test_what_is_not_read(void **state)
{
    (void)state;
    type = MORTISE_JSON_RESULT;
    expect("plain", "[1,2]", NULL);
    expect("plain", "1e400", NULL);
    type = MORTISE_TEXT_RESULT;
    expect("answer", "warm", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_with_parts),
        cmocka_unit_test(test_what_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
