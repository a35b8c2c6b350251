#include <mortise/test.h>

#include "approve.c"

/* What has no use of the host's: tested as it is. */
#include "policy.c"
#include "terminal.c"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_approve.XXXXXX";
static char path[64], config[128];

static void write_policy(const char *text)
{
    FILE *out = fopen(path, "w");
    mortise_test_true(out != NULL);
    fputs(text, out);
    mortise_test_true(fclose(out) == 0);
}

static void make_folder(void)
{
    mortise_test_true(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/approve.json", folder);
    snprintf(config, sizeof(config), "{\"file\":\"%s\"}", path);
}

static void remove_folder(void)
{
    unlink(path);
    mortise_test_true(rmdir(folder) == 0);
}

/* What is decided on a call, with a reason that has `reason` in it. */
static void check_call(mortise_test *test, const char *name, const char *arguments,
                       mortise_verdict verdict, const char *reason)
{
    const mortise_test_decision *decision =
        mortise_test_hook(test, &approve_hooks, pre_tool_call,
                          .meta = &(mortise_tool_meta){.name = name}, .arguments = arguments);
    if (!mortise_test_verdict(decision, verdict, reason))
        fprintf(stderr, "    for %s(%s)\n", name, arguments);
}

static void first_matching_rule_decides(void)
{
    write_policy(
        "{\"default\":\"deny\",\"rules\":["
        "{\"decision\":\"deny\",\"tool\":\"*\",\"arguments\":{\"path\":[\"*/.ssh/*\",\"*..*\"]},"
        "\"reason\":\"not there\"},"
        "{\"decision\":\"allow\",\"tool\":[\"read_*\",\"list\"],\"arguments\":{\"path\":\"/home/"
        "*\"}},"
        "{\"decision\":\"allow\",\"tool\":\"write\",\"arguments\":{\"how\":\"{\\\"deep\\\":[1,*\"}}"
        ","
        "{\"decision\":\"allow\",\"tool\":\"set\",\"arguments\":{\"on\":\"true\",\"n\":\"1?\"}}]}");
    mortise_test *test = mortise_test_open(config);
    check_call(test, "read_file", "{\"path\":\"/home/a\"}", MORTISE_CONTINUE, "");
    check_call(test, "list", "{\"path\":\"/home/\\u00e9\"}", MORTISE_CONTINUE, "");
    check_call(test, "read_file", "{\"path\":\"/home/a/.ssh/id\"}", MORTISE_SKIP, "not there");
    check_call(test, "read_file", "{\"path\":\"/home/../etc\"}", MORTISE_SKIP, "not there");
    check_call(test, "read_file", "{\"path\":\"/home/a\\u0000/../x\"}", MORTISE_SKIP, "not there");
    check_call(test, "read_file", "{}", MORTISE_SKIP, "policy");
    check_call(test, "write", "{\"how\":{ \"deep\" : [1, {}]}}", MORTISE_CONTINUE, "");
    check_call(test, "write", "{\"how\":{\"deep\":[2]}}", MORTISE_SKIP, "policy");
    check_call(test, "set", "{\"on\":true,\"n\":12}", MORTISE_CONTINUE, "");
    check_call(test, "set", "{\"on\":true,\"n\":123}", MORTISE_SKIP, "policy");
    check_call(test, "set", "{\"on\":true}", MORTISE_SKIP, "policy");
    mortise_test_close(test);
}

static void denies_what_cannot_be_judged(void)
{
    write_policy("{\"default\":\"allow\"}");
    mortise_test *test = mortise_test_open(config);
    check_call(test, "any", "{\"a\":1}", MORTISE_CONTINUE, "");
    check_call(test, "any", "{\"a\":1,\"a\":2}", MORTISE_SKIP, "can be judged");
    check_call(test, "any", "[1]", MORTISE_SKIP, "can be judged");
    check_call(test, "any", "{\"a\":", MORTISE_SKIP, "can be judged");
    mortise_test_close(test);
}

static void refuses_rules_that_do_not_keep_their_word(void)
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_policy(cases[i].policy);
        mortise_test_refused(config, cases[i].why);
    }
}

static void refuses_files_that_others_can_write(void)
{
    char link[80], linked[128];
    write_policy("{\"default\":\"allow\"}");
    chmod(path, 0660);
    mortise_test_refused(config, "it can be written by others");
    chmod(path, 0644);
    chmod(folder, 0777);
    mortise_test_refused(config, "can be written by others");
    chmod(folder, 0700);
    mortise_test_close(mortise_test_open(config));

    snprintf(link, sizeof(link), "%s/link", folder);
    snprintf(linked, sizeof(linked), "{\"file\":\"%s\"}", link);
    mortise_test_true(symlink(path, link) == 0);
    mortise_test *test = mortise_test_open(linked);
    check_call(test, "any", "{}", MORTISE_CONTINUE, "");
    mortise_test_close(test);
    unlink(link);
    mortise_test_refused(linked, "No such file");
    snprintf(linked, sizeof(linked), "{\"file\":\"%s\"}", folder);
    mortise_test_refused(linked, "no regular file");
    mortise_test_refused("{\"file\":\"approve.json\"}", "absolute");
    mortise_test_refused("{\"file\":7}", "absolute");
}

static void does_nothing_without_a_file(void)
{
    setenv("XDG_CONFIG_HOME", folder, 1);
    mortise_test *test = mortise_test_open("{}");
    mortise_test_true(!mortise_test_has_hooks(test, &approve_hooks));
    mortise_test_close(test);
}

static void matches_globs(void)
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (glob_matches(cases[i].glob, strlen(cases[i].glob), cases[i].text,
                         strlen(cases[i].text)) != cases[i].matches)
            mortise_test_same(cases[i].glob, cases[i].text);

    /* a text that makes a matcher that tries everything run for years */
    size_t length = 100000;
    char *text = malloc(length);
    memset(text, 'a', length);
    mortise_test_true(!glob_matches("*a*a*a*a*a*a*a*a*b", 18, text, length));
    free(text);
}

static void shows_only_what_is_harmless(void)
{
    static const char hostile[] = "a\033[2J\r\b\x7f\xc2\x9b"
                                  "1A\xe2\x80\xae"
                                  "b\xff\n\xe2\x82\xac";
    char *shown = terminal_harmless(hostile, sizeof(hostile) - 1);
    mortise_test_same(shown, "a\\u001b[2J\\u000d\\u0008\\u007f\\u009b1A\\u202eb\\ufffd\\u000a"
                             "\xe2\x82\xac");
    free(shown);
}

int main(void)
{
    make_folder();
    first_matching_rule_decides();
    denies_what_cannot_be_judged();
    refuses_rules_that_do_not_keep_their_word();
    refuses_files_that_others_can_write();
    does_nothing_without_a_file();
    matches_globs();
    shows_only_what_is_harmless();
    remove_folder();
    return mortise_test_status();
}
