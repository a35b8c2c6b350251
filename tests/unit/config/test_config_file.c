#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config_file.h"
#include "config/paths.h"
#include "sandbox.h"

static void read_good(struct settings *settings)
{
    struct error error;
    error_clear(&error);
    settings_init(settings);
    if (!settings_read_rest(settings, &error))
        fail_msg("%s", error.message);
}

/* The message behind "configuration 'PATH': ". */
static void check_refused(const char *file, const char *json, const char *message)
{
    struct settings settings;
    struct error error;
    char wanted[2048];
    sandbox_write(file, json, 0600);
    settings_init(&settings);
    assert_false(settings_read_rest(&settings, &error));
    snprintf(wanted, sizeof(wanted), "configuration '%s': %s", sandbox_path(file), message);
    assert_string_equal(error.message, wanted);
    assert_int_equal(error.kind, ERROR_CONFIG);
    settings_release(&settings);
    unlink(sandbox_path(file));
}

/* ---- the user's file ---- */

static void test_each_kind_of_value(void **state)
{
    (void)state;
    struct settings settings;
    size_t count;
    sandbox_write(USER_FILE,
                  "{\"model\": \"a/b\", \"json\": true, \"no-tools\": false, \"max-turns\": 7,"
                  " \"temperature\": 0.5, \"top-p\": 1, \"timeout\": \"2.5\", \"verbose\": 2,"
                  " \"stop\": \"one\", \"plugins\": [\"/a:b\", \"/c\"]}",
                  0600);
    read_good(&settings);
    assert_string_equal(settings_text(&settings, SETTING_MODEL), "a/b");
    assert_true(settings_flag(&settings, SETTING_JSON));
    assert_false(settings_flag(&settings, SETTING_NO_TOOLS));
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TURNS, 0), 7);
    assert_true(settings_number(&settings, SETTING_TEMPERATURE, 0) == 0.5);
    assert_true(settings_number(&settings, SETTING_TOP_P, 0) == 1);
    assert_true(settings_number(&settings, SETTING_TIMEOUT, 0) == 2.5);
    assert_int_equal(settings_whole(&settings, SETTING_VERBOSE, 0), 2);
    assert_string_equal(settings_text(&settings, SETTING_STOP), "one");
    char *const *plugins = settings_list(&settings, SETTING_PLUGINS, &count);
    assert_int_equal(count, 2);
    assert_string_equal(plugins[0], "/a:b");
    assert_string_equal(plugins[1], "/c");
    settings_release(&settings);
}

/* -v is a flag to its user, so the file may say true and false. */
static void test_verbose_is_true_or_false(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        int64_t level;
    } cases[] = {{"{\"verbose\": true}", 1}, {"{\"verbose\": false}", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct settings settings;
        sandbox_write(USER_FILE, cases[i].json, 0600);
        read_good(&settings);
        assert_int_equal(settings_whole(&settings, SETTING_VERBOSE, 9), cases[i].level);
        settings_release(&settings);
    }
}

static void test_bad_values(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{\"max-turns\": 1.5}", "'max-turns': '1.5' must be a whole number from 0 up"},
        {"{\"max-turns\": -1}", "'max-turns': '-1' must be a whole number from 0 up"},
        {"{\"json\": \"yes\"}", "'json': 'yes' must be true or false"},
        {"{\"json\": 1}", "'json': '1' must be true or false"},
        {"{\"temperature\": \"hot\"}", "'temperature': 'hot' must be a number from 0 up"},
        {"{\"model\": null}", "'model': must be a text, a number, true or false"},
        {"{\"model\": {}}", "'model': must be a text, a number, true or false"},
        {"{\"model\": [\"a/b\"]}", "'model': must not be a list"},
        {"{\"stop\": [\"a\", [\"b\"]]}", "'stop': must be a text, a number, true or false"},
        {"[]", "must be a JSON object"},
        {"\"x\"", "must be a JSON object"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_refused(USER_FILE, cases[i].json, cases[i].message);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    check_refused(USER_FILE, "{\"modle\": \"a/b\"}", "unknown key 'modle'; did you mean 'model'?");
    check_refused(USER_FILE, "{\"max_turns\": 3}",
                  "unknown key 'max_turns'; did you mean 'max-turns'?");
    check_refused(USER_FILE, "{\"frobnicate\": 1}",
                  "unknown key 'frobnicate'; keys are the long options of `mortise --help`");
}

static void test_broken_json(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "{\"model\": }",
                                        "{\"model\": \"a\",}",
                                        "{} x",
                                        "{\"model\": \"a\"\n\"json\": true}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct settings settings;
        struct error error;
        sandbox_write(USER_FILE, texts[i], 0600);
        settings_init(&settings);
        assert_false(settings_read_rest(&settings, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, sandbox_path(USER_FILE)));
        assert_non_null(strstr(error.message, "line "));
        assert_non_null(strstr(error.message, "column "));
        settings_release(&settings);
    }
}

static void test_file_that_is_no_file(void **state)
{
    (void)state;
    struct settings settings;
    struct error error;
    sandbox_write(USER_FILE "/x", "", 0600); /* a folder */
    settings_init(&settings);
    assert_false(settings_read_rest(&settings, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, sandbox_path(USER_FILE)));
    settings_release(&settings);
}

static void test_file_too_large(void **state)
{
    (void)state;
    enum { SIZE = (1 << 20) + 10 };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    memset(text, ' ', SIZE);
    text[0] = '{';
    text[1] = '}';
    text[SIZE] = '\0';
    sandbox_write(USER_FILE, text, 0600);
    free(text);
    struct settings settings;
    struct error error;
    settings_init(&settings);
    assert_false(settings_read_rest(&settings, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    settings_release(&settings);
}

/* ---- where it is ---- */

static void check_model(const char *wanted)
{
    struct settings settings;
    read_good(&settings);
    const char *model = settings_text(&settings, SETTING_MODEL);
    if (wanted)
        assert_string_equal(model, wanted);
    else
        assert_null(model);
    settings_release(&settings);
}

static void test_places(void **state)
{
    (void)state;
    check_model(NULL);
    sandbox_write(USER_FILE, "{\"model\": \"home/x\"}", 0600);
    check_model("home/x");
    sandbox_write("xdg/mortise/config.json", "{\"model\": \"xdg/x\"}", 0600);
    setenv("XDG_CONFIG_HOME", sandbox_path("xdg"), 1);
    check_model("xdg/x");
    setenv("XDG_CONFIG_HOME", "../xdg", 1); /* relative: to be ignored, says XDG */
    check_model("home/x");
    setenv("XDG_CONFIG_HOME", "", 1);
    check_model("home/x");
    sandbox_write("named.json", "{\"model\": \"named/x\"}", 0600);
    setenv("MORTISE_CONFIG", sandbox_path("named.json"), 1);
    check_model("named/x");
    unsetenv("MORTISE_CONFIG");
    unsetenv("HOME");
    check_model(NULL);
}

/* The file that --config names must exist; the usual one need not. */
static void test_named_file_is_missing(void **state)
{
    (void)state;
    struct settings settings;
    struct error error;
    settings_init(&settings);
    setenv("MORTISE_CONFIG", sandbox_path("missing.json"), 1);
    assert_false(settings_read_rest(&settings, &error));
    assert_int_equal(error.kind, ERROR_CONFIG);
    assert_non_null(strstr(error.message, sandbox_path("missing.json")));
    assert_non_null(strstr(error.message, strerror(2 /* ENOENT */)));
    settings_release(&settings);
}

static void check_path(char *path, const char *wanted)
{
    if (wanted)
        assert_string_equal(path, wanted);
    else
        assert_null(path);
    free(path);
}

static void test_paths(void **state)
{
    (void)state;
    setenv("HOME", "/h", 1);
    check_path(path_config("a"), "/h/.config/mortise/a");
    check_path(path_data("a"), "/h/.local/share/mortise/a");
    check_path(path_state("a"), "/h/.local/state/mortise/a");
    setenv("XDG_CONFIG_HOME", "/c", 1);
    setenv("XDG_DATA_HOME", "/d", 1);
    setenv("XDG_STATE_HOME", "/s", 1);
    check_path(path_config("a"), "/c/mortise/a");
    check_path(path_data("a"), "/d/mortise/a");
    check_path(path_state("a"), "/s/mortise/a");
    char *plugins = path_system_plugins();
    assert_int_equal(plugins[0], '/');
    free(plugins);
}

/* Without a home there is no path; NULL would be a lack of memory. */
static void test_no_home(void **state)
{
    (void)state;
    static const char *const homes[] = {NULL, "", "relative"};
    for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
        if (homes[i])
            setenv("HOME", homes[i], 1);
        else
            unsetenv("HOME");
        check_path(path_config("a"), "");
        check_path(path_data("a"), "");
        check_path(path_state("a"), "");
    }
}

/* ---- sections ---- */

static void test_sections(void **state)
{
    (void)state;
    struct settings settings;
    sandbox_write(USER_FILE,
                  "{\"plugin-config\": {\"audit\": {\"file\": \"/x\"}},"
                  " \"provider-config\": {\"openai\": {\"key_env\": \"K\"}},"
                  " \"tool-config\": {\"greet\": {\"result_limit\": 9}}}",
                  0600);
    read_good(&settings);
    const json_t *audit = settings_section(&settings, "plugin-config", "audit");
    assert_string_equal(json_string_value(json_object_get(audit, "file")), "/x");
    assert_non_null(settings_section(&settings, "provider-config", "openai"));
    const json_t *greet = settings_section(&settings, "tool-config", "greet");
    assert_int_equal(json_integer_value(json_object_get(greet, "result_limit")), 9);
    assert_null(settings_section(&settings, "plugin-config", "greet"));
    assert_null(settings_section(&settings, "model", "greet"));
    settings_release(&settings);
}

static void test_section_is_no_object(void **state)
{
    (void)state;
    check_refused(USER_FILE, "{\"plugin-config\": 5}", "'plugin-config' must be an object");
    check_refused(USER_FILE, "{\"tool-config\": []}", "'tool-config' must be an object");
}

/* ---- the project's file ---- */

static void check_turns(int64_t wanted)
{
    struct settings settings;
    read_good(&settings);
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TURNS, 0), wanted);
    settings_release(&settings);
}

static void test_project_is_found_from_below(void **state)
{
    (void)state;
    sandbox_write(PROJECT_FILE, "{\"max-turns\": 1}", 0600);
    check_turns(1);
    sandbox_write("project/a/b/c/file", "", 0600);
    assert_int_equal(chdir(sandbox_path("project/a/b/c")), 0);
    check_turns(1);
    sandbox_write("project/a/.mortise/config.json", "{\"max-turns\": 2}", 0600);
    check_turns(2); /* the nearest; the other one is not read */
    assert_int_equal(chdir("/"), 0);
    check_turns(100);
}

/* A project may be somebody else's: nothing that runs code, sends keys elsewhere or reads
 * other files. */
static void test_project_cannot_do_harm(void **state)
{
    (void)state;
    static const char *const dangerous[] = {"model",      "base-url", "plugins", "plugin",
                                            "no-plugins", "config",   "json",    "user",
                                            "tenant",     "agent",    "scopes"};
    for (size_t i = 0; i < sizeof(dangerous) / sizeof(*dangerous); i++) {
        char json[64], message[160];
        snprintf(json, sizeof(json), "{\"%s\": \"true\"}", dangerous[i]);
        snprintf(message, sizeof(message),
                 "'%s' cannot be set by a project; put it into your own configuration",
                 dangerous[i]);
        check_refused(PROJECT_FILE, json, message);
    }
    check_refused(PROJECT_FILE, "{\"system\": \"@/etc/passwd\"}",
                  "'system' of a project must be a text, not a file");
    check_refused(PROJECT_FILE, "{\"system\": [\"@/etc/passwd\"]}", "'system': must not be a list");
}

/* The refusal does not depend on whether the value would have been used. */
static void test_project_is_checked_although_overridden(void **state)
{
    (void)state;
    setenv("MORTISE_BASE_URL", "http://127.0.0.1:9", 1);
    setenv("MORTISE_SYSTEM", "mine", 1);
    check_refused(PROJECT_FILE, "{\"base-url\": \"http://evil.example\"}",
                  "'base-url' cannot be set by a project; put it into your own configuration");
    check_refused(PROJECT_FILE, "{\"system\": \"@/etc/passwd\"}",
                  "'system' of a project must be a text, not a file");
}

static void test_project_has_no_sections(void **state)
{
    (void)state;
    static const char *const sections[] = {"plugin-config", "provider-config", "tool-config"};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        struct settings settings;
        struct error error;
        char json[80];
        snprintf(json, sizeof(json), "{\"%s\": {\"openai\": {}}}", sections[i]);
        sandbox_write(PROJECT_FILE, json, 0600);
        settings_init(&settings);
        assert_false(settings_read_rest(&settings, &error));
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_non_null(strstr(error.message, sections[i]));
        assert_null(settings_section(&settings, sections[i], "openai"));
        settings_release(&settings);
    }
}

static void check_trust(const char *wanted, enum setting_source source)
{
    struct settings settings;
    read_good(&settings);
    assert_string_equal(settings_text(&settings, SETTING_TRUST), wanted);
    assert_int_equal(settings.values[SETTING_TRUST].source, source);
    settings_release(&settings);
}

/* It may ask for less than its user allows, and never for more. */
static void test_project_tightens(void **state)
{
    (void)state;
    static const char *const loose[] = {"\"any\"", "true", "[\"pinned\"]", "[\"any\"]", "\"pin\""};
    check_trust("any", SOURCE_DEFAULT);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof(loose) / sizeof(*loose); k++) {
            char json[64];
            snprintf(json, sizeof(json), "{\"trust\": %s}", loose[k]);
            check_refused(PROJECT_FILE, json,
                          "'trust' of a project can only be 'pinned'; put anything else into your "
                          "own configuration");
        }
        sandbox_write(USER_FILE, "{\"trust\": \"pinned\"}", 0600);
        check_trust("pinned", SOURCE_USER);
    }
    sandbox_write(USER_FILE, "{\"trust\": \"any\"}", 0600);
    check_trust("any", SOURCE_USER);
    sandbox_write(PROJECT_FILE, "{\"trust\": \"pinned\"}", 0600);
    check_trust("pinned", SOURCE_PROJECT);
    setenv("MORTISE_TRUST", "any", 1); /* the user's own word */
    check_trust("any", SOURCE_ENVIRONMENT);
}

static void test_project_may_set_the_rest(void **state)
{
    (void)state;
    struct settings settings;
    sandbox_write(PROJECT_FILE,
                  "{\"system\": \"Be brief.\", \"tools\": \"greet\", \"max-tokens\": 5,"
                  " \"strategy\": \"ordered\", \"stop\": [\"a\"]}",
                  0600);
    read_good(&settings);
    assert_string_equal(settings_text(&settings, SETTING_SYSTEM), "Be brief.");
    assert_string_equal(settings_text(&settings, SETTING_TOOLS), "greet");
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TOKENS, 0), 5);
    assert_string_equal(settings_text(&settings, SETTING_STRATEGY), "ordered");
    settings_release(&settings);
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, sandbox_enter, sandbox_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_each_kind_of_value),
        IN_SANDBOX(test_verbose_is_true_or_false),
        IN_SANDBOX(test_bad_values),
        IN_SANDBOX(test_unknown_keys),
        IN_SANDBOX(test_broken_json),
        IN_SANDBOX(test_file_that_is_no_file),
        IN_SANDBOX(test_file_too_large),
        IN_SANDBOX(test_places),
        IN_SANDBOX(test_named_file_is_missing),
        IN_SANDBOX(test_paths),
        IN_SANDBOX(test_no_home),
        IN_SANDBOX(test_sections),
        IN_SANDBOX(test_section_is_no_object),
        IN_SANDBOX(test_project_is_found_from_below),
        IN_SANDBOX(test_project_cannot_do_harm),
        IN_SANDBOX(test_project_is_checked_although_overridden),
        IN_SANDBOX(test_project_has_no_sections),
        IN_SANDBOX(test_project_tightens),
        IN_SANDBOX(test_project_may_set_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
