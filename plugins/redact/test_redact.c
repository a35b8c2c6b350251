#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

#include <time.h>

#include <jansson.h>

#include "base/text.h"

static struct timeline timeline; /* nobody listens */

#define KEY    "sk-ant-api03-abcDEF123456789_xyz-000"
#define GITHUB "ghp_0123456789abcdefghijABCDEFGHIJ012345"
#define JWT                                                                                        \
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQ"
#define PEM(n)                                                                                     \
    "-----BEGIN RSA PRIVATE KEY-----" n "MIIEow+IBAA/KCAQEA" n "ab12==" n                          \
    "-----END RSA PRIVATE KEY-----"
#define R "[redacted]"

/* What the hooks make of a result; for free(). */
static char *redact(struct registry *registry, const char *text, size_t length)
{
    struct hook_setting setting = {.registry = registry, .timeline = &timeline};
    struct tool tool = {.meta = {.size = sizeof(tool.meta), .name = "any"}};
    struct hook_tool_call call = {.tool = &tool, .call_id = "c", .count = 1};
    struct hook_outcome outcome = {0};
    call.result.data = malloc(length + 1);
    memcpy(call.result.data, text, length);
    call.result.data[length] = '\0';
    call.result.length = length;
    hooks_post_tool_call(&setting, &call, &outcome);
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
    assert_int_equal(strlen(call.result.data), call.result.length);
    return call.result.data;
}

static void check(struct registry *registry, const char *text, const char *expected)
{
    json_t *before = json_loads(text, JSON_DECODE_ANY, NULL);
    char *once = redact(registry, text, strlen(text));
    assert_string_equal(once, expected);
    char *twice = redact(registry, once, strlen(once));
    assert_string_equal(twice, once);
    if (before) {
        json_t *after = json_loads(once, JSON_DECODE_ANY, NULL);
        assert_non_null(after);
        json_decref(after);
    }
    json_decref(before);
    free(once);
    free(twice);
}

static void knows_formats_of_keys(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"the key is " KEY ".", "the key is " R "."},
        {"KEY=" KEY "\nTOKEN=" GITHUB, "KEY=" R "\nTOKEN=" R},
        {"github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz", R},
        {"AKIAIOSFODNN7EXAMPLE", R},
        {"xoxb-123456789012-abcdef", R},
        {"Authorization: Bearer abcdef.ghijkl/mnopqr+stuv==", "Authorization: Bearer " R},
        {"bearer of good news and of more than that", "bearer of good news and of more than that"},
        {"t=" JWT "&x", "t=" R "&x"},
        {"a\n" PEM("\n") "\nb", "a\n" R "\nb"},
        {"\""
         "-----BEGIN PRIVATE KEY-----\\nMII",
         "\"" R},
        {"-----BEGIN CERTIFICATE-----\nMII", "-----BEGIN CERTIFICATE-----\nMII"},
        {"line\\n" KEY "\\tx", "line\\n" R "\\tx"},
        {"url%3D" KEY, "url%3D" R},
        {"risk-of-something-rather-long-1234567", "risk-of-something-rather-long-1234567"},
        {"sk-learn-is-a-library-for-python-users", "sk-learn-is-a-library-for-python-users"},
        {"sk-short1 ghp_short1 AKIA eyJ xoxb-", "sk-short1 ghp_short1 AKIA eyJ xoxb-"},
        {KEY " " R " " KEY, R " " R " " R},
        {"", ""},
    };
    (void)state;
    struct registry *registry = plugin_test_load("{\"keys\":true}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(registry, cases[i].text, cases[i].expected);
    registry_unref(registry);
}

static void keeps_json_valid(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {" {\"a\" : \"" KEY "\", \"b\\u0041\":[1.50, \"\\/\"]}\n",
         " {\"a\" : \"" R "\", \"b\\u0041\":[1.50, \"\\/\"]}\n"},
        {"{\"a\":\"x\\n" KEY "\\\"y\\u20ac\"}", "{\"a\":\"x\\n" R "\\\"y\xe2\x82\xac\"}"},
        {"{\"a\":\"" PEM("\\n") "\\n\"}", "{\"a\":\"" R "\\n\"}"},
        {"{\"" KEY "\":1}", "{\"" R "\":1}"},
        {"[\"{\\\"k\\\":\\\"\\\\n" KEY "\\\"}\"]", "[\"{\\\"k\\\":\\\"\\\\n" R "\\\"}\"]"},
        {"[\"a\\u0000" KEY "\"]", "[\"a\\u0000" R "\"]"},
        {"[\"s\\u006b-ant-api03-abcDEF123456789\"]", "[\"" R "\"]"},
        {"\"" KEY "\"", "\"" R "\""},
        {"[log] " PEM("\n"), "[log] " R},
        {"{\"a\":\"b\"}\n{\"a\":\"\\n" KEY "\"}\n", "{\"a\":\"b\"}\n{\"a\":\"\\n" R "\"}\n"},
    };
    (void)state;
    struct registry *registry = plugin_test_load("{\"keys\":true}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(registry, cases[i].text, cases[i].expected);
    registry_unref(registry);
}

static void hides_what_is_configured(void **state)
{
    (void)state;
    setenv("TEST_REDACT_SECRET", "pa\"ss\\word", 1);
    unsetenv("TEST_REDACT_NONE");
    struct registry *registry =
        plugin_test_load("{\"keys\":false,\"texts\":[\"hunter2\",\"hunter2000\",\"98765\"],"
                         "\"environment\":[\"TEST_REDACT_SECRET\",\"TEST_REDACT_NONE\"],"
                         "\"patterns\":[\"^id: [0-9]+$\",\"x*\xc3\xa9+y\"]}");
    check(registry, "hunter2 hunter2000 xhunter2x " KEY, R " " R " x" R "x " KEY);
    check(registry, "is pa\"ss\\word here", "is " R " here");
    check(registry, "log {\"p\":\"pa\\\"ss\\\\word\"}", "log {\"p\":\"" R "\"}");
    check(registry, "{\"p\":\"pa\\\"ss\\\\word\",\"n\":98765,\"m\":1}",
          "{\"p\":\"" R "\",\"n\":\"" R "\",\"m\":1}");
    check(registry, "id: 1\nid: 2x\nid: 3", R "\nid: 2x\n" R);
    check(registry, "a xx\xc3\xa9y\xc3\xa9yb", "a " R R "b");
    registry_unref(registry);
}

/* Nothing is found in what was cut before, and nothing grows out of it. */
static void is_stable(void **state)
{
    (void)state;
    struct registry *registry =
        plugin_test_load("{\"texts\":[\"ab[r\",\"ed]x\",\"AKIAB\"],\"patterns\":[\"a+$\",\"^b\"]}");
    check(registry, "ababab[r[redacted]xed]x", "abab" R R "x" R);
    check(registry, "ab[redacted]x", "ab" R "x");
    check(registry, "bbbaaa", R "bb" R);
    registry_unref(registry);
}

static struct hook_outcome request(struct registry *registry, struct item_list *items)
{
    struct hook_setting setting = {.registry = registry, .timeline = &timeline};
    struct item_list appended = {0};
    struct hook_outcome outcome = {0};
    hooks_pre_llm_request(&setting, items, 0, 0, "m", &appended, &outcome);
    item_list_release(&appended);
    return outcome;
}

static void cleans_requests(void **state)
{
    static const char *const items[][2] = {
        {"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\""
         "my " KEY "\"}]}",
         "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\""
         "my " R "\"}]}"},
        {"{\"type\":\"function_call\",\"call_id\":\"user\",\"name\":\"user\",\"arguments\":"
         "\"{\\\"k\\\":\\\"\\\\n" KEY "\\\"}\"}",
         "{\"type\":\"function_call\",\"call_id\":\"user\",\"name\":\"user\",\"arguments\":"
         "\"{\\\"k\\\":\\\"\\\\n" R "\\\"}\"}"},
        {"{\"type\":\"function_call_output\",\"call_id\":\"user\",\"output\":\"the user " KEY
         "\",\"is_error\":false}",
         "{\"type\":\"function_call_output\",\"call_id\":\"user\",\"output\":\"the " R " " R
         "\",\"is_error\":false}"},
        {"{\"type\":\"reasoning\",\"text\":\"" KEY "\"}",
         "{\"type\":\"reasoning\",\"text\":\"" KEY "\"}"},
    };
    enum { COUNT = sizeof(items) / sizeof(items[0]) };
    struct registry *registry = plugin_test_load("{\"keys\":true,\"texts\":[\"user\"]}");
    struct item_list list = {0};
    struct item *kept[COUNT];
    struct text json = TEXT_INIT;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        struct error error = ERROR_INIT;
        kept[i] = item_from_json(items[i][0], strlen(items[i][0]), &error);
        assert_non_null(kept[i]);
        assert_true(item_list_add(&list, item_ref(kept[i])));
    }
    assert_int_equal(request(registry, &list).verdict, MORTISE_CONTINUE);
    for (size_t i = 0; i < COUNT; i++) {
        text_release(&json);
        item_write_json(list.items[i], &json);
        assert_string_equal(text_cstr(&json), items[i][1]);
        text_release(&json); /* what is stored stays as it was */
        item_write_json(kept[i], &json);
        assert_string_equal(text_cstr(&json), items[i][0]);
        item_unref(kept[i]);
    }
    text_release(&json);
    item_list_release(&list);
    registry_unref(registry);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BIG_BYTES = 200000 }; /* sanitizers are slow */
#else
enum { BIG_BYTES = 1000000 };
#endif

static double seconds_for(struct registry *registry, const char *unit, const char *around)
{
    struct text text = TEXT_INIT;
    struct timespec before, after;
    if (around)
        text_puts(&text, "[\"");
    while (text.length < BIG_BYTES)
        text_puts(&text, unit);
    if (around)
        text_puts(&text, "\"]");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    free(redact(registry, text.data, text.length));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    text_release(&text);
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

/* Texts that make a careless search start again and again. */
static void takes_linear_time(void **state)
{
    static const char *const units[] = {"A line of plain words, as most results have.\\n",
                                        "sk-",
                                        "eyJ-",
                                        "eyJ-eyJ-eyJ-eyJ-.a.",
                                        "-----BEGIN PRIVATE KEY-----",
                                        "-----BEGIN ",
                                        "-",
                                        "Bearer ",
                                        "xoxb-",
                                        KEY " ",
                                        R,
                                        "a",
                                        "\\\\",
                                        "\\u20ac",
                                        "{[",
                                        "hunte",
                                        "\",\"",
                                        "\",\"[",
                                        "\",\"{\\\"a\\\":1}"};
    (void)state;
    struct registry *registry =
        plugin_test_load("{\"texts\":[\"hunter2\"],\"patterns\":[\"id[0-9]{6}\"]}");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double plain = seconds_for(registry, units[i], NULL);
        double json = seconds_for(registry, units[i], "json");
        print_message("%.3f s, as JSON %.3f s: %.40s\n", plain, json, units[i]);
        assert_true(plain < 5 && json < 5); /* of the processor's; quadratic takes minutes */
    }
    registry_unref(registry);
}

static void has_no_hooks_unless_configured(void **state)
{
    static const char *const nothing[] = {"{}", "{\"keys\":false}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct registry *registry = plugin_test_load(nothing[i]);
        assert_int_equal(registry_hook_count(registry), 0);
        registry_unref(registry);
    }
}

static void lets_no_run_begin_with_wrong_settings(void **state)
{
    (void)state;
    setenv("TEST_REDACT_SHORT", "abc", 1);
    plugin_test_closed("{\"texts\":\"a\"}", "list of texts");
    plugin_test_closed("{\"texts\":[\"long\",\"abc\"]}", "text 2 of \"texts\" cannot be redacted");
    plugin_test_closed("{\"texts\":[\"redact\"]}", "cannot be redacted");
    plugin_test_closed("{\"environment\":[\"TEST_REDACT_SHORT\"]}", "'TEST_REDACT_SHORT'");
    plugin_test_closed("{\"patterns\":[\"a(\"]}", "pattern 'a('");
    plugin_test_closed("{\"patterns\":[\"a*\"]}", "it matches nothing");
    plugin_test_closed("{\"patterns\":[\"(a)\\\\1\"]}", "refers back");
    plugin_test_closed("{\"keys\":1}", "neither true nor false");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_formats_of_keys),
        cmocka_unit_test(keeps_json_valid),
        cmocka_unit_test(hides_what_is_configured),
        cmocka_unit_test(is_stable),
        cmocka_unit_test(cleans_requests),
        cmocka_unit_test(takes_linear_time),
        cmocka_unit_test(has_no_hooks_unless_configured),
        cmocka_unit_test(lets_no_run_begin_with_wrong_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
