#include "cmocka_all.h"
#include "sample.h"
#include "stderr_capture.h"

#include "plugin/meta.h"

#define NOTE "NOTE: This is a long-running operation."

static const struct tool *add(struct registry *registry, struct sample *sample)
{
    struct error error = ERROR_INIT;
    if (!sample_add(registry, sample, &error))
        fail_msg("%s", error.message);
    return registry_tool(registry, 0);
}

/* F3, T61, T62, F36 */
static void test_descriptions(void **state)
{
    (void)state;
    static const struct {
        const char *description;
        uint32_t flags;
        const char *wanted;
    } cases[] = {
        {"Two\nlines.", 0, "Two\nlines."},
        {NULL, 0, "Tool: echo"},
        {"", 0, "Tool: echo"},
        {"bad \xFF", 0, "bad \xEF\xBF\xBD"},
        {"Digs.", MORTISE_LONG_RUNNING, "Digs.\n\n" NOTE},
        {NULL, MORTISE_LONG_RUNNING, NOTE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sample sample;
        struct registry *registry = registry_new();
        sample_init(&sample, "one");
        mortise_tool_meta *meta = sample_tool(&sample, "echo");
        meta->description = cases[i].description;
        meta->flags = cases[i].flags;
        const char *found = add(registry, &sample)->meta.description;
        if (cases[i].flags)
            assert_memory_equal(found, cases[i].wanted, strlen(cases[i].wanted));
        else
            assert_string_equal(found, cases[i].wanted);
        registry_unref(registry);
    }
}

/* T2, F11: it loads, and a line names the tool and the cure. */
static void test_no_schema(void **state)
{
    (void)state;
    struct sample sample;
    struct registry *registry = registry_new();
    char line[512];
    sample_init(&sample, "one");
    sample_tool(&sample, "echo")->input_schema = NULL;
    struct stderr_capture capture = capture_stderr();
    const struct tool *tool = add(registry, &sample);
    captured_stderr(capture, line, sizeof(line));
    assert_string_equal(tool->meta.input_schema, "{\"type\":\"object\"}");
    assert_null(tool->shape);
    assert_string_equal(line,
                        "mortise: warning: tool 'echo' of '/one.so' has no input schema, so the "
                        "model must guess its arguments: give its meta a shape or an "
                        "input_schema\n");
    registry_unref(registry);
}

/* T63, T3: from the table, which wins over a text. */
static void test_schema_from_the_shape(void **state)
{
    (void)state;
    static const mortise_field field = {
        .name = "on", .kind = MORTISE_BOOLEAN, .flags = MORTISE_REQUIRED, .seen_offset = 1};
    static const mortise_shape shape = {.size = sizeof(shape),
                                        .struct_size = 2,
                                        .field_size = sizeof(field),
                                        .field_count = 1,
                                        .fields = &field};
    struct sample sample;
    struct registry *registry = registry_new();
    sample_init(&sample, "one");
    sample_tool(&sample, "echo")->shape = &shape;
    const struct tool *tool = add(registry, &sample);
    assert_string_equal(tool->meta.input_schema,
                        "{\"type\":\"object\",\"properties\":{\"on\":{\"type\":\"boolean\"}},"
                        "\"required\":[\"on\"],\"additionalProperties\":false}");
    assert_int_equal(tool->shape->field_count, 1);
    assert_null(tool->meta.shape);
    registry_unref(registry);
}

static const mortise_field whole_field = {.name = "n", .kind = MORTISE_INTEGER, .seen_offset = 8,
                                          .flags = MORTISE_REQUIRED | MORTISE_HAS_MAX, .max = 9};
static const mortise_shape whole_shape = {.size = sizeof(whole_shape),
                                          .struct_size = 16,
                                          .field_size = sizeof(whole_field),
                                          .field_count = 1,
                                          .fields = &whole_field};

/* F64: of a typed and of a raw tool, at the end of its schema, in the fewest bytes. */
static void test_examples_are_shown(void **state)
{
    (void)state;
    static const char *const examples[] = {"{ \"n\": 1 }", "{\"n\":9}", NULL};
    for (int typed = 0; typed < 2; typed++) {
        struct sample sample;
        struct registry *registry = registry_new();
        sample_init(&sample, "one");
        mortise_tool_meta *meta = sample_tool(&sample, "echo");
        meta->shape = typed ? &whole_shape : NULL;
        meta->examples = examples;
        const struct tool *tool = add(registry, &sample);
        assert_has(tool->meta.input_schema, typed ? "false,\"examples\":[{\"n\":1},{\"n\":9}]}"
                                                  : "\"object\",\"examples\":[{\"n\":1},{\"n\":9}]}");
        assert_string_equal(tool->meta.examples[0], "{ \"n\": 1 }");
        assert_null(tool->meta.examples[2]);
        assert_ptr_not_equal(tool->meta.examples, examples);
        registry_unref(registry);
    }
}

/* An example that the tool itself would refuse misleads a model: the plugin is not loaded. */
static void test_examples_are_checked(void **state)
{
    (void)state;
    static const struct {
        bool typed;
        const char *example, *why;
    } cases[] = {
        {true, "{\"n\":10}", "example 2 of tool 'echo' does not fit: 'n' must be at most 9, got 10"},
        {true, "{}", "example 2 of tool 'echo' does not fit: 'n' is required (an integer)"},
        {true, "{\"n\":\"1\"}", "'n' must be an integer, got \"1\""},
        {true, "{\"n\":1,\"m\":2}", "'m' is not known (the arguments are 'n')"},
        {true, "[]", "it must be a JSON object"},
        {false, "1", "it must be a JSON object"},
        {false, "{\"n\":\"a\"}", "example 2 of tool 'echo' does not fit: 'n' must be of type integer, got \"a\""},
        {false, "{\"n\":", "invalid JSON at line 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *const examples[] = {"{\"n\":1}", cases[i].example, NULL};
        struct sample sample;
        struct error error = ERROR_INIT;
        struct registry *registry = registry_new();
        sample_init(&sample, "one");
        mortise_tool_meta *meta = sample_tool(&sample, "echo");
        meta->shape = cases[i].typed ? &whole_shape : NULL;
        meta->input_schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
        meta->examples = examples;
        assert_false(sample_add(registry, &sample, &error));
        assert_has(error.message, cases[i].why);
        assert_int_equal(error.kind, ERROR_PLUGIN);
        registry_unref(registry);
    }
}

static void test_examples_at_one_place(void **state)
{
    (void)state;
    static const char *const examples[] = {"{}", NULL};
    struct sample sample;
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    sample_init(&sample, "one");
    mortise_tool_meta *meta = sample_tool(&sample, "echo");
    meta->input_schema = "{\"type\":\"object\",\"examples\":[{}]}";
    meta->examples = examples;
    assert_false(sample_add(registry, &sample, &error));
    assert_has(error.message, "tool 'echo' has \"examples\" in its schema and beside it: keep one");
    registry_unref(registry);
}

static void test_names(void **state)
{
    (void)state;
    assert_true(name_valid("a"));
    assert_true(name_valid("A-b_9"));
    assert_true(name_valid("a123456789012345678901234567890123456789012345678901234567890123"));
    assert_false(name_valid("a1234567890123456789012345678901234567890123456789012345678901234"));
    assert_false(name_valid(""));
    assert_false(name_valid("a b"));
    assert_false(name_valid("a.b"));
    assert_false(name_valid("\xC3\xA9"));
    assert_false(name_valid(NULL));
}

/* T5 */
static void test_equality(void **state)
{
    (void)state;
    const char *scopes[] = {"read", "write", NULL}, *fewer[] = {"read", NULL};
    const mortise_tool_meta meta = {.size = sizeof(meta),
                                    .flags = MORTISE_READ_ONLY,
                                    .name = "a",
                                    .description = "b",
                                    .input_schema = "{}",
                                    .scopes = scopes};
    mortise_tool_meta other = meta;
    assert_true(meta_equal(&meta, &other));
    other.scopes = fewer;
    assert_false(meta_equal(&meta, &other));
    other.scopes = NULL;
    assert_false(meta_equal(&meta, &other));
    other = meta;
    other.title = "A";
    assert_false(meta_equal(&meta, &other));
    other = meta;
    other.flags = 0;
    assert_false(meta_equal(&meta, &other));
    other = meta;
    other.description = "c";
    assert_false(meta_equal(&meta, &other));
    other = meta;
    other.examples = fewer;
    assert_false(meta_equal(&meta, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_no_schema),
        cmocka_unit_test(test_schema_from_the_shape),
        cmocka_unit_test(test_examples_are_shown),
        cmocka_unit_test(test_examples_are_checked),
        cmocka_unit_test(test_examples_at_one_place),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
