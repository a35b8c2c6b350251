/* What the declarations of <mortise/tool.h> make, and what the plugin's entry makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk_every_kind.h"
#include "sdk_fakes.h"

/* T50, T51, T52, F4: kind, description and place of each field. */
static void test_fields_say_kind_description_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *name, *description;
        mortise_kind kind;
        size_t offset, seen_offset;
    } expected[] = {
#define EXPECT(name, description, kind)                                                            \
    {#name, description, kind, offsetof(every_kind_args, name),                                    \
     offsetof(every_kind_args, seen.name)}
        EXPECT(text, "A text.", MORTISE_STRING),
        EXPECT(unit, "A choice.", MORTISE_STRING),
        EXPECT(quoted, "Marks and tabs.", MORTISE_STRING),
        EXPECT(whole, "A number.", MORTISE_INTEGER),
        EXPECT(limit, "From a macro.", MORTISE_INTEGER),
        EXPECT(ratio, "A fraction.", MORTISE_NUMBER),
        EXPECT(yes, "True.", MORTISE_BOOLEAN),
        EXPECT(no, "False.", MORTISE_BOOLEAN),
        EXPECT(anything, "Any value.", MORTISE_JSON),
        EXPECT(words, "Texts.", MORTISE_STRINGS),
        EXPECT(counts, "Numbers.", MORTISE_INTEGERS),
        EXPECT(weights, "Fractions.", MORTISE_NUMBERS),
        EXPECT(switches, "Truths.", MORTISE_BOOLEANS),
        EXPECT(at, "One place.", MORTISE_OBJECT),
        EXPECT(shapes, "Some shapes.", MORTISE_RECORDS),
    };
    assert_int_equal(every_kind_shape.field_count, sizeof(expected) / sizeof(expected[0]));
    assert_int_equal(every_kind_shape.struct_size, sizeof(every_kind_args));
    for (size_t i = 0; i < every_kind_shape.field_count; i++) {
        const mortise_field *field = &every_kind_shape.fields[i];
        assert_string_equal(field->name, expected[i].name);
        assert_string_equal(field->description, expected[i].description);
        assert_int_equal(field->kind, expected[i].kind);
        assert_int_equal(field->offset, expected[i].offset);
        assert_int_equal(field->seen_offset, expected[i].seen_offset);
    }
}

static const mortise_field *field_of(const mortise_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        if (strcmp(shape->fields[i].name, name) == 0)
            return &shape->fields[i];
    }
    fail_msg("no field '%s'", name);
    return NULL;
}

/* F5, F16: who is required, and the JSON text that stands in for the others. */
static void test_fallbacks_are_json(void **state)
{
    (void)state;
    static const struct {
        const char *field, *fallback;
    } cases[] = {
        {"text", NULL},
        {"unit", "\"words\""},
        {"quoted", "\"say \\\"hi\\\"\\t\\\\\""},
        {"whole", "-1"},
        {"limit", "64"},
        {"ratio", "0.75"},
        {"yes", "true"},
        {"no", "false"},
        {"anything", "{\"deep\": [true, null]}"},
        {"words", "[\"a\", \"b\"]"},
        {"switches", "[true]"},
        {"counts", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const mortise_field *field = field_of(&every_kind_shape, cases[i].field);
        if (cases[i].fallback)
            assert_string_equal(field->fallback, cases[i].fallback);
        else
            assert_null(field->fallback);
    }
    assert_true(field_of(&every_kind_shape, "text")->flags & MORTISE_REQUIRED);
    assert_false(field_of(&every_kind_shape, "counts")->flags & MORTISE_REQUIRED);
}

/* F6: limits and choices. */
static void test_limits_and_choices(void **state)
{
    (void)state;
    const mortise_field *text = field_of(&every_kind_shape, "text");
    assert_int_equal(text->flags, MORTISE_REQUIRED | MORTISE_HAS_MIN | MORTISE_HAS_MAX);
    assert_true(text->min == 1 && text->max == 64);

    const mortise_field *whole = field_of(&every_kind_shape, "whole");
    assert_int_equal(whole->flags, MORTISE_HAS_MIN | MORTISE_HAS_MAX);
    assert_true(whole->min == -1 && whole->max == 10);

    const mortise_field *ratio = field_of(&every_kind_shape, "ratio");
    assert_int_equal(ratio->flags, MORTISE_HAS_MIN);
    assert_true(ratio->min == 0.5);

    const mortise_field *unit = field_of(&every_kind_shape, "unit");
    assert_string_equal(unit->choices[0], "words");
    assert_string_equal(unit->choices[1], "lines");
    assert_null(unit->choices[2]);
    assert_null(text->choices);
}

static void test_records_nest(void **state)
{
    (void)state;
    const mortise_field *shapes = field_of(&every_kind_shape, "shapes");
    assert_ptr_equal(shapes->record, &shape_shape);
    const mortise_field *points = field_of(shapes->record, "points");
    assert_ptr_equal(points->record, &point_shape);
    assert_int_equal(points->record->struct_size, sizeof(point_args));
    assert_ptr_equal(field_of(&every_kind_shape, "at")->record, &point_shape);
    assert_null(field_of(&every_kind_shape, "words")->record);
}

/* T53: a tool that takes nothing. */
static void test_no_arguments(void **state)
{
    (void)state;
    assert_int_equal(nothing_at_all_shape.field_count, 0);
    assert_null(nothing_at_all_meta.description);
}

/* T59, T60, T61, T64, F1, F2, F64: a definition object for each tool, named after it. */
static void test_definitions(void **state)
{
    (void)state;
    assert_ptr_equal(every_kind_tool.meta, &every_kind_meta);
    assert_string_equal(every_kind_meta.name, "every_kind");
    assert_string_equal(every_kind_meta.description, "Takes everything.\nTwice.");
    assert_int_equal(every_kind_meta.flags, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE);
    assert_null(every_kind_meta.title);

    assert_string_equal(renamed_meta.name, "other-name");
    assert_string_equal(renamed_meta.title, "Another name");
    assert_string_equal(renamed_meta.scopes[1], "files:list");
    assert_null(renamed_meta.scopes[2]);
    assert_string_equal(renamed_meta.output_schema, "{\"type\":\"object\"}");

    assert_null(raw_meta.shape);
    assert_string_equal(raw_meta.input_schema, "{\"type\":\"object\",\"required\":[\"a\"]}");
    assert_string_equal(raw_with_meta.title, "Raw, with a title");
    assert_int_equal(thirty_two_shape.field_count, 32);
}

/* T49, T54, F63: one state for all tools and hooks, made once and freed once. */
static void test_opens_and_closes(void **state)
{
    (void)state;
    opened = closed = 0;
    mortise_plugin *plugin = tool_definition(&fake_host);
    assert_non_null(plugin);
    assert_int_equal(opened, 1);
    assert_string_equal(plugin->name, "every-kind");
    assert_string_equal(plugin->version, "1.2.3");
    assert_int_equal(plugin->tool_count, 6);
    for (size_t i = 0; i < plugin->tool_count; i++) {
        assert_ptr_equal(plugin->tools[i]->state, &opened);
        assert_string_equal(plugin->tools[i]->state_tag, "every-kind/1");
    }
    assert_ptr_equal(plugin->tools[3]->meta, &raw_meta);
    assert_int_equal(plugin->hook_count, 2);
    assert_string_equal(plugin->hooks[0]->name, "watch");
    assert_int_equal(plugin->hooks[0]->priority, 10);
    assert_ptr_equal(plugin->hooks[0]->state, &opened);
    assert_ptr_equal(plugin->hooks[1]->state, &opened);
    plugin->close(plugin);
    assert_int_equal(closed, 1);
}

static bool only_persist(const void *state, const mortise_hooks *hooks)
{
    return state == &opened && hooks == &persist_hooks;
}

/* What has nothing to do is left out. */
static void test_wants_some_hooks(void **state)
{
    (void)state;
    mortise_plugin_parts parts = mortise__parts;
    parts.wants = only_persist;
    mortise_plugin *plugin = mortise_open_plugin(&fake_host, &parts);
    assert_int_equal(plugin->hook_count, 1);
    assert_string_equal(plugin->hooks[0]->name, "persist");
    assert_ptr_equal(plugin->hooks[0]->state, &opened);
    plugin->close(plugin);
}

static bool only_raw(const void *state, const mortise_tool *tool)
{
    return state == &opened && (tool == &raw_tool || tool == &raw_with_tool);
}

/* What is not switched on is left out. */
static void test_wants_some_tools(void **state)
{
    (void)state;
    mortise_plugin_parts parts = mortise__parts;
    parts.wants_tool = only_raw;
    mortise_plugin *plugin = mortise_open_plugin(&fake_host, &parts);
    assert_int_equal(plugin->tool_count, 2);
    assert_ptr_equal(plugin->tools[0]->meta, &raw_meta);
    assert_ptr_equal(plugin->tools[0]->state, &opened);
    assert_ptr_equal(plugin->tools[1]->meta, &raw_with_meta);
    assert_int_equal(plugin->hook_count, 2);
    plugin->close(plugin);
}

static void test_open_can_refuse(void **state)
{
    (void)state;
    closed = 0;
    refuse_to_open = true;
    assert_null(tool_definition(&fake_host));
    refuse_to_open = false;
    assert_string_equal(fake.text, "no luck today");
    assert_int_equal(closed, 0);
}

/* D26: what protects is not left out because it cannot work. */
static void test_guard_that_refuses(void **state)
{
    (void)state;
    mortise_hook hook = {.size = sizeof(hook), .ops = &fake_hook_ops};
    mortise_plugin_parts parts = mortise__parts;
    parts.guard = true;
    closed = 0;
    refuse_to_open = true;
    mortise_plugin *plugin = mortise_open_plugin(&fake_host, &parts);
    refuse_to_open = false;
    assert_string_equal(fake.text, "plugin 'every-kind' will stop every run: no luck today");
    assert_int_equal(plugin->tool_count, 0);
    assert_int_equal(plugin->hook_count, 1);
    const mortise_hooks *hooks = plugin->hooks[0];
    assert_int_equal(hooks->prompt_submit(hooks->state, &hook, NULL), MORTISE_HOOK_FAILED);
    assert_string_equal(fake.text, "plugin 'every-kind' cannot work: no luck today");
    assert_int_equal(hooks->pre_llm_request(hooks->state, &hook, NULL), MORTISE_HOOK_FAILED);
    assert_int_equal(hooks->pre_tool_call(hooks->state, &hook, NULL), MORTISE_HOOK_FAILED);
    plugin->close(plugin);
    assert_int_equal(closed, 0);

    plugin = mortise_open_plugin(&fake_host, &parts);
    assert_int_equal(plugin->tool_count, 6);
    plugin->close(plugin);
}

/* T59: a tool is called without a host. */
static void test_runs_without_a_host(void **state)
{
    (void)state;
    fake_reset();
    mortise_call call = {.size = sizeof(call), .ops = &fake_call_ops, .tool = &every_kind_tool};
    const point_args corners[] = {{.x = 1}, {.x = 2}};
    const shape_args shapes[] = {{.name = "line", .points = {corners, 2}}};
    const every_kind_args args = {.at = {.x = 0.5}, .shapes = {shapes, 1}, .seen = {.whole = true}};
    assert_int_equal(every_kind_tool.run(&every_kind_tool, &call, &args), MORTISE_OK);
    assert_string_equal(fake.text, "3.5 1");

    assert_int_equal(raw_tool.run(&raw_tool, &call, "{\"a\":1}"), MORTISE_OK);
    assert_string_equal(fake.text, "{\"a\":1}");
    assert_int_equal(fake.number, MORTISE_JSON_RESULT);
}

/* What an older or smaller host does not have is absent, not a crash. */
static void test_absent_host_functions(void **state)
{
    (void)state;
    const mortise_call_ops small = {.size = offsetof(mortise_call_ops, attach)};
    mortise_call call = {.size = sizeof(call), .ops = &small, .tool = &raw_tool};
    assert_false(mortise_cancelled(&call));
    assert_int_equal(mortise_on_cancel(&call, free, NULL), MORTISE_UNSUPPORTED);
    assert_int_equal(mortise_cancel_fd(&call), -1);
    assert_int_equal(mortise_remaining_ms(&call), -1);
    assert_null(mortise_context(&call, "session"));
    assert_int_equal(mortise_attach_uri(&call, "a/b", NULL, "file:///x"), MORTISE_UNSUPPORTED);
    assert_int_equal(mortise_attach_bytes(&call, "a/b", NULL, "x", 1), MORTISE_UNSUPPORTED);
    mortise_emit(&call, "stdout", "x", 1);
    mortise_progress(&call, 1, 2, NULL);
}

static void test_hooks_speak(void **state)
{
    (void)state;
    mortise_hook hook = {.size = sizeof(hook), .ops = &fake_hook_ops};
    const mortise_pre_tool_call event = {.size = sizeof(event)};
    assert_int_equal(watch_hooks.pre_tool_call(NULL, &hook, &event), MORTISE_SKIP);
    assert_string_equal(fake.text, "call 0");

    assert_int_equal(persist_hooks.turn_end(NULL, &hook, NULL), MORTISE_CONTINUE_WITH);
    assert_string_equal(fake.text, "{\"type\":\"message\",\"role\":\"user\",\"content\":"
                                   "[{\"type\":\"input_text\",\"text\":\"go \\\"on\\\"\"}]}");
    assert_int_equal(fake.length, strlen(fake.text));
    assert_int_equal(mortise_hook_append_text(&hook, "assistant", ""), MORTISE_OK);
    assert_non_null(strstr(fake.text, "output_text"));

    assert_int_equal(mortise_hook_respond(&hook, true, "no: %d", 7), MORTISE_OK);
    assert_string_equal(fake.text, "no: 7");
    assert_true(fake.is_error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_say_kind_description_and_place),
        cmocka_unit_test(test_fallbacks_are_json),
        cmocka_unit_test(test_limits_and_choices),
        cmocka_unit_test(test_records_nest),
        cmocka_unit_test(test_no_arguments),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_opens_and_closes),
        cmocka_unit_test(test_wants_some_hooks),
        cmocka_unit_test(test_wants_some_tools),
        cmocka_unit_test(test_open_can_refuse),
        cmocka_unit_test(test_guard_that_refuses),
        cmocka_unit_test(test_runs_without_a_host),
        cmocka_unit_test(test_absent_host_functions),
        cmocka_unit_test(test_hooks_speak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
