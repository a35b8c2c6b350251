/* What a plugin may have of a caller's scopes: F66. */
#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "plugin/granted.h"
#include "sample.h"

static struct sample sample;
static struct plugin *plugin;
static struct error error;

static int start(void **state)
{
    (void)state;
    sample_init(&sample, "sample");
    plugin = plugin_new("/sample.so", &sample.face, NULL);
    return plugin ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    plugin_unref(plugin);
    return 0;
}

static json_t *json(const char *text)
{
    json_t *list = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(list);
    return list;
}

static bool give(const char *text)
{
    json_t *list = json(text);
    bool given = granted_read(plugin, list, &error);
    assert_int_equal(given, granted_are(plugin, list)); /* what is read is what it is */
    json_decref(list);
    return given;
}

static void are(const char *text, bool wanted)
{
    json_t *list = json(text);
    assert_int_equal(granted_are(plugin, list), wanted);
    json_decref(list);
}

static void left_of(const char *scopes, const char *wanted)
{
    const char *left = granted_of(plugin, scopes, &plugin->memory);
    if (wanted)
        assert_string_equal(left, wanted);
    else
        assert_null(left);
}

static void test_without_a_list(void **state)
{
    (void)state;
    assert_true(granted_read(plugin, NULL, &error));
    assert_true(granted_are(plugin, NULL));
    are("[]", false);
    assert_true(granted_has(plugin, "anything"));
    left_of("a b", "a b");
    left_of(NULL, NULL);
}

static void test_with_a_list(void **state)
{
    (void)state;
    assert_true(give("[\"mail.read\", \"notes\"]"));
    assert_false(granted_are(plugin, NULL));
    are("[\"mail.read\", \"notes\"]", true);
    are("[\"mail.read\"]", false);
    are("[\"mail.read\", \"notes\", \"x\"]", false);
    are("[\"mail.read\", 1]", false);
    are("{}", false);
    assert_true(granted_has(plugin, "notes"));
    assert_false(granted_has(plugin, "note"));
    assert_false(granted_has(plugin, "mail"));
    assert_false(granted_has(plugin, ""));
    left_of("notes", "notes");
    left_of("admin notes mail notes.x mail.read", "notes mail.read");
    left_of("admin", "");
    left_of("", "");
    left_of(NULL, NULL);
}

static void test_with_nothing(void **state)
{
    (void)state;
    assert_true(give("[]"));
    assert_false(granted_has(plugin, "notes"));
    left_of("notes mail", "");
}

/* What is no list grants nothing by mistake: the plugin is refused. */
static void test_no_list(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\"notes\"", "null", "true", "{}", "[1]", "[\"\"]",
                                        "[\"a\", null]", "[\"a b\"]", "[\"a,b\"]",
                                        "[\"a\\u0000b\"]"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        json_t *list = json_loads(wrong[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(list);
        assert_false(granted_read(plugin, list, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, "must be a list of scopes"));
        json_decref(list);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_without_a_list), TEST(test_with_a_list),
                                       TEST(test_with_nothing), TEST(test_no_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
