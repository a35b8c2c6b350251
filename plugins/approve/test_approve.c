#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What has no use of the host's: tested as it is. */
#include "policy.c"
#include "terminal.c"

static struct timeline timeline; /* nobody listens */
static char folder[] = "/tmp/test_approve.XXXXXX";
static char path[64], config[128];

static void write_policy(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/approve.json", folder);
    snprintf(config, sizeof(config), "{\"file\":\"%s\"}", path);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* What is decided on a call, with a reason that has `reason` in it. */
static void check_call(struct registry *registry, const char *name, const char *arguments,
                       mortise_verdict verdict, const char *reason)
{
    struct hook_setting setting = {.registry = registry, .timeline = &timeline};
    struct tool tool = {.meta = {.size = sizeof(tool.meta), .name = name}};
    struct hook_tool_call call = {.tool = &tool, .call_id = "c", .count = 1};
    struct hook_outcome outcome = {0};
    call.arguments = (struct bytes){strdup(arguments), strlen(arguments)};
    hooks_pre_tool_call(&setting, &call, &outcome);
    free(call.arguments.data);
    if (outcome.verdict != verdict || !strstr(outcome.reason, reason))
        fail_msg("%s(%s): verdict %u, '%s'", name, arguments, outcome.verdict, outcome.reason);
}

static void first_matching_rule_decides(void **state)
{
    (void)state;
    write_policy(
        "{\"default\":\"deny\",\"rules\":["
        "{\"decision\":\"deny\",\"tool\":\"*\",\"arguments\":{\"path\":[\"*/.ssh/*\",\"*..*\"]},"
        "\"reason\":\"not there\"},"
        "{\"decision\":\"allow\",\"tool\":[\"read_*\",\"list\"],\"arguments\":{\"path\":\"/home/"
        "*\"}},"
        "{\"decision\":\"allow\",\"tool\":\"write\",\"arguments\":{\"how\":\"{\\\"deep\\\":[1,*\"}}"
        ","
        "{\"decision\":\"allow\",\"tool\":\"set\",\"arguments\":{\"on\":\"true\",\"n\":\"1?\"}}]}");
    struct registry *registry = plugin_test_load(config);
    check_call(registry, "read_file", "{\"path\":\"/home/a\"}", MORTISE_CONTINUE, "");
    check_call(registry, "list", "{\"path\":\"/home/\\u00e9\"}", MORTISE_CONTINUE, "");
    check_call(registry, "read_file", "{\"path\":\"/home/a/.ssh/id\"}", MORTISE_SKIP, "not there");
    check_call(registry, "read_file", "{\"path\":\"/home/../etc\"}", MORTISE_SKIP, "not there");
    check_call(registry, "read_file", "{\"path\":\"/home/a\\u0000/../x\"}", MORTISE_SKIP,
               "not there");
    check_call(registry, "read_file", "{}", MORTISE_SKIP, "policy");
    check_call(registry, "write", "{\"how\":{ \"deep\" : [1, {}]}}", MORTISE_CONTINUE, "");
    check_call(registry, "write", "{\"how\":{\"deep\":[2]}}", MORTISE_SKIP, "policy");
    check_call(registry, "set", "{\"on\":true,\"n\":12}", MORTISE_CONTINUE, "");
    check_call(registry, "set", "{\"on\":true,\"n\":123}", MORTISE_SKIP, "policy");
    check_call(registry, "set", "{\"on\":true}", MORTISE_SKIP, "policy");
    registry_unref(registry);
}

static void denies_what_cannot_be_judged(void **state)
{
    (void)state;
    write_policy("{\"default\":\"allow\"}");
    struct registry *registry = plugin_test_load(config);
    check_call(registry, "any", "{\"a\":1}", MORTISE_CONTINUE, "");
    check_call(registry, "any", "{\"a\":1,\"a\":2}", MORTISE_SKIP, "can be judged");
    check_call(registry, "any", "[1]", MORTISE_SKIP, "can be judged");
    check_call(registry, "any", "{\"a\":", MORTISE_SKIP, "can be judged");
    registry_unref(registry);
}

static void refuses_rules_that_do_not_keep_their_word(void **state)
{
    static const struct {
        const char *policy, *why;
    } cases[] = {
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":\"rm\"},{\"decision\":\"allow\","
         "\"tool\":\"run_*\",\"match\":[{\"tool\":\"runs\"}]}]}",
         "rule 2 (allow run_*): it does not match example 1 of its 'match'"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":\"*\",\"not_match\":[{\"tool\":\"a\"}]}]}",
         "rule 1 (deny *): it matches example 1 of its 'not_match'"},
        {"{\"rules\":[{\"decision\":\"allow\",\"tool\":\"*\"},{\"decision\":\"deny\","
         "\"tool\":\"rm\",\"match\":[{\"tool\":\"rm\"}]}]}",
         "rule 2 (deny rm): example 1 of its 'match' is decided by rule 1 before it"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":\"*\",\"arguments\":{\"a\":\"x\"},"
         "\"match\":[{\"tool\":\"t\",\"arguments\":{\"b\":\"x\"}}]}]}",
         "does not match example 1"},
        {"{\"rules\":[{\"decision\":\"maybe\",\"tool\":\"a\"}]}", "rule 1 (maybe a): 'decision'"},
        {"{\"rules\":[{\"decision\":\"deny\"}]}", "rule 1 (deny): 'tool'"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":[]}]}", "'tool'"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tools\":\"a\"}]}", "'tools', which is not known"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":\"a\",\"arguments\":{\"a\":1}}]}",
         "'arguments.a'"},
        {"{\"rules\":[{\"decision\":\"deny\",\"tool\":\"a\",\"match\":[{}]}]}", "is no call"},
        {"{\"rules\":[7]}", "rule 1: it is no object"},
        {"{\"default\":\"yes\"}", "'default'"},
        {"{\"rule\":[]}", "'rule', which is not known"},
        {"{\"default\":\"deny\",\"default\":\"allow\"}", "line 1"},
        {"[]", "the policy is no object"},
        {"", "line 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_policy(cases[i].policy);
        plugin_test_closed(config, cases[i].why);
    }
}

static void refuses_files_that_others_can_write(void **state)
{
    char link[80], linked[128];
    (void)state;
    write_policy("{\"default\":\"allow\"}");
    chmod(path, 0660);
    plugin_test_closed(config, "it can be written by others");
    chmod(path, 0644);
    chmod(folder, 0777);
    plugin_test_closed(config, "can be written by others");
    chmod(folder, 0700);
    registry_unref(plugin_test_load(config));

    snprintf(link, sizeof(link), "%s/link", folder);
    snprintf(linked, sizeof(linked), "{\"file\":\"%s\"}", link);
    assert_int_equal(symlink(path, link), 0);
    struct registry *registry = plugin_test_load(linked);
    check_call(registry, "any", "{}", MORTISE_CONTINUE, "");
    registry_unref(registry);
    unlink(link);
    plugin_test_closed(linked, "No such file");
    snprintf(linked, sizeof(linked), "{\"file\":\"%s\"}", folder);
    plugin_test_closed(linked, "no regular file");
    plugin_test_closed("{\"file\":\"approve.json\"}", "absolute");
    plugin_test_closed("{\"file\":7}", "absolute");
}

static void does_nothing_without_a_file(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_HOME", folder, 1);
    struct registry *registry = plugin_test_load("{}");
    assert_int_equal(registry_hook_count(registry), 0);
    registry_unref(registry);
}

static void matches_globs(void **state)
{
    static const struct {
        const char *glob, *text;
        bool matches;
    } cases[] = {{"", "", true},
                 {"", "a", false},
                 {"*", "", true},
                 {"*", "a/b\nc", true},
                 {"a*", "ba", false},
                 {"*a*b", "xaxbxb", true},
                 {"*a*b", "xbxa", false},
                 {"a?c",
                  "a\xe2\x82\xac"
                  "c",
                  true},
                 {"a?c", "ac", false},
                 {"?", "", false},
                 {"a\\*", "a*", true},
                 {"a\\*", "ab", false},
                 {"\\\\", "\\", true},
                 {"a\\", "a", false},
                 {"[ab]", "a", false},
                 {"[ab]", "[ab]", true},
                 {"A", "a", false},
                 {"**", "x", true},
                 {"a**", "a", true},
                 {"*.txt", "a.txt.exe", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (glob_matches(cases[i].glob, strlen(cases[i].glob), cases[i].text,
                         strlen(cases[i].text)) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].glob, cases[i].text);

    /* a text that makes a matcher that tries everything run for years */
    size_t length = 100000;
    char *text = malloc(length);
    memset(text, 'a', length);
    assert_false(glob_matches("*a*a*a*a*a*a*a*a*b", 18, text, length));
    free(text);
}

static void shows_only_what_is_harmless(void **state)
{
    static const char hostile[] = "a\033[2J\r\b\x7f\xc2\x9b"
                                  "1A\xe2\x80\xae"
                                  "b\xff\n\xe2\x82\xac";
    (void)state;
    char *shown = terminal_harmless(hostile, sizeof(hostile) - 1);
    assert_string_equal(shown, "a\\u001b[2J\\u000d\\u0008\\u007f\\u009b1A\\u202eb\\ufffd\\u000a"
                               "\xe2\x82\xac");
    free(shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_matching_rule_decides),
        cmocka_unit_test(denies_what_cannot_be_judged),
        cmocka_unit_test(refuses_rules_that_do_not_keep_their_word),
        cmocka_unit_test(refuses_files_that_others_can_write),
        cmocka_unit_test(does_nothing_without_a_file),
        cmocka_unit_test(matches_globs),
        cmocka_unit_test(shows_only_what_is_harmless),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
