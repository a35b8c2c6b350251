#include <mortise/test.h>

#include "redact.c"

#include <time.h>

#include <jansson.h>

#define KEY    "sk-ant-api03-abcDEF123456789_xyz-000"
#define GITHUB "ghp_0123456789abcdefghijABCDEFGHIJ012345"
#define JWT                                                                                        \
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQ"
#define PEM(n)                                                                                     \
    "-----BEGIN RSA PRIVATE KEY-----" n "MIIEow+IBAA/KCAQEA" n "ab12==" n                          \
    "-----END RSA PRIVATE KEY-----"
#define R "[redacted]"

/* What the hooks make of a result. */
static const mortise_test_decision *redact(mortise_test *test, const char *text, size_t length)
{
    const mortise_test_decision *decision = mortise_test_hook(
        test, &redact_hooks, post_tool_call, .result = text, .result_length = length);
    mortise_test_verdict(decision, MORTISE_CONTINUE, "");
    mortise_test_true(strlen(decision->result) == decision->result_length);
    return decision;
}

static void check(mortise_test *test, const char *text, const char *expected)
{
    json_t *before = json_loads(text, JSON_DECODE_ANY, NULL);
    const mortise_test_decision *once = redact(test, text, strlen(text));
    mortise_test_same(once->result, expected);
    mortise_test_same(redact(test, once->result, once->result_length)->result, once->result);
    if (before) {
        json_t *after = json_loads(once->result, JSON_DECODE_ANY, NULL);
        mortise_test_true(after != NULL);
        json_decref(after);
    }
    json_decref(before);
}

static void knows_formats_of_keys(void)
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
    mortise_test *test = mortise_test_open("{\"keys\":true}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(test, cases[i].text, cases[i].expected);
    mortise_test_close(test);
}

static void keeps_json_valid(void)
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
    mortise_test *test = mortise_test_open("{\"keys\":true}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(test, cases[i].text, cases[i].expected);
    mortise_test_close(test);
}

static void hides_what_is_configured(void)
{
    setenv("TEST_REDACT_SECRET", "pa\"ss\\word", 1);
    unsetenv("TEST_REDACT_NONE");
    mortise_test *test =
        mortise_test_open("{\"keys\":false,\"texts\":[\"hunter2\",\"hunter2000\",\"98765\"],"
                          "\"environment\":[\"TEST_REDACT_SECRET\",\"TEST_REDACT_NONE\"],"
                          "\"patterns\":[\"^id: [0-9]+$\",\"x*\xc3\xa9+y\"]}");
    check(test, "hunter2 hunter2000 xhunter2x " KEY, R " " R " x" R "x " KEY);
    check(test, "is pa\"ss\\word here", "is " R " here");
    check(test, "log {\"p\":\"pa\\\"ss\\\\word\"}", "log {\"p\":\"" R "\"}");
    check(test, "{\"p\":\"pa\\\"ss\\\\word\",\"n\":98765,\"m\":1}",
          "{\"p\":\"" R "\",\"n\":\"" R "\",\"m\":1}");
    check(test, "id: 1\nid: 2x\nid: 3", R "\nid: 2x\n" R);
    check(test, "a xx\xc3\xa9y\xc3\xa9yb", "a " R R "b");
    mortise_test_close(test);
}

/* Nothing is found in what was cut before, and nothing grows out of it. */
static void is_stable(void)
{
    mortise_test *test = mortise_test_open(
        "{\"texts\":[\"ab[r\",\"ed]x\",\"AKIAB\"],\"patterns\":[\"a+$\",\"^b\"]}");
    check(test, "ababab[r[redacted]xed]x", "abab" R R "x" R);
    check(test, "ab[redacted]x", "ab" R "x");
    check(test, "bbbaaa", R "bb" R);
    mortise_test_close(test);
}

static void cleans_requests(void)
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
    const char *before[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        before[i] = items[i][0];
    mortise_test *test = mortise_test_open("{\"keys\":true,\"texts\":[\"user\"]}");
    mortise_test_items(test, before, COUNT);
    const mortise_test_decision *decision =
        mortise_test_hook(test, &redact_hooks, pre_llm_request, .turn = 0);
    mortise_test_verdict(decision, MORTISE_CONTINUE, "");
    mortise_test_true(decision->item_count == COUNT);
    for (size_t i = 0; i < COUNT; i++)
        mortise_test_same(decision->items[i], items[i][1]);

    mortise_test_items(test, before, COUNT); /* what is locked is left as it is */
    decision = mortise_test_hook(test, &redact_hooks, pre_llm_request, .locked_prefix = 1);
    mortise_test_same(decision->items[0], items[0][0]);
    mortise_test_same(decision->items[1], items[1][1]);
    mortise_test_close(test);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BIG_BYTES = 50000 }; /* sanitizers are slow */
#else
enum { BIG_BYTES = 1000000 };
#endif

static double seconds_for(const char *unit, const char *around)
{
    mortise_test *test =
        mortise_test_open("{\"texts\":[\"hunter2\"],\"patterns\":[\"id[0-9]{6}\"]}");
    struct timespec before, after;
    size_t length = 0, room = BIG_BYTES + strlen(unit) + 8;
    char *text = calloc(1, room);
    if (around)
        length = (size_t)snprintf(text, room, "[\"");
    while (length < BIG_BYTES)
        length += (size_t)snprintf(text + length, room - length, "%s", unit);
    if (around)
        length += (size_t)snprintf(text + length, room - length, "\"]");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    redact(test, text, length);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    free(text);
    mortise_test_close(test);
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

/* Texts that make a careless search start again and again. */
static void takes_linear_time(void)
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
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        double plain = seconds_for(units[i], NULL);
        double json = seconds_for(units[i], "json");
        printf("%.3f s, as JSON %.3f s: %.40s\n", plain, json, units[i]);
        mortise_test_true(plain < 5 && json < 5); /* of the processor's; quadratic takes minutes */
    }
}

static void has_no_hooks_unless_configured(void)
{
    static const char *const nothing[] = {"{}", "{\"keys\":false}"};
    for (size_t i = 0; i < 2; i++) {
        mortise_test *test = mortise_test_open(nothing[i]);
        mortise_test_true(!mortise_test_has_hooks(test, &redact_hooks));
        mortise_test_close(test);
    }
}

static void lets_no_run_begin_with_wrong_settings(void)
{
    setenv("TEST_REDACT_SHORT", "abc", 1);
    mortise_test_refused("{\"texts\":\"a\"}", "list of texts");
    mortise_test_refused("{\"texts\":[\"long\",\"abc\"]}",
                         "text 2 of \"texts\" cannot be redacted");
    mortise_test_refused("{\"texts\":[\"redact\"]}", "cannot be redacted");
    mortise_test_refused("{\"environment\":[\"TEST_REDACT_SHORT\"]}", "'TEST_REDACT_SHORT'");
    mortise_test_refused("{\"patterns\":[\"a(\"]}", "pattern 'a('");
    mortise_test_refused("{\"patterns\":[\"a*\"]}", "it matches nothing");
    mortise_test_refused("{\"patterns\":[\"(a)\\\\1\"]}", "refers back");
    mortise_test_refused("{\"keys\":1}", "neither true nor false");
}

int main(void)
{
    knows_formats_of_keys();
    keeps_json_valid();
    hides_what_is_configured();
    is_stable();
    cleans_requests();
    takes_linear_time();
    has_no_hooks_unless_configured();
    lets_no_run_begin_with_wrong_settings();
    return mortise_test_status();
}
