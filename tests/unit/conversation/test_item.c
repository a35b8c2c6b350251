#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "conversation/item.h"
#include "unit/base/failing.h"

#define FFFD         "\xEF\xBF\xBD"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct item *read_item(const char *json, struct error *error)
{
    return item_from_json(json, strlen(json), error);
}

/* The item's JSON is `json`.  Frees the item. */
static void assert_json(struct item *item, const char *json)
{
    struct text text = TEXT_INIT;
    assert_non_null(item);
    item_write_json(item, &text);
    assert_string_equal(text_cstr(&text), json);
    text_release(&text);
    item_unref(item);
}

/* W16, W30, W123: the neutral form, as plugin.h documents it. */
static void test_writes_json(void **state)
{
    (void)state;
    assert_json(item_message(ROLE_USER, PART_INPUT_TEXT, "Hi \"you\"", 8),
                "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
                "\"text\":\"Hi \\\"you\\\"\"}]}");
    assert_json(item_message(ROLE_ASSISTANT, PART_REFUSAL, "No", 2),
                "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"refusal\","
                "\"text\":\"No\"}]}");
    assert_json(item_call("c1", "greet", "{\"name\":\"Ada\"}", 14, true),
                "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"greet\","
                "\"arguments\":\"{\\\"name\\\":\\\"Ada\\\"}\"}");
    assert_json(item_output("c1", "Hello\n", 6, true),
                "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"Hello\\n\","
                "\"is_error\":true}");
    assert_json(item_reasoning("Hm", 2), "{\"type\":\"reasoning\",\"text\":\"Hm\"}");
}

static void test_reads_what_it_writes(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"type\":\"message\",\"role\":\"system\",\"content\":[]}",
        ("{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
         "\"text\":\"a\"},{\"type\":\"refusal\",\"text\":\"\"}]}"),
        "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{oops\"}",
        "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"\",\"is_error\":false}",
        "{\"type\":\"reasoning\",\"text\":\"r\"}",
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_json(read_item(cases[i], NULL), cases[i]);
}

static void test_reads_what_may_be_left_out(void **state)
{
    (void)state;
    struct item *output =
        read_item("{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"x\"}", NULL);
    assert_non_null(output);
    assert_false(output->is_error);
    item_unref(output);
}

/* D9: whether arguments can be read is found out, not believed. */
static void test_reads_whether_arguments_are_valid(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        bool valid;
    } cases[] = {{"{}", true}, {"{\\\"a\\\":1}", true}, {"[1]", false}, {"", false}, {"{", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char json[200];
        snprintf(
            json, sizeof(json),
            "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"%s\"}",
            cases[i].arguments);
        struct item *call = read_item(json, NULL);
        assert_non_null(call);
        assert_int_equal(call->arguments_valid, cases[i].valid);
        item_unref(call);
    }
}

static void test_refuses_and_names_the_member(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"oops", "invalid JSON"},
        {"[]", "an item must be a JSON object"},
        {"{}", "item 'type' must be message|function_call|function_call_output|reasoning"},
        {"{\"type\":\"image\"}", "item 'type' must be"},
        {"{\"type\":\"message\",\"content\":[]}", "item 'role' must be user|assistant|system"},
        {"{\"type\":\"message\",\"role\":\"tool\",\"content\":[]}", "item 'role' must be"},
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"}", "item 'content' must be"},
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":[1]}", "item 'content' must be"},
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"image\",\"text\":\"\"}]"
         "}",
         "item 'type' must be input_text|output_text|refusal"},
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\"}]}",
         "item 'text' must be a string"},
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":[],\"name\":\"x\"}",
         "item member 'name' is not known"},
        {"{\"type\":\"function_call\",\"call_id\":\"\",\"name\":\"n\",\"arguments\":\"{}\"}",
         "item 'call_id' must be a string that is not empty"},
        {"{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":{}}",
         "item 'arguments' must be a string"},
        {"{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"\",\"is_error\":1}",
         "item 'is_error' must be true or false"},
        {"{\"type\":\"reasoning\",\"summary\":\"\"}", "item member 'summary' is not known"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        assert_null(read_item(cases[i][0], &error));
        assert_int_equal(error.kind, ERROR_BAD_REQUEST);
        assert_non_null(strstr(error.message, cases[i][1]));
    }
}

/* D23: bad bytes and NULs are gone before anything is built on the text. */
static void test_text_becomes_valid(void **state)
{
    (void)state;
    struct item *message = item_message(ROLE_USER, PART_INPUT_TEXT, "a\0b\xFFz", 5);
    assert_string_equal(message->parts[0].text.data, "a" FFFD "b" FFFD "z");
    assert_int_equal(message->parts[0].text.length, 9);
    struct item *call = item_call("c\xC0", "n\xFF", "{\xFE}", 3, false);
    assert_string_equal(call->call_id, "c" FFFD);
    assert_string_equal(call->name, "n" FFFD);
    assert_string_equal(call->arguments.data, "{" FFFD "}");
    item_unref(message);
    item_unref(call);
}

static void test_joins_the_parts_of_a_message(void **state)
{
    (void)state;
    struct item *item =
        read_item("{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
                  "\"text\":\"one \"},{\"type\":\"input_text\",\"text\":\"two\"}]}",
                  NULL);
    struct text text = TEXT_INIT;
    item_append_text(item, &text);
    assert_string_equal(text_cstr(&text), "one two");
    text_release(&text);
    item_unref(item);
}

static void test_attachments_are_copied(void **state)
{
    (void)state;
    char bytes[] = {'P', 'N', 'G', 0, 7}, mime[] = "image/png";
    struct attachment picture = {.mime_type = mime, .data = {bytes, sizeof(bytes)}};
    struct item *item = item_output("c", "see", 3, false);
    assert_true(item_attach(item, &picture));
    bytes[0] = mime[0] = '-';
    assert_int_equal(item->attachment_count, 1);
    assert_string_equal(item->attachments[0].mime_type, "image/png");
    assert_null(item->attachments[0].name);
    assert_int_equal(item->attachments[0].data.length, 5);
    assert_memory_equal(item->attachments[0].data.data, "PNG\0\7", 5);
    item_unref(item);
}

/* D15: the provider's own form lives as long as one of its items. */
static void test_references(void **state)
{
    (void)state;
    struct origin *origin = origin_new("anthropic", "claude");
    struct item *one = item_reasoning("", 0), *two = item_reasoning("", 0);
    one->origin = origin_ref(origin);
    two->origin = origin;
    item_unref(item_ref(one));
    item_unref(one);
    assert_string_equal(two->origin->model, "claude");
    item_unref(two);
    item_unref(NULL);
    origin_unref(NULL);
}

static bool make_all(void)
{
    static const char json[] = "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
                               "\"input_text\",\"text\":\"x\"}]}";
    char text[] = "t";
    struct attachment attachment = {text, text, text, {text, 1}};
    struct item *items[] = {item_message(ROLE_USER, PART_INPUT_TEXT, "hello", 5),
                            item_call("c", "n", "{}", 2, true), item_output("c", "x", 1, false),
                            item_reasoning("r", 1), item_from_json(json, sizeof(json) - 1, NULL)};
    struct origin *origin = origin_new("p", "m");
    bool made = origin && items[2] && item_attach(items[2], &attachment);
    for (size_t i = 0; i < COUNT(items); i++) {
        made &= items[i] != NULL;
        item_unref(items[i]);
    }
    origin_unref(origin);
    return made;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int count = 0;; count++) {
        fail_after(count);
        bool made = make_all();
        if (!fail_never()) {
            assert_true(made);
            break;
        }
        assert_false(made);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_json),
        cmocka_unit_test(test_reads_what_it_writes),
        cmocka_unit_test(test_reads_what_may_be_left_out),
        cmocka_unit_test(test_reads_whether_arguments_are_valid),
        cmocka_unit_test(test_refuses_and_names_the_member),
        cmocka_unit_test(test_text_becomes_valid),
        cmocka_unit_test(test_joins_the_parts_of_a_message),
        cmocka_unit_test(test_attachments_are_copied),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
