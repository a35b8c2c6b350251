#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secret.h"
#include "config/key.h"
#include "failing.h"
#include "sandbox.h"

#define KEY "sk-test-0123456789"

/* The settings of a user's file that says this about the provider "openai". */
static void configure(struct settings *settings, const char *section)
{
    char json[2048];
    struct error error;
    error_clear(&error);
    snprintf(json, sizeof(json), "{\"provider-config\": {\"openai\": %s}}", section);
    sandbox_write(USER_FILE, json, 0600);
    settings_init(settings);
    if (!settings_read_rest(settings, &error))
        fail_msg("%s", error.message);
}

static void check_is_secret(const char *value)
{
    struct text text = TEXT_INIT;
    text_printf(&text, "before %s after", value);
    secret_redact(&text);
    assert_string_equal(text.data, "before [redacted] after");
    text_release(&text);
}

static void check_key(const char *section, const char *wanted)
{
    struct settings settings;
    struct error error;
    char *key = NULL;
    error_clear(&error);
    configure(&settings, section);
    if (!key_from_config(&settings, "openai", &key, &error))
        fail_msg("%s", error.message);
    if (wanted) {
        assert_string_equal(key, wanted);
        check_is_secret(wanted);
    } else {
        assert_null(key);
    }
    free(key);
    secret_clear();
    settings_release(&settings);
}

/* `part` is in the message, and the key is not. */
static void check_refused(const char *section, const char *part)
{
    static const char lead[] = "key of provider 'openai': ";
    struct settings settings;
    struct error error;
    char *key = NULL;
    configure(&settings, section);
    assert_false(key_from_config(&settings, "openai", &key, &error));
    assert_null(key);
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_memory_equal(error.message, lead, sizeof(lead) - 1);
    assert_non_null(strstr(error.message, part));
    assert_null(strstr(error.message, KEY));
    secret_clear();
    settings_release(&settings);
}

static void test_no_section(void **state)
{
    (void)state;
    check_key("{}", NULL);
    check_key("{}, \"other\": {\"key_env\": \"HOME\"}", NULL);
}

static void test_nothing_configured(void **state)
{
    (void)state;
    struct settings settings;
    struct error error;
    char *key = NULL;
    settings_init(&settings);
    assert_true(key_from_config(&settings, "openai", &key, &error));
    assert_null(key);
}

static void test_variable(void **state)
{
    (void)state;
    setenv("SOME_KEY", KEY, 1);
    check_key("{\"key_env\": \"SOME_KEY\"}", KEY);
    setenv("SOME_KEY", KEY "\r\n", 1);
    check_key("{\"key_env\": \"SOME_KEY\"}", KEY);
    setenv("SOME_KEY", "", 1);
    check_refused("{\"key_env\": \"SOME_KEY\"}",
                  "the variable SOME_KEY, which the configuration names, is not set");
    unsetenv("SOME_KEY");
    check_refused("{\"key_env\": \"SOME_KEY\"}", "SOME_KEY");
}

static const char *file_section(void)
{
    static char section[600];
    snprintf(section, sizeof(section), "{\"key_file\": \"%s\"}", sandbox_path("key"));
    return section;
}

static void test_file(void **state)
{
    (void)state;
    sandbox_write("key", KEY "\n", 0600);
    check_key(file_section(), KEY);
    sandbox_write("key", KEY " \t\r\n\n", 0400);
    check_key(file_section(), KEY);
}

/* Keys are 0600 (cli.md); a key that others can read is no secret. */
static void test_file_open_to_others(void **state)
{
    (void)state;
    static const mode_t modes[] = {0640, 0604, 0660, 0644, 0601, 0610, 0777};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        sandbox_write("key", KEY, modes[i]);
        check_refused(file_section(), "is open to others: chmod 600 it");
        unlink(sandbox_path("key"));
    }
}

static void test_file_that_cannot_be_read(void **state)
{
    (void)state;
    check_refused(file_section(), "No such file or directory");
    char *large = malloc(20001);
    assert_non_null(large);
    memset(large, 'k', 20000);
    large[20000] = '\0';
    sandbox_write("key", large, 0600);
    free(large);
    check_refused(file_section(), "key");
}

static void test_command(void **state)
{
    (void)state;
    check_key("{\"key_command\": \"printf %s " KEY "\"}", KEY);
    check_key("{\"key_command\": \"echo " KEY "; echo warning >&2\"}", KEY);
    check_refused("{\"key_command\": \"exit 3\"}", "the key command failed (status 3)");
    check_refused("{\"key_command\": \"kill -9 $$\"}", "the key command failed");
    check_refused("{\"key_command\": \"no-such-command-here 2>/dev/null\"}", "status 127");
}

/* What a command printed before it failed is not used, and not shown. */
static void test_command_that_fails_late(void **state)
{
    (void)state;
    setenv("SOME_KEY", KEY, 1);
    check_refused("{\"key_command\": \"echo $SOME_KEY; exit 1\"}", "status 1");
}

static void test_command_that_prints_too_much(void **state)
{
    (void)state;
    check_refused("{\"key_command\": \"yes 2>/dev/null\"}", "the key command");
}

/* NULL means that the section names no key, so a source that gave none is an error: the
 * user would not notice that another key is used. */
static void test_empty_source(void **state)
{
    (void)state;
    sandbox_write("key", "\n", 0600);
    check_refused(file_section(), "empty");
    check_refused("{\"key_command\": \"true\"}", "empty");
}

static void test_source_of_another_type(void **state)
{
    (void)state;
    check_refused("{\"key_file\": 5}", "key_file");
    check_refused("{\"key_command\": [\"pass\"]}", "key_command");
    check_refused("{\"key_env\": true}", "key_env");
}

/* Whichever allocation fails: an error, or the whole key, registered. */
static void test_no_memory(void **state)
{
    (void)state;
    struct settings settings;
    sandbox_write("key", KEY "\n", 0600);
    configure(&settings, file_section());
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct error error;
        char *key = NULL;
        fail_after(allowed);
        bool ok = key_from_config(&settings, "openai", &key, &error);
        failed = fail_never();
        if (ok) {
            assert_string_equal(key, KEY);
            check_is_secret(KEY);
        } else {
            assert_null(key);
            assert_non_null(strstr(error.message, "memory"));
        }
        free(key);
        secret_clear();
    }
    settings_release(&settings);
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, sandbox_enter, sandbox_leave)

static void test_where_a_key_is(void **state)
{
    static const struct {
        const char *section, *described;
    } cases[] = {
        {"{\"key_env\": \"MY_KEY\"}", "MY_KEY"},
        {"{\"key_file\": \"/run/key\"}", "the file '/run/key'"},
        {"{\"key_command\": \"pass show x\"}", "the output of 'pass show x'"},
        {"{}", ""},
        {"{\"key_env\": 7}", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings settings;
        struct text out = TEXT_INIT;
        configure(&settings, cases[i].section);
        key_describe(&settings, "openai", &out);
        assert_string_equal(text_cstr(&out), cases[i].described);
        text_release(&out);
        settings_release(&settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_no_section),
        IN_SANDBOX(test_nothing_configured),
        IN_SANDBOX(test_variable),
        IN_SANDBOX(test_file),
        IN_SANDBOX(test_file_open_to_others),
        IN_SANDBOX(test_file_that_cannot_be_read),
        IN_SANDBOX(test_command),
        IN_SANDBOX(test_command_that_fails_late),
        IN_SANDBOX(test_command_that_prints_too_much),
        IN_SANDBOX(test_empty_source),
        IN_SANDBOX(test_source_of_another_type),
        IN_SANDBOX(test_where_a_key_is),
        IN_SANDBOX(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
