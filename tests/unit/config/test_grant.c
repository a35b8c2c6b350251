#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/secret.h"
#include "config/grant.h"
#include "failing.h"
#include "sandbox.h"

#define VALUE "v-0123456789"

static void check_config(const char *section, const char *wanted)
{
    struct text config = TEXT_INIT;
    json_t *json = section ? json_parse(section, strlen(section), NULL, NULL) : NULL;
    grant_write_config(&config, json);
    assert_string_equal(config.data, wanted);
    json_decref(json);
    text_release(&config);
}

/* Where a secret comes from is not the plugin's business. */
static void test_config_without_secrets(void **state)
{
    (void)state;
    check_config(NULL, "{}");
    check_config("{}", "{}");
    check_config("{\"secrets\": {\"a\": {\"env\": \"A\"}}}", "{}");
    check_config("{\"scopes\": [\"a\"], \"isolation\": \"process\"}", "{}");
    check_config("{\"a\": 1, \"secrets\": {}, \"b\": {\"secrets\": 2}}",
                 "{\"a\":1,\"b\":{\"secrets\":2}}");
    check_config("[1]", "[1]");
}

static void test_all_grants(void **state)
{
    (void)state;
    struct settings settings;
    struct error error;
    struct text grants = TEXT_INIT;
    settings_init(&settings);
    grant_write_all(&grants, &settings);
    assert_string_equal(grants.data, "{}");
    text_reset(&grants);
    sandbox_write(USER_FILE,
                  "{\"plugin-config\": {\"none\": {\"x\": 1}, \"one\": {\"secrets\": {\"a\": "
                  "{\"env\": \"A\"}}}, \"two\": {\"secrets\": {}}, \"odd\": 3}}",
                  0600);
    if (!settings_read_rest(&settings, &error))
        fail_msg("%s", error.message);
    grant_write_all(&grants, &settings);
    assert_string_equal(grants.data, "{\"one\":{\"a\":{\"env\":\"A\"}},\"two\":{}}");
    text_release(&grants);
    settings_release(&settings);
}

/* A project may come from a stranger: it cannot grant anything. */
static void test_not_from_a_project(void **state)
{
    (void)state;
    struct settings settings;
    struct error error;
    settings_init(&settings);
    sandbox_write(PROJECT_FILE, "{\"plugin-config\": {\"x\": {\"secrets\": {}}}}", 0600);
    assert_false(settings_read_rest(&settings, &error));
    assert_non_null(strstr(error.message, "'plugin-config'"));
    settings_release(&settings);
}

static void check_value(const char *grants, const char *name, const char *wanted)
{
    struct error error;
    char *value;
    if (!grant_read(grants, "search", name, &value, &error))
        fail_msg("%s", error.message);
    if (wanted)
        assert_string_equal(value, wanted);
    else
        assert_null(value);
    free(value);
}

static void test_values(void **state)
{
    (void)state;
    struct text shown = TEXT_INIT;
    setenv("GRANT_TEST", VALUE, 1);
    sandbox_write("project/key", VALUE "\n", 0600);
    check_value("{}", "key", NULL);
    check_value("{\"other\":{\"key\":{\"env\":\"GRANT_TEST\"}}}", "key", NULL);
    check_value("{\"search\":{\"key\":{\"env\":\"GRANT_TEST\"}}}", "other", NULL);
    check_value("{\"search\":{\"key\":{\"env\":\"GRANT_TEST\"}}}", "key", VALUE);
    check_value("{\"search\":{\"key\":{\"command\":\"echo " VALUE "\"}}}", "key", VALUE);
    check_value("{\"search\":{\"key\":{\"file\":\"key\"}}}", "key", VALUE);
    text_puts(&shown, VALUE);
    secret_redact(&shown);
    assert_string_equal(shown.data, "[redacted]");
    text_release(&shown);
    secret_clear();
}

static void check_refused(const char *grants, const char *part)
{
    struct error error;
    char *value;
    assert_false(grant_read(grants, "search", "key", &value, &error));
    assert_null(value);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, "secret 'key' of plugin 'search': "));
    assert_non_null(strstr(error.message, part));
}

static void test_refused(void **state)
{
    (void)state;
    unsetenv("GRANT_TEST");
    check_refused("{\"search\":{\"key\":{\"env\":\"GRANT_TEST\"}}}", "GRANT_TEST");
    check_refused("{\"search\":{\"key\":{\"file\":\"nowhere\"}}}", "nowhere");
    check_refused("{\"search\":{\"key\":{\"command\":\"exit 1\"}}}", "failed (status 1)");
    check_refused("{\"search\":{\"key\":{\"env\":1}}}", "'env' must be a text");
    check_refused("{\"search\":{\"key\":{}}}", "one of \"env\", \"file\" and \"command\"");
    check_refused("{\"search\":{\"key\":{\"env\":\"A\",\"file\":\"b\"}}}", "one of");
    check_refused("{\"search\":{\"key\":{\"key_env\":\"A\"}}}", "one of");
    check_refused("{\"search\":{\"key\":\"" VALUE "\"}}", "one of"); /* no secrets in the file */
    check_refused("{\"search\":[]}", "\"secrets\" must be an object");
}

static void test_no_memory(void **state)
{
    (void)state;
    int count = 0;
    sandbox_hook_json();
    setenv("GRANT_TEST", VALUE, 1);
    for (bool done = false; !done; count++) {
        struct error error;
        char *value;
        fail_after(count);
        bool read = grant_read("{\"search\":{\"key\":{\"env\":\"GRANT_TEST\"}}}", "search", "key",
                               &value, &error);
        done = !fail_never();
        assert_true(read == done);
        if (read)
            assert_string_equal(value, VALUE);
        free(value);
        secret_clear();
    }
    assert_true(count > 3);
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, sandbox_enter, sandbox_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_config_without_secrets),
        IN_SANDBOX(test_all_grants),
        IN_SANDBOX(test_not_from_a_project),
        IN_SANDBOX(test_values),
        IN_SANDBOX(test_refused),
        IN_SANDBOX(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
