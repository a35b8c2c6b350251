#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "failing.h"
#include "sandbox.h"

enum { MAX_ARGUMENTS = 16 };

/* A command line: what main() gets.  The list ends with NULL. */
struct line {
    char *argv[MAX_ARGUMENTS];
    int argc;
    int operands;
};

static struct line line_of(const char *const *arguments)
{
    static char program[] = "mortise";
    struct line line = {.argv = {program}, .argc = 1};
    for (; *arguments; arguments++)
        line.argv[line.argc++] = (char *)(uintptr_t)*arguments;
    return line;
}

static bool read_line(struct settings *settings, struct line *line, struct error *error)
{
    error_clear(error);
    settings_init(settings);
    return settings_read_options(settings, line->argc, line->argv, &line->operands, error);
}

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Reads a good command line and everything else. */
static struct line read_good(struct settings *settings, const char *const *arguments)
{
    struct line line = line_of(arguments);
    struct error error;
    bool ok = read_line(settings, &line, &error) && settings_read_rest(settings, &error);
    if (!ok)
        fail_msg("%s", error.message);
    return line;
}

/* ---- precedence ---- */

static void check_turns(const char *const *arguments, int64_t turns, enum setting_source source)
{
    struct settings settings;
    read_good(&settings, arguments);
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TURNS, -1), turns);
    assert_int_equal(settings.values[SETTING_MAX_TURNS].source, source);
    settings_release(&settings);
}

/* option, environment, project, user, default (cli.md) */
static void test_precedence(void **state)
{
    (void)state;
    const char *const none[] = {NULL};
    check_turns(none, 100, SOURCE_DEFAULT);
    sandbox_write(USER_FILE, "{\"max-turns\": 1}", 0600);
    check_turns(none, 1, SOURCE_USER);
    sandbox_write(PROJECT_FILE, "{\"max-turns\": 2}", 0600);
    check_turns(none, 2, SOURCE_PROJECT);
    setenv("MORTISE_MAX_TURNS", "3", 1);
    check_turns(none, 3, SOURCE_ENVIRONMENT);
    check_turns(ARGUMENTS("--max-turns", "4"), 4, SOURCE_OPTION);
}

static void check_list(const char *const *arguments, enum setting_id id, const char *const *wanted)
{
    struct settings settings;
    read_good(&settings, arguments);
    size_t count;
    char *const *items = settings_list(&settings, id, &count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(wanted[i]);
        assert_string_equal(items[i], wanted[i]);
    }
    assert_null(wanted[count]);
    if (count)
        assert_null(items[count]);
    settings_release(&settings);
}

/* A list of higher precedence takes the place of the other; it is not put behind it. */
static void test_lists_replace_each_other(void **state)
{
    (void)state;
    const char *const none[] = {NULL};
    check_list(none, SETTING_STOP, none);
    sandbox_write(USER_FILE, "{\"stop\": [\"a\", \"b\"]}", 0600);
    check_list(none, SETTING_STOP, ARGUMENTS("a", "b"));
    setenv("MORTISE_STOP", "\nc:\n\n:d e\n", 1);
    check_list(none, SETTING_STOP, ARGUMENTS("c:", ":d e"));
    setenv("MORTISE_PLUGINS", ":/a::/b c:", 1);
    check_list(none, SETTING_PLUGINS, ARGUMENTS("/a", "/b c"));
    check_list(ARGUMENTS("--stop", "f", "--stop=g:h"), SETTING_STOP, ARGUMENTS("f", "g:h"));
}

static void test_sources_have_names(void **state)
{
    (void)state;
    for (enum setting_source source = SOURCE_UNSET; source <= SOURCE_OPTION; source++)
        assert_true(strlen(setting_source_name(source)) > 0);
}

/* ---- kinds ---- */

static void test_unset(void **state)
{
    (void)state;
    struct settings settings;
    size_t count = 9;
    read_good(&settings, ARGUMENTS("run"));
    assert_null(settings_text(&settings, SETTING_MODEL));
    assert_null(settings_list(&settings, SETTING_PLUGINS, &count));
    assert_int_equal(count, 0);
    assert_false(settings_flag(&settings, SETTING_JSON));
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TOKENS, -7), -7);
    assert_true(isnan(settings_number(&settings, SETTING_TEMPERATURE, NAN)));
    assert_null(settings_section(&settings, "plugin-config", "audit"));
    assert_false(settings.help);
    assert_false(settings.version);
    settings_release(&settings);
}

static void test_each_kind(void **state)
{
    (void)state;
    struct settings settings;
    read_good(&settings, ARGUMENTS("--json", "-vv", "-v", "--model", "a/b", "--system", "", "-P",
                                   "one", "--max-tokens", "7", "--temperature", "0.25"));
    assert_true(settings_flag(&settings, SETTING_JSON));
    assert_int_equal(settings_whole(&settings, SETTING_VERBOSE, 0), 3);
    assert_string_equal(settings_text(&settings, SETTING_MODEL), "a/b");
    assert_string_equal(settings_text(&settings, SETTING_SYSTEM), "");
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TOKENS, -1), 7);
    assert_true(settings_number(&settings, SETTING_TEMPERATURE, 0) == 0.25);
    settings_release(&settings);
    check_list(ARGUMENTS("-P", "one", "--plugins=two", "-Pthree"), SETTING_PLUGINS,
               ARGUMENTS("one", "two", "three"));
}

/* Each table row that has a default has one that its own kind accepts. */
static void test_defaults_are_valid(void **state)
{
    (void)state;
    struct settings settings;
    const char *const none[] = {NULL};
    read_good(&settings, none);
    for (int id = 0; id < SETTING_ID_COUNT; id++) {
        const char *text = settings_text(&settings, (enum setting_id)id);
        if (setting_definitions[id].fallback)
            assert_string_equal(text, setting_definitions[id].fallback);
        else
            assert_null(text);
    }
    settings_release(&settings);
}

/* ---- the command line ---- */

static void test_last_value_wins(void **state)
{
    (void)state;
    struct settings settings;
    read_good(&settings, ARGUMENTS("-m", "a/b", "--model=c/d", "-me/f"));
    assert_string_equal(settings_text(&settings, SETTING_MODEL), "e/f");
    settings_release(&settings);
}

static void check_operands(const char *const *arguments, const char *const *wanted)
{
    struct settings settings;
    struct line line = read_good(&settings, arguments);
    for (int i = 0; i < line.operands; i++) {
        assert_non_null(wanted[i]);
        assert_string_equal(line.argv[i], wanted[i]);
    }
    assert_null(wanted[line.operands]);
    settings_release(&settings);
}

static void test_operands(void **state)
{
    (void)state;
    const char *const none[] = {NULL};
    check_operands(none, none);
    check_operands(ARGUMENTS("--json"), none);
    check_operands(ARGUMENTS("tools", "--json", "call", "-m", "x", "greet", "{}", "-q"),
                   ARGUMENTS("tools", "call", "greet", "{}"));
    check_operands(ARGUMENTS("-q", "-", "x"), ARGUMENTS("-", "x"));
    check_operands(ARGUMENTS("say", "--", "--json", "-m"), ARGUMENTS("say", "--json", "-m"));
    check_operands(ARGUMENTS("", "x"), ARGUMENTS("", "x"));
    check_operands(ARGUMENTS("--system=--json", "--stop", "-q", "x"), ARGUMENTS("x"));
}

static void test_help_and_version(void **state)
{
    (void)state;
    static const struct {
        const char *argument;
        bool help, version;
    } cases[] = {{"-h", true, false}, {"--help", true, false}, {"--version", false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct settings settings;
        read_good(&settings, ARGUMENTS(cases[i].argument, "x"));
        assert_int_equal(settings.help, cases[i].help);
        assert_int_equal(settings.version, cases[i].version);
        settings_release(&settings);
    }
}

static void check_refused(const char *const *arguments, const char *message)
{
    struct settings settings;
    struct line line = line_of(arguments);
    struct error error;
    assert_false(read_line(&settings, &line, &error));
    assert_string_equal(error.message, message);
    assert_int_equal(error.kind, ERROR_USAGE);
    settings_release(&settings);
}

static void test_bad_values(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *rule;
    } cases[] = {
        {"--max-turns", "", "must be a whole number from 0 up"},
        {"--max-turns", "ten", "must be a whole number from 0 up"},
        {"--max-turns", "10x", "must be a whole number from 0 up"},
        {"--max-turns", "1.5", "must be a whole number from 0 up"},
        {"--max-turns", "-1", "must be a whole number from 0 up"},
        {"--max-turns", "99999999999999999999", "must be a whole number from 0 up"},
        {"--temperature", "", "must be a number from 0 up"},
        {"--temperature", "hot", "must be a number from 0 up"},
        {"--temperature", "-0.5", "must be a number from 0 up"},
        {"--temperature", "nan", "must be a number from 0 up"},
        {"--temperature", "inf", "must be a number from 0 up"},
        {"--timeout", "1s", "must be a number from 0 up"},
        {"--color", "red", "is not auto, always or never"},
        {"--color", "aut", "is not auto, always or never"},
        {"--color", "", "is not auto, always or never"},
        {"--color", "auto|always", "is not auto, always or never"},
        {"--reasoning", "hard", "is not low, medium or high"},
        {"--strategy", "fast", "is not auto, ordered, sequential or parallel"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char message[200];
        snprintf(message, sizeof(message), "option '%s': '%s' %s", cases[i].option, cases[i].value,
                 cases[i].rule);
        check_refused(ARGUMENTS("x", cases[i].option, cases[i].value), message);
    }
}

static void test_missing_values(void **state)
{
    (void)state;
    check_refused(ARGUMENTS("-m"), "option '--model' needs a value: --model PROVIDER/MODEL");
    check_refused(ARGUMENTS("x", "--model"),
                  "option '--model' needs a value: --model PROVIDER/MODEL");
    check_refused(ARGUMENTS("-qe"), "option '--plugin' needs a value: --plugin FILE.so");
}

static void test_unknown_options(void **state)
{
    (void)state;
    check_refused(ARGUMENTS("--modle", "x"), "unknown option '--modle'; did you mean '--model'?");
    check_refused(ARGUMENTS("x", "--max-turn5=3"),
                  "unknown option '--max-turn5'; did you mean '--max-turns'?");
    check_refused(ARGUMENTS("--frobnicate"),
                  "unknown option '--frobnicate'; `mortise --help` lists them");
    check_refused(ARGUMENTS("-x"), "unknown option '-x'; `mortise --help` lists them");
}

/* An unknown letter is named, whatever stands before it on the line. */
static void test_unknown_letter_in_a_cluster(void **state)
{
    (void)state;
    check_refused(ARGUMENTS("-qx"), "unknown option '-x'; `mortise --help` lists them");
    check_refused(ARGUMENTS("-xq"), "unknown option '-x'; `mortise --help` lists them");
    check_refused(ARGUMENTS("--json", "-xq"), "unknown option '-x'; `mortise --help` lists them");
}

/* To be told to write what one has written helps nobody. */
static void test_flag_with_a_value(void **state)
{
    (void)state;
    struct settings settings;
    struct line line = line_of(ARGUMENTS("--json=yes"));
    struct error error;
    assert_false(read_line(&settings, &line, &error));
    assert_int_equal(error.kind, ERROR_USAGE);
    assert_non_null(strstr(error.message, "--json"));
    assert_non_null(strstr(error.message, "takes no value"));
    settings_release(&settings);
}

/* ---- the environment ---- */

static void test_environment(void **state)
{
    (void)state;
    struct settings settings;
    const char *const none[] = {NULL};
    setenv("MORTISE_MODEL", "a/b", 1);
    setenv("MORTISE_NO_TOOLS", "true", 1);
    setenv("MORTISE_FIRST_BYTE_TIMEOUT", "2.5", 1);
    setenv("MORTISE_VERBOSE", "2", 1);
    setenv("MORTISE_SYSTEM", "", 1);
    read_good(&settings, none);
    assert_string_equal(settings_text(&settings, SETTING_MODEL), "a/b");
    assert_true(settings_flag(&settings, SETTING_NO_TOOLS));
    assert_true(settings_number(&settings, SETTING_FIRST_BYTE_TIMEOUT, 0) == 2.5);
    assert_int_equal(settings_whole(&settings, SETTING_VERBOSE, 0), 2);
    assert_null(settings_text(&settings, SETTING_SYSTEM)); /* empty is as if it were not set */
    settings_release(&settings);
}

static void test_bad_variables(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *message;
    } cases[] = {
        {"MORTISE_MAX_TURNS", "x",
         "variable MORTISE_MAX_TURNS: 'x' must be a whole number from 0 up"},
        {"MORTISE_JSON", "1", "variable MORTISE_JSON: '1' must be true or false"},
        {"MORTISE_TOP_P", "-1", "variable MORTISE_TOP_P: '-1' must be a number from 0 up"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct settings settings;
        struct error error;
        settings_init(&settings);
        setenv(cases[i].name, cases[i].value, 1);
        assert_false(settings_read_rest(&settings, &error));
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.kind, ERROR_CONFIG);
        unsetenv(cases[i].name);
        settings_release(&settings);
    }
}

/* ---- memory ---- */

static bool read_everything(struct settings *settings, struct error *error)
{
    struct line line =
        line_of(ARGUMENTS("-v", "-v", "-P", "one", "-P", "two", "--model=a/b", "prompt"));
    return read_line(settings, &line, error) && settings_read_rest(settings, error);
}

/* Whichever allocation fails: it is told, or everything is as it would have been. */
static void test_no_memory(void **state)
{
    (void)state;
    sandbox_hook_json();
    sandbox_write(USER_FILE, "{\"top-k\": 5, \"stop\": [\"x\"], \"plugin-config\": {\"a\": {}}}",
                  0600);
    sandbox_write(PROJECT_FILE, "{\"temperature\": 0.5}", 0600);
    setenv("MORTISE_SCOPES", "read,write", 1);
    bool failed = true;
    for (int allowed = 0; failed; allowed++) {
        struct settings settings;
        struct error error;
        fail_after(allowed);
        bool ok = read_everything(&settings, &error);
        failed = fail_never();
        if (ok) {
            assert_int_equal(settings_whole(&settings, SETTING_VERBOSE, 0), 2);
            assert_string_equal(settings_text(&settings, SETTING_MODEL), "a/b");
            assert_string_equal(settings_text(&settings, SETTING_SCOPES), "read,write");
            assert_true(settings_number(&settings, SETTING_TEMPERATURE, 0) == 0.5);
            assert_int_equal(settings_whole(&settings, SETTING_TOP_K, 0), 5);
            assert_int_equal(settings_whole(&settings, SETTING_MAX_TURNS, 0), 100);
            assert_non_null(settings_section(&settings, "plugin-config", "a"));
        } else {
            assert_non_null(strstr(error.message, "memory"));
        }
        settings_release(&settings);
    }
}

#define IN_SANDBOX(test) cmocka_unit_test_setup_teardown(test, sandbox_enter, sandbox_leave)

/* What a command gets that runs all the same: everything else, and the first thing that is wrong. */
static void test_what_can_be_read_is_there(void **state)
{
    struct settings settings;
    struct error error;
    struct line line = line_of(ARGUMENTS("--top-k", "1"));
    (void)state;
    sandbox_write(USER_FILE, "{\"max-turns\": 1, \"timeout\": ", 0600);
    sandbox_write(PROJECT_FILE, "{\"max-tokens\": 2}", 0600);
    setenv("MORTISE_RETRIES", "many", 1);
    assert_true(read_line(&settings, &line, &error));
    assert_false(settings_read_rest(&settings, &error));
    assert_non_null(strstr(error.message, "MORTISE_RETRIES"));
    assert_int_equal(settings_whole(&settings, SETTING_TOP_K, -1), 1);
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TOKENS, -1), 2);
    assert_int_equal(settings_whole(&settings, SETTING_MAX_TURNS, -1), 100);
    settings_release(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(test_precedence),
        IN_SANDBOX(test_lists_replace_each_other),
        IN_SANDBOX(test_sources_have_names),
        IN_SANDBOX(test_unset),
        IN_SANDBOX(test_each_kind),
        IN_SANDBOX(test_defaults_are_valid),
        IN_SANDBOX(test_last_value_wins),
        IN_SANDBOX(test_operands),
        IN_SANDBOX(test_help_and_version),
        IN_SANDBOX(test_bad_values),
        IN_SANDBOX(test_missing_values),
        IN_SANDBOX(test_unknown_options),
        IN_SANDBOX(test_unknown_letter_in_a_cluster),
        IN_SANDBOX(test_flag_with_a_value),
        IN_SANDBOX(test_environment),
        IN_SANDBOX(test_bad_variables),
        IN_SANDBOX(test_what_can_be_read_is_there),
        IN_SANDBOX(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
