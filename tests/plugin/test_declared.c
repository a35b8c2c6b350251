/* What a declaration comes to in the host: the schema that the model sees, and what runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "plugin/loader.h"
#include "tool/call.h"

/* PLUGIN_FILE is the shared object, set by the build. */
static struct registry *load(void)
{
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    assert_non_null(registry);
    struct loader loader = {.registry = registry};
    if (!loader_load(&loader, PLUGIN_FILE, &error))
        fail_msg("%s", error.message);
    return registry;
}

static const mortise_tool_meta *meta_of(const struct registry *registry, const char *name)
{
    const struct tool *tool = registry_find(registry, name);
    if (!tool)
        fail_msg("no tool '%s'", name);
    return &tool->meta;
}

static void call_holding(const char *const *scopes, struct registry *registry, const char *tool,
                         const char *json, bool success, const char *expected)
{
    const struct call_context context = {.scopes = scopes};
    struct tool_result result = {0};
    tool_call(registry, tool, json, strlen(json), &context, NULL, &result);
    assert_string_equal(text_cstr(&result.text), expected);
    assert_int_equal(result.success, success);
    tool_result_release(&result);
}

/* A call by somebody who holds every scope. */
static void call(struct registry *registry, const char *tool, const char *json, bool success,
                 const char *expected)
{
    static const char *const scopes[] = {"travel", "pay", NULL};
    call_holding(scopes, registry, tool, json, success, expected);
}

/* F4, F5, F6, F7, T51, T63: one declaration, one schema. */
static void test_schema(void **state)
{
    (void)state;
    struct registry *registry = load();
    assert_string_equal(
        meta_of(registry, "book")->input_schema,
        "{\"type\":\"object\",\"properties\":{"
        "\"code\":{\"type\":\"string\",\"description\":\"Three capitals.\","
        "\"pattern\":\"^[A-Z]{3}$\"},"
        "\"when\":{\"type\":\"string\",\"description\":\"The first day.\",\"format\":\"date\"},"
        "\"priority\":{\"type\":\"string\",\"description\":\"How soon.\","
        "\"enum\":[\"low\",\"normal\"],\"default\":\"normal\"},"
        "\"budget\":{\"type\":\"number\",\"description\":\"In thousands.\",\"minimum\":0.5,"
        "\"maximum\":1000},"
        "\"guide\":{\"type\":\"boolean\",\"description\":\"With a guide.\",\"default\":false},"
        "\"stops\":{\"type\":\"array\",\"description\":\"In this order.\",\"minItems\":1,"
        "\"maxItems\":3,\"items\":{\"type\":\"object\",\"properties\":{"
        "\"city\":{\"type\":\"string\",\"description\":\"Where to stay.\",\"minLength\":1,"
        "\"maxLength\":20},"
        "\"nights\":{\"type\":\"integer\",\"description\":\"How long to stay.\",\"minimum\":1,"
        "\"default\":1}},\"required\":[\"city\"],\"additionalProperties\":false}},"
        "\"tags\":{\"type\":\"array\",\"description\":\"Words about it.\",\"minItems\":0,"
        "\"maxItems\":2,\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\","
        "\"enum\":[\"cheap\",\"quiet\"]}},"
        "\"mails\":{\"type\":\"array\",\"description\":\"Who is told.\","
        "\"items\":{\"type\":\"string\",\"format\":\"email\"}},"
        "\"more\":{\"description\":\"Anything else.\"}},"
        "\"required\":[\"code\",\"stops\"],\"additionalProperties\":false,"
        "\"examples\":[{\"code\":\"ABC\",\"stops\":[{\"city\":\"Tokyo\"}]},"
        "{\"code\":\"XYZ\",\"stops\":[{\"city\":\"Rome\",\"nights\":2}],\"tags\":[\"cheap\"]}]}");
    assert_string_equal(meta_of(registry, "raw-echo")->input_schema,
                        "{\"type\":\"object\",\"required\":[\"a\"],\"examples\":[{\"a\":[1,2]}]}");
    registry_unref(registry);
}

/* F2, F9, F52, F64, F65, T60, T61, T62: the same words for a typed tool and a raw one; what is not said
 * is false, and each flag stands for itself. */
static void test_what_is_said_of_tools(void **state)
{
    (void)state;
    struct registry *registry = load();
    const mortise_tool_meta *book = meta_of(registry, "book"), *raw = meta_of(registry, "raw-echo");
    assert_int_equal(book->flags, MORTISE_READ_ONLY | MORTISE_LONG_RUNNING);
    assert_int_equal(raw->flags, MORTISE_CONCURRENCY_SAFE | MORTISE_LONG_RUNNING);
    assert_int_equal(meta_of(registry, "takes_nothing")->flags, 0);
    assert_memory_equal(book->description, "Book a trip.\nWith stops.\n\nNOTE: ", 32);
    assert_string_equal(book->title, "Book a trip");
    assert_string_equal(raw->title, "Echo");
    assert_string_equal(book->scopes[1], "pay");
    assert_null(book->scopes[2]);
    assert_string_equal(raw->scopes[0], "travel");
    assert_string_equal(book->output_schema, "{\"type\":\"object\"}");
    assert_string_equal(raw->output_schema, "{\"type\":\"object\"}");
    assert_string_equal(raw->examples[0], "{\"a\": [1, 2]}");
    assert_null(meta_of(registry, "with_context")->examples);
    assert_string_equal(meta_of(registry, "answers")->title, "All answers");
    assert_string_equal(meta_of(registry, "answers")->description, "Tool: answers");
    assert_null(registry_find(registry, "raw"));
    call_holding(NULL, registry, "book", "{}", false,
                 "Tool 'book' is not allowed here: the caller lacks the scopes travel, pay");
    registry_unref(registry);
}

/* F16, F17, T52: what the model gave, and what stands in for the rest. */
static void test_arguments_arrive(void **state)
{
    (void)state;
    struct registry *registry = load();
    call(registry, "book", "{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}]}", true,
         "ABC - normal 0 0 Oslo:1 1 0 -");
    call(registry, "book",
         "{\"code\":\"XYZ\",\"when\":\"2028-02-29\",\"priority\":\"low\",\"budget\":0.5,"
         "\"guide\":true,\"stops\":[{\"city\":\"Roma\",\"nights\":3},{\"city\":\"Bari\"}],"
         "\"tags\":[\"cheap\",\"quiet\"],\"mails\":[\"a@example.org\"],\"more\":[null]}",
         true, "XYZ 2028-02-29 low 0.5 1 Roma:3 2 2 [null]");
    call(registry, "raw-echo", "{\"a\": 1}", true, "{\"a\": 1}");
    registry_unref(registry);
}

/* F14, F15, F17, T55: the function is not run, and the model is told what would do. */
static void test_arguments_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        const char *json, *why;
    } cases[] = {
        {"{\"stops\":[{\"city\":\"Oslo\"}]}", "'code' is required (a string)"},
        {"{\"code\":7,\"stops\":[{\"city\":\"Oslo\"}]}", "'code' must be a string, got 7"},
        {"{\"code\":\"abc\",\"stops\":[{\"city\":\"Oslo\"}]}",
         "'code' must match the pattern '^[A-Z]{3}$', got \"abc\""},
        {"{\"code\":\"ABC\",\"stops\":[]}", "'stops' must have 1 to 3 items, got 0"},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"\"}]}",
         "'stops[0].city' must have 1 to 20 characters, got 0"},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\",\"nights\":0}]}",
         "'stops[0].nights' must be at least 1, got 0"},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}],\"when\":\"2030-02-29\"}",
         "'when' must be a date, such as 2030-01-31, got \"2030-02-29\""},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}],\"budget\":0.25}",
         "'budget' must be 0.5 to 1000, got 0.25"},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}],\"tags\":[\"loud\"]}",
         "'tags[0]' must be one of \"cheap\", \"quiet\", got \"loud\""},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}],\"mails\":[\"nobody\"]}",
         "'mails[0]' must be an e-mail address, got \"nobody\""},
        {"{\"code\":\"ABC\",\"stops\":[{\"city\":\"Oslo\"}],\"prioritty\":\"low\"}",
         "'prioritty' is not known; did you mean 'priority'? (the arguments are 'code', 'when', "
         "'priority', 'budget', 'guide', 'stops', 'tags', 'mails', 'more')"},
    };
    struct registry *registry = load();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[512];
        snprintf(expected, sizeof(expected), "Invalid argument: %s", cases[i].why);
        call(registry, "book", cases[i].json, false, expected);
    }
    registry_unref(registry);
}

/* Lengths are counted in characters, as the schema says: twenty of them have sixty bytes. */
static void test_lengths_are_characters(void **state)
{
    (void)state;
    struct registry *registry = load();
    call(registry, "book",
         "{\"code\":\"ABC\",\"stops\":[{\"city\":\"東京東京東京東京東京東京東京東京東京東京\"}]}", true,
         "ABC - normal 0 0 東京東京東京東京東京東京東京東京東京東京:1 1 0 -");
    call(registry, "book",
         "{\"code\":\"ABC\",\"stops\":[{\"city\":\"東京東京東京東京東京東京東京東京東京東京東\"}]}", false,
         "Invalid argument: 'stops[0].city' must have 1 to 20 characters, got 21");
    registry_unref(registry);
}

/* F8, T56: with a context or without, the model cannot tell. */
static void test_with_context_and_without(void **state)
{
    (void)state;
    struct registry *registry = load();
    static const char *const tools[] = {"with_context", "without_context"};
    for (size_t i = 0; i < 2; i++) {
        call(registry, tools[i], "{\"a\":7,\"b\":2}", true, "3.5");
        call(registry, tools[i], "{\"a\":7,\"b\":0}", false,
                         "Execution failed: cannot divide by 0");
        call(registry, tools[i], "{\"a\":7}", false,
                         "Invalid argument: 'b' is required (a number)");
    }
    assert_string_equal(meta_of(registry, "with_context")->input_schema,
                        meta_of(registry, "without_context")->input_schema);
    registry_unref(registry);
}

/* T57, T53: text, JSON, nothing to say, and no memory to say it. */
static void test_answers_of_functions(void **state)
{
    (void)state;
    struct registry *registry = load();
    struct tool_result result = {0};
    call(registry, "answers", "{\"kind\":\"text\"}", true, "");
    call(registry, "takes_nothing", "", true, "nothing");
    call(registry, "takes_nothing", "{}", true, "nothing");
    tool_call(registry, "answers", "{\"kind\":\"json\"}", 15, NULL, NULL, &result);
    assert_true(result.success && result.is_json);
    assert_string_equal(text_cstr(&result.text), "{\"kind\":\"json\"}");
    tool_result_release(&result);
    tool_call(registry, "answers", "{\"kind\":\"nothing\"}", 18, NULL, NULL, &result);
    assert_false(result.success);
    tool_result_release(&result);
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_what_is_said_of_tools),
        cmocka_unit_test(test_arguments_arrive),
        cmocka_unit_test(test_arguments_that_do_not_fit),
        cmocka_unit_test(test_lengths_are_characters),
        cmocka_unit_test(test_with_context_and_without),
        cmocka_unit_test(test_answers_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
