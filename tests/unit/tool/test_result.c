/* What a tool's answer becomes for the model: T18-T20, T31, T57, F22-F25, F49, F66-F74, R6-R8. */
#include "fake.h"

#include "base/utf8.h"

struct ask {
    const char *how;
    int64_t status;
    bool seen_how, seen_status;
};
static const mortise_field ask_fields[] = {
    FAKE_FIELD(ask, how, MORTISE_STRING, .fallback = "\"\""),
    FAKE_FIELD(ask, status, MORTISE_INTEGER, .fallback = "0"),
};
FAKE_SHAPE(ask, ask_fields);

/* ---- answers ---- */

static mortise_status answer(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    const struct ask *ask = args;
    const mortise_call_ops *ops = call->ops;
    if (!strcmp(ask->how, "text"))
        ops->reply(call, MORTISE_TEXT_RESULT, "100% \"done\"\n", 12);
    else if (!strcmp(ask->how, "json"))
        ops->reply(call, MORTISE_JSON_RESULT, "{ \"z\": 1.10, \"a\": 2 }", 21);
    else if (!strcmp(ask->how, "bad json"))
        ops->reply(call, MORTISE_JSON_RESULT, "{\"a\":oops}", 10);
    else if (!strcmp(ask->how, "bad bytes"))
        ops->reply(call, MORTISE_TEXT_RESULT, "a\xFF\0b\xC3", 5);
    else if (!strcmp(ask->how, "twice"))
        fake_reply(call, "first"), fake_reply(call, "second");
    else if (!strcmp(ask->how, "plain"))
        return fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "disk full");
    else if (!strcmp(ask->how, "input"))
        return fake_fail(call, MORTISE_INVALID_INPUT, NULL, NULL, "Cannot divide by zero");
    else if (!strcmp(ask->how, "limited"))
        return fake_fail(call, MORTISE_RATE_LIMITED, NULL, "api.limit", "wait a minute");
    else if (!strcmp(ask->how, "structured"))
        return fake_fail(call, MORTISE_MISSING, "database", "db.no_row", "no row 5");
    else if (!strcmp(ask->how, "structured internal"))
        return fake_fail(call, MORTISE_INTERNAL, "database", "db.locked", "locked\xFF");
    else if (!strcmp(ask->how, "forgotten return"))
        fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "no disk");
    else if (!strcmp(ask->how, "failed but replied"))
        fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "no disk"), fake_reply(call, "recovered");
    else if (!strcmp(ask->how, "no message"))
        return fake_fail(call, MORTISE_INTERNAL, NULL, NULL, "");
    else if (!strcmp(ask->how, "no error"))
        return (ops->fail)(call, NULL);
    return (mortise_status)ask->status;
}
FAKE_TOOL(answer, MORTISE_READ_ONLY, .shape = &ask_shape);

static struct registry *answers(void)
{
    static const mortise_tool *const tools[] = {&answer_tool, NULL};
    return fake_registry(tools, NULL);
}

/* T8, T57: arguments in, text or JSON out. */
static void test_answers(void **state)
{
    (void)state;
    struct registry *registry = answers();
    assert_answer(registry, "answer", "{\"how\":\"text\"}", "100% \"done\"\n");
    assert_answer(registry, "answer", "{\"how\":\"json\"}", "{ \"z\": 1.10, \"a\": 2 }");
    assert_answer(registry, "answer", "{\"how\":\"twice\"}", "second");
    assert_answer(registry, "answer", "{\"how\":\"bad bytes\"}",
                  "a\xEF\xBF\xBD\xEF\xBF\xBD"
                  "b\xEF\xBF\xBD");
    assert_answer(registry, "answer", "{\"how\":\"failed but replied\"}", "recovered");
    assert_answer(registry, "answer", "", ""); /* MORTISE_OK and nothing to say */
    registry_unref(registry);
}

/* T18-T20, T32, T40, F22-F24: what failed has a kind and a code that can be compared. */
static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *how, *category, *component, *code, *text;
    } cases[] = {
        {"plain", "internal", "tool", "tool.error", "Execution failed: disk full"},
        {"input", "invalid_input", "tool", "tool.error", "Invalid argument: Cannot divide by zero"},
        {"limited", "rate_limited", "tool", "api.limit", "tool.rate_limited: wait a minute"},
        {"structured", "not_found", "database", "db.no_row", "database.not_found: no row 5"},
        {"structured internal", "internal", "database", "db.locked",
         "database.internal: locked\xEF\xBF\xBD"},
        {"forgotten return", "internal", "tool", "tool.error", "Execution failed: no disk"},
        {"no message", "internal", "tool", "tool.error",
         "Execution failed: the tool gave no reason"},
        {"no error", "internal", "tool", "tool.error", "Execution failed: the tool gave no reason"},
        {"bad json", "internal", "host", "tool.bad_json",
         "Internal error: tool 'answer' replied with JSON that is not valid: invalid JSON at line "
         "1, column 9 near '{\"a\":oops}': invalid token"},
    };
    struct registry *registry = answers();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char arguments[64];
        struct tool_result result;
        snprintf(arguments, sizeof(arguments), "{\"how\":\"%s\"}", cases[i].how);
        fake_call(registry, "answer", arguments, &result);
        assert_false(result.success);
        assert_string_equal(text_cstr(&result.text), cases[i].text);
        assert_string_equal(result.category, cases[i].category);
        assert_string_equal(result.component, cases[i].component);
        assert_string_equal(result.code, cases[i].code);
        assert_true(result.duration_us > 0);
        tool_result_release(&result);
    }
    registry_unref(registry);
}

static void test_statuses_without_a_word(void **state)
{
    (void)state;
    static const struct {
        mortise_status status;
        const char *category, *text;
    } cases[] = {
        {MORTISE_FAILED, "internal", "Execution failed: the tool gave no reason"},
        {MORTISE_CANCELLED, "cancelled",
         "tool.cancelled: the tool stopped because the call was cancelled"},
        {MORTISE_UNSUPPORTED, "unsupported", "tool.unsupported: this is not supported"},
        {MORTISE_NO_MEMORY, "internal", "Execution failed: out of memory"},
        {MORTISE_DENIED, "forbidden", "tool.forbidden: this is not allowed"},
        {MORTISE_NOT_FOUND, "not_found", "tool.not_found: not found"},
        {MORTISE_INVALID, "invalid_input",
         "Invalid argument: the tool cannot use what it was given"},
        {MORTISE_CONFLICT, "unavailable",
         "tool.unavailable: somebody else was faster; try again"},
        {7, "internal",
         "Internal error: tool 'answer' of plugin 'fake' ended with the unknown status 7"},
        {-99, "internal",
         "Internal error: tool 'answer' of plugin 'fake' ended with the unknown status -99"},
    };
    struct registry *registry = answers();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char arguments[64];
        snprintf(arguments, sizeof(arguments), "{\"status\":%d}", (int)cases[i].status);
        assert_failure(registry, "answer", arguments, cases[i].category, cases[i].text);
    }
    registry_unref(registry);
}

static void test_arguments_that_do_not_fit(void **state)
{
    (void)state;
    struct registry *registry = answers();
    struct tool_result result;
    assert_failure(registry, "answer", "{\"status\":\"x\"}", "invalid_input",
                   "Invalid argument: 'status' must be an integer, got \"x\"");
    fake_call(registry, "answer", "{\"how\": oops", &result);
    assert_non_null(
        strstr(text_cstr(&result.text), "Invalid argument: the arguments are not valid JSON: "));
    assert_string_equal(result.code, "tool.arguments");
    assert_int_equal(result.duration_us, 0);
    tool_result_release(&result);
    registry_unref(registry);
}

/* ---- large results and attachments ---- */

#define LARGE ((size_t)5 << 20)

static mortise_status large(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    char *text = malloc(LARGE);
    memset(text, 'x', LARGE);
    mortise_status status = call->ops->reply(call, MORTISE_TEXT_RESULT, text, LARGE);
    free(text);
    return status;
}
FAKE_TOOL(large, 0, .input_schema = "{\"type\":\"object\"}");

static mortise_status attached(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    static char bytes[((size_t)10 << 20) + 1];
    mortise_attachment image = {.size = sizeof(image), .mime_type = "image/png", .name = "dot\xFF"};
    image.data = "a\0b";
    image.length = 3;
    assert_int_equal(call->ops->attach(call, &image), MORTISE_OK);
    mortise_attachment link = {.size = sizeof(link), .uri = "https://example.org/x"};
    assert_int_equal(call->ops->attach(call, &link), MORTISE_OK);
    mortise_attachment nothing = {.size = sizeof(nothing), .mime_type = "image/png"};
    assert_int_equal(call->ops->attach(call, &nothing), MORTISE_INVALID);
    assert_int_equal(call->ops->attach(call, NULL), MORTISE_INVALID);
    mortise_attachment huge = {.size = sizeof(huge), .data = bytes, .length = sizeof(bytes)};
    assert_int_equal(call->ops->attach(call, &huge), MORTISE_INVALID); /* F74 */
    huge.length--;
    assert_int_equal(call->ops->attach(call, &huge), MORTISE_OK);
    return fake_reply(call, "see there");
}
FAKE_TOOL(attached, 0, .input_schema = "{\"type\":\"object\"}");

static void test_large_results_are_whole(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&large_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    struct tool_result result;
    fake_call(registry, "large", "{}", &result);
    assert_int_equal(result.text.length, LARGE);
    tool_result_release(&result);
    registry_unref(registry);
}

/* F73: parts by their constructors: bytes, a URI, both. */
static void test_attachments(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&attached_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    struct tool_result result;
    fake_call(registry, "attached", "{}", &result);
    assert_true(result.success);
    assert_int_equal(result.attachment_count, 3);
    assert_string_equal(result.attachments[0].mime_type, "image/png");
    assert_string_equal(result.attachments[0].name, "dot\xEF\xBF\xBD");
    assert_int_equal(result.attachments[0].data.length, 3);
    assert_memory_equal(result.attachments[0].data.data, "a\0b", 3);
    /* F70: those with bytes stand first. */
    assert_int_equal(result.attachments[1].data.length, (size_t)10 << 20);
    assert_string_equal(result.attachments[2].uri, "https://example.org/x");
    assert_string_equal(result.attachments[2].mime_type, "application/octet-stream");
    assert_null(result.attachments[2].data.data);
    tool_result_release(&result);
    registry_unref(registry);
}

/* ---- what is refused before the tool is entered ---- */

static int entered;

static mortise_status guarded(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self;
    entered++;
    return fake_reply(call, "%s", (const char *)args);
}
static const char *const guarded_scopes[] = {"mail.read", "mail.send", NULL};
FAKE_TOOL(guarded, 0, .scopes = guarded_scopes, .input_schema = "{\"type\":\"object\"}");

static mortise_status boxed(const mortise_tool *self, mortise_call *call, const void *args)
{
    return guarded(self, call, args);
}
FAKE_TOOL(boxed, MORTISE_SANDBOX_REQUIRED, .input_schema = "{\"type\":\"object\"}");

static void test_scopes(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&guarded_tool, NULL};
    static const char *const some[] = {"mail.read", NULL};
    static const char *const all[] = {"x", "mail.send", "mail.read", NULL};
    struct registry *registry = fake_registry(tools, NULL);
    struct tool_result result;
    entered = 0;
    assert_failure(registry, "guarded", "{}", "forbidden",
                   "Tool 'guarded' is not allowed here: the caller lacks the scopes mail.read, "
                   "mail.send");
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = some}, NULL, &result);
    assert_string_equal(result.text.data, "Tool 'guarded' is not allowed here: the caller lacks "
                                          "the scopes mail.send");
    tool_result_release(&result);
    assert_int_equal(entered, 0);
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = all}, NULL, &result);
    assert_true(result.success);
    assert_int_equal(entered, 1);
    tool_result_release(&result);
    registry_unref(registry);
}

/* F66: what the operator withholds from a plugin no caller can give to it. */
static void test_granted_scopes(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&guarded_tool, NULL};
    static const char *const granted[] = {"mail.read", NULL};
    static const char *const both[] = {"mail.read", "mail.send", NULL};
    static const char *const caller[] = {"mail.send", "mail.read", NULL};
    static const char *const no_caller[] = {"mail.send", NULL};
    struct registry *registry = fake_registry(tools, NULL);
    struct plugin *plugin = registry_plugin(registry, 0);
    struct tool_result result;
    entered = 0;
    plugin->scopes = granted;
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = caller}, NULL,
              &result);
    assert_string_equal(result.text.data, "Tool 'guarded' is not allowed here: its plugin is not "
                                          "granted the scopes mail.send");
    assert_string_equal(result.category, "forbidden");
    tool_result_release(&result);
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = no_caller}, NULL,
              &result);
    assert_string_equal(result.text.data, "Tool 'guarded' is not allowed here: the caller lacks "
                                          "the scopes mail.read");
    tool_result_release(&result);
    plugin->scopes = both; /* which give a caller nothing that it has not */
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = no_caller}, NULL,
              &result);
    assert_false(result.success);
    tool_result_release(&result);
    assert_int_equal(entered, 0);
    tool_call(registry, "guarded", "{}", 2, &(struct call_context){.scopes = caller}, NULL,
              &result);
    assert_true(result.success);
    assert_int_equal(entered, 1);
    tool_result_release(&result);
    registry_unref(registry);
}

static void test_sandbox_required(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&boxed_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    entered = 0;
    assert_failure(
        registry, "boxed", "{}", "unsupported",
        "Tool 'boxed' may only run in a sandbox, and this host has none: it was not run");
    assert_int_equal(entered, 0);
    registry_unref(registry);
}

/* A tool with its own schema gets the model's bytes, once they fit. */
static mortise_status raw(const mortise_tool *self, mortise_call *call, const void *args)
{
    return guarded(self, call, args);
}
FAKE_TOOL(raw, 0, .input_schema = "{\"type\":\"object\",\"required\":[\"id\"]}");

/* T30: to the byte. */
static void test_raw_arguments(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&raw_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    entered = 0;
    assert_answer(registry, "raw", "{ \"id\": 1.10 }", "{ \"id\": 1.10 }");
    assert_int_equal(entered, 1);
    assert_answer(registry, "raw", "{\"id\":36893488147419103232}",
                  "{\"id\":36893488147419103232}");
    assert_int_equal(entered, 2);
    assert_failure(registry, "raw", "{}", "invalid_input", "Invalid argument: 'id' is required");
    assert_failure(registry, "raw", "[]", "invalid_input",
                   "Invalid argument: the arguments must be of type object, got []");
    assert_int_equal(entered, 2);
    registry_unref(registry);
}

/* ---- names ---- */

/* T31, T38, W46 */
static void test_names(void **state)
{
    (void)state;
    static const mortise_tool *const tools[] = {&raw_tool, &large_tool, &attached_tool, NULL};
    struct registry *registry = fake_registry(tools, NULL);
    assert_failure(registry, "teleport", "{}", "not_found",
                   "Tool 'teleport' not found. The tools are: attached, large, raw");
    assert_failure(registry, "lrage", "{}", "not_found",
                   "Tool 'lrage' not found. Did you mean 'large'? The tools are: attached, large, "
                   "raw");
    char long_name[203] = "x"; /* cut inside a character */
    for (size_t i = 1; i + 2 < sizeof(long_name); i += 2)
        memcpy(long_name + i, "\xC3\xA9", 3);
    struct tool_result result;
    fake_call(registry, long_name, "{}", &result);
    assert_int_equal(utf8_valid(result.text.data, result.text.length), result.text.length);
    tool_result_release(&result);

    const struct tool *large_one = registry_find(registry, "large");
    assert_ptr_equal(tool_resolve(registry, "large"), large_one);
    assert_ptr_equal(tool_resolve(registry, "functions.large"), large_one);
    assert_ptr_equal(tool_resolve(registry, "default_api:large"), large_one);
    assert_ptr_equal(tool_resolve(registry, "a/b.large"), large_one);
    assert_null(tool_resolve(registry, "raw.large")); /* either could be meant */
    assert_null(tool_resolve(registry, "large.x"));
    assert_null(tool_resolve(registry, "functions_large"));
    assert_null(tool_resolve(registry, "large."));
    assert_null(tool_resolve(registry, ""));
    registry_unref(registry);

    registry = registry_new();
    assert_failure(registry, "x", "{}", "not_found", "Tool 'x' not found. There are no tools");
    registry_unref(registry);
}

/* ---- errors that may pass ---- */

static mortise_error passing;

static mortise_status refuse(const mortise_tool *self, mortise_call *call, const void *args)
{
    (void)self, (void)args;
    return (call->ops->fail)(call, &passing);
}
FAKE_TOOL(refuse, 0, .input_schema = "{\"type\":\"object\"}");

/* F22: three categories may be tried again, and only those say when. */
static void test_when_to_try_again(void **state)
{
    (void)state;
    static const struct {
        mortise_category category;
        bool retryable;
    } cases[] = {
        {MORTISE_INTERNAL, false},     {MORTISE_INVALID_INPUT, false}, {MORTISE_UNAUTHORIZED, false},
        {MORTISE_FORBIDDEN, false},    {MORTISE_MISSING, false},       {MORTISE_RATE_LIMITED, true},
        {MORTISE_TIMEOUT, true},       {MORTISE_UNAVAILABLE, true},    {MORTISE_ABORTED, false},
        {MORTISE_NOT_SUPPORTED, false}};
    struct registry *registry = fake_one(&refuse_tool);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tool_result result;
        passing = (mortise_error){.size = sizeof(passing),
                                  .category = cases[i].category,
                                  .component = "api",
                                  .message = "busy",
                                  .message_length = 4,
                                  .retry_after_ms = 2500};
        fake_call(registry, "refuse", "{}", &result);
        assert_int_equal(category_is_retryable(result.category), cases[i].retryable);
        assert_int_equal(result.retry_after_ms, cases[i].retryable ? 2500 : 0);
        assert_int_equal(strstr(result.text.data, ": busy (try again in 3 s)") != NULL,
                         cases[i].retryable);
        tool_result_release(&result);
    }
    assert_false(category_is_retryable(NULL));
    registry_unref(registry);
}

static void test_how_long_to_wait(void **state)
{
    (void)state;
    static const struct {
        int64_t said_ms, kept_ms;
        const char *told;
    } cases[] = {{0, 0, "busy"},
                 {-5, 0, "busy"},
                 {INT64_MIN, 0, "busy"},
                 {1, 1, "busy (try again in 1 ms)"},
                 {999, 999, "busy (try again in 999 ms)"},
                 {3000, 3000, "busy (try again in 3 s)"},
                 {INT64_MAX, 86400000, "busy (try again in 86400 s)"}};
    struct registry *registry = fake_one(&refuse_tool);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char wanted[80];
        struct tool_result result;
        passing = (mortise_error){.size = sizeof(passing),
                                  .category = MORTISE_RATE_LIMITED,
                                  .message = "busy",
                                  .message_length = 4,
                                  .retry_after_ms = cases[i].said_ms};
        fake_call(registry, "refuse", "{}", &result);
        snprintf(wanted, sizeof(wanted), "tool.rate_limited: %s", cases[i].told);
        assert_string_equal(result.text.data, wanted);
        assert_int_equal(result.retry_after_ms, cases[i].kept_ms);
        tool_result_release(&result);
    }
    /* A plugin whose struct ends before that member. */
    passing.size = offsetof(mortise_error, retry_after_ms);
    passing.retry_after_ms = 5;
    assert_failure(registry, "refuse", "{}", "rate_limited", "tool.rate_limited: busy");
    registry_unref(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_when_to_try_again),
        cmocka_unit_test(test_how_long_to_wait),
        cmocka_unit_test(test_statuses_without_a_word),
        cmocka_unit_test(test_arguments_that_do_not_fit),
        cmocka_unit_test(test_large_results_are_whole),
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_scopes), cmocka_unit_test(test_granted_scopes),
        cmocka_unit_test(test_sandbox_required),
        cmocka_unit_test(test_raw_arguments),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
