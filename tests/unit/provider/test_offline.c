/* The stand-in: which tool it picks, what it fills in, what it admits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "provider/offline.h"
#include "timeline/collect.h"
#include "unit/base/failing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct tool_definition tools[] = {
    {"calculator", "Does arithmetic with two numbers",
     "{\"type\":\"object\",\"properties\":{\"op\":{\"type\":\"string\",\"enum\":[\"add\","
     "\"subtract\",\"multiply\",\"divide\"]},\"a\":{\"type\":\"number\"},\"b\":{\"type\":"
     "\"number\"}},\"required\":[\"op\",\"a\",\"b\"]}"},
    {"counter", "Counts how often it was called", "{\"type\":\"object\",\"properties\":{}}"},
    {"get_weather", "The weather at a place, such as Tokyo",
     "{\"type\":\"object\",\"properties\":{\"location\":{\"type\":\"string\"},\"unit\":{\"type\":"
     "[\"string\",\"null\"]}},\"required\":[\"location\"]}"},
    {"greet", "Greets somebody",
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":"
     "[\"name\"]}"},
    {"repeat", "Says a text again and again",
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"times\":{\"type\":"
     "\"integer\",\"default\":2},\"loud\":{\"type\":\"boolean\"}},\"required\":[\"text\","
     "\"times\",\"loud\"]}"},
};
static struct toolset toolset = {.items = tools, .count = COUNT(tools)};

struct scene {
    struct client *client;
    struct timeline timeline;
    struct collect collect;
    struct stream stream;
    struct text text; /* of the answer */
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){.client = offline_client_new(NULL)};
    assert_non_null(scene->client);
    collect_init(&scene->collect);
    assert_true(collect_register(&scene->collect, &scene->timeline));
    stream_init(&scene->stream, &scene->timeline);
}

static void scene_release(struct scene *scene)
{
    scene->client->ops->free(scene->client);
    stream_release(&scene->stream);
    collect_release(&scene->collect);
    timeline_release(&scene->timeline);
    text_release(&scene->text);
}

static void ask_items(struct scene *scene, struct toolset *set, struct item **items, size_t count)
{
    struct request request = {.items = items, .item_count = count, .tools = set};
    collect_begin(&scene->collect);
    stream_begin(&scene->stream);
    scene->client->ops->attempt(scene->client, &request, &scene->stream, NULL, -1);
    assert_int_equal(scene->stream.error.kind, ERROR_NONE);
    text_reset(&scene->text);
    collect_text(&scene->collect, BLOCK_TEXT, &scene->text);
}

static void ask(struct scene *scene, const char *prompt)
{
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, prompt, strlen(prompt));
    ask_items(scene, &toolset, &item, 1);
    item_unref(item);
}

/* "NAME ARGUMENTS" of the only call, or "" without one. */
static const char *call_of(const struct scene *scene, char *out, size_t size)
{
    *out = '\0';
    for (size_t i = 0; i < scene->collect.count; i++) {
        const struct collected_block *block = &scene->collect.items[i];
        if (block->kind != BLOCK_TOOL_USE)
            continue;
        assert_int_equal(*out, '\0');
        snprintf(out, size, "%s %s", block->name, block->text.data);
    }
    return out;
}

static void test_picks_and_fills(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"What is the weather in Tokyo?", "get_weather {\"location\":\"Tokyo\"}"},
        {"What's the weather like in New York, please?", "get_weather {\"location\":\"New York\"}"},
        {"what is the weather in tokyo", "get_weather {\"location\":\"tokyo\"}"},
        {"Tokyo weather", "get_weather {\"location\":\"Tokyo\"}"},
        {"Weather for \"S\u00e3o Paulo\"", "get_weather {\"location\":\"S\u00e3o Paulo\"}"},
        {"weather in \u6771\u4eac", "get_weather {\"location\":\"\u6771\u4eac\"}"},
        {"get_weather location=Oslo unit=celsius",
         "get_weather {\"location\":\"Oslo\",\"unit\":\"celsius\"}"},
        {"What is 12 divided by 4", "calculator {\"op\":\"divide\",\"a\":12,\"b\":4}"},
        {"What is 12 divided by 4?", "calculator {\"op\":\"divide\",\"a\":12,\"b\":4}"},
        {"Multiply 2.5 and -3.", "calculator {\"op\":\"multiply\",\"a\":2.5,\"b\":-3}"},
        {"7 multiplied by 6", "calculator {\"op\":\"multiply\",\"a\":7,\"b\":6}"},
        {"Please subtract 3 from 10", "calculator {\"op\":\"subtract\",\"a\":3,\"b\":10}"},
        {"calculator op=add a=1 b=2", "calculator {\"op\":\"add\",\"a\":1,\"b\":2}"},
        {"Greet Ada", "greet {\"name\":\"Ada\"}"},
        {"Please greet 'Ada Lovelace' now", "greet {\"name\":\"Ada Lovelace\"}"},
        {"Say a greeting to Grace Hopper. Thanks", "greet {\"name\":\"Grace Hopper\"}"},
        {"count once more", "counter {}"},
        {"repeat \"ho ho\" 3 times", "repeat {\"text\":\"ho ho\",\"times\":3,\"loud\":false}"},
        {"repeat \"ho ho\"", "repeat {\"text\":\"ho ho\",\"times\":2,\"loud\":false}"},
    };
    struct scene scene;
    scene_init(&scene);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char call[200];
        ask(&scene, cases[i][0]);
        assert_string_equal(call_of(&scene, call, sizeof(call)), cases[i][1]);
        assert_int_equal(scene.stream.stop, STOP_TOOL_USE);
        assert_non_null(strstr(scene.text.data, "not a language model"));
        assert_int_equal(scene.collect.usage.input_tokens, -1);
    }
    scene_release(&scene);
}

/* It calls nothing that it had to make arguments up for. */
static void test_names_what_is_missing(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"What is the weather?", "'location'", "Example: get_weather location=something"},
        {"Greet", "'name'", "Example: greet name=something"},
        {"Add 5", "'b'", "Example: calculator op=add a=2 b=2"},
        {"calculator 5 6", "'op'", "op=add"},
    };
    struct scene scene;
    scene_init(&scene);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char call[200];
        ask(&scene, cases[i][0]);
        assert_string_equal(call_of(&scene, call, sizeof(call)), "");
        assert_int_equal(scene.stream.stop, STOP_END);
        assert_non_null(strstr(scene.text.data, "not a language model"));
        assert_non_null(strstr(scene.text.data, cases[i][1]));
        assert_non_null(strstr(scene.text.data, cases[i][2]));
    }
    scene_release(&scene);
}

static void test_lists_the_tools_when_none_fits(void **state)
{
    (void)state;
    static const char *const prompts[] = {"Tell me a joke", "", "   ", "?!", "\"", "a=b=c"};
    struct scene scene;
    scene_init(&scene);
    for (size_t i = 0; i < COUNT(prompts); i++) {
        ask(&scene, prompts[i]);
        assert_int_equal(scene.stream.stop, STOP_END);
        assert_non_null(strstr(scene.text.data, "not a language model"));
        for (size_t j = 0; j < COUNT(tools); j++) {
            assert_non_null(strstr(scene.text.data, tools[j].name));
            assert_non_null(strstr(scene.text.data, tools[j].description));
        }
    }
    ask_items(&scene, NULL, NULL, 0);
    assert_non_null(strstr(scene.text.data, "no tools"));
    scene_release(&scene);
}

/* After the results it answers with them, also when a hook put something behind them. */
static void test_answers_with_the_results(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct item *items[] = {item_output("old", "of an older turn", 16, false),
                            item_message(ROLE_USER, PART_INPUT_TEXT, "Greet Ada", 9),
                            item_call("c1", "greet", "{}", 2, true),
                            item_call("c2", "counter", "{}", 2, true),
                            item_output("c1", "Hello, Ada!", 11, false),
                            item_output("c2", "broken", 6, true),
                            item_message(ROLE_SYSTEM, PART_INPUT_TEXT, "by the way", 10)};
    ask_items(&scene, &toolset, items, COUNT(items));
    assert_string_equal(scene.text.data, "greet answered: Hello, Ada!\ncounter failed: broken");
    assert_int_equal(scene.stream.stop, STOP_END);
    for (size_t i = 0; i < COUNT(items); i++)
        item_unref(items[i]);
    scene_release(&scene);
}

static void test_long_prompts_and_odd_schemas(void **state)
{
    (void)state;
    struct tool_definition odd[] = {
        {"alpha", NULL, "oops"},
        {"beta", "", NULL},
        {"gamma", "x", "{\"properties\":{\"p\":7},\"required\":[\"p\"]}"}};
    struct toolset set = {.items = odd, .count = COUNT(odd)};
    struct text prompt = TEXT_INIT;
    struct scene scene;
    scene_init(&scene);
    for (int i = 0; i < 5000; i++)
        text_puts(&prompt, i == 3 ? "gamma " : "wordwordwordwordwordwordwordwordword ");
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, prompt.data, prompt.length);
    ask_items(&scene, &set, &item, 1);
    assert_non_null(strstr(scene.text.data, "argument 'p'"));
    item_unref(item);
    text_release(&prompt);
    scene_release(&scene);
}

static void test_no_memory(void **state)
{
    (void)state;
    struct scene scene;
    scene_init(&scene);
    struct item *item = item_message(ROLE_USER, PART_INPUT_TEXT, "Greet Ada", 9);
    struct request request = {.items = &item, .item_count = 1, .tools = &toolset};
    for (int count = 0;; count++) {
        stream_begin(&scene.stream);
        collect_begin(&scene.collect);
        fail_after(count);
        scene.client->ops->attempt(scene.client, &request, &scene.stream, NULL, -1);
        if (!fail_never())
            break;
    }
    item_unref(item);
    scene_release(&scene);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picks_and_fills),
        cmocka_unit_test(test_names_what_is_missing),
        cmocka_unit_test(test_lists_the_tools_when_none_fits),
        cmocka_unit_test(test_answers_with_the_results),
        cmocka_unit_test(test_long_prompts_and_odd_schemas),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
