#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/plugin_test.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

static struct timeline timeline; /* nobody listens */

static const char *run_name(void *name, const char *key, struct arena *memory)
{
    (void)memory;
    return strcmp(key, "invocation") == 0 ? name : NULL;
}

static struct hook_setting run(struct registry *registry, char *name)
{
    return (struct hook_setting){
        .registry = registry, .timeline = &timeline, .context = run_name, .context_data = name};
}

/* Ends a turn; `said` gets the message that the run goes on with. */
static mortise_verdict end(const struct hook_setting *setting, struct text *said)
{
    struct hook_outcome outcome = {0};
    struct item_list appended = {0};
    hooks_turn_end(setting, NULL, 0, 0, &appended, &outcome);
    text_release(said);
    if (appended.count)
        item_write_json(appended.items[0], said);
    else
        text_puts(said, outcome.reason);
    item_list_release(&appended);
    return outcome.verdict;
}

static void call(const struct hook_setting *setting, const char *name)
{
    struct tool tool = {.meta = {.size = sizeof(tool.meta), .name = name}};
    struct hook_tool_call call = {.tool = &tool, .call_id = "c", .count = 1};
    struct hook_outcome outcome = {0};
    call.result = (struct bytes){strdup("ok"), 2};
    hooks_post_tool_call(setting, &call, &outcome);
    free(call.result.data);
    assert_int_equal(outcome.verdict, MORTISE_CONTINUE);
}

/* The verdict of one check, which says `part` when it goes on or fails. */
static void check(const char *config, mortise_verdict verdict, const char *part)
{
    char name[] = "run-1";
    struct text said = TEXT_INIT;
    struct registry *registry = plugin_test_load(config);
    struct hook_setting setting = run(registry, name);
    assert_int_equal(end(&setting, &said), verdict);
    if (!strstr(text_cstr(&said), part))
        fail_msg("%s: '%s' has no '%s'", config, text_cstr(&said), part);
    text_release(&said);
    registry_unref(registry);
}

static void tells_how_it_ended(void **state)
{
    (void)state;
    check("{\"check\":[\"true\"]}", MORTISE_CONTINUE, "");
    check("{\"check\":[\"false\"]}", MORTISE_CONTINUE_WITH,
          "The check `false` failed with exit status 1. It wrote nothing.");
    check("{\"check\":[\"sh\",\"-c\",\"echo out; echo err >&2; exit 3\"]}", MORTISE_CONTINUE_WITH,
          "failed with exit status 3. It wrote:\\n\\nout\\nerr\\n");
    check("{\"check\":[\"sh\",\"-c\",\"kill -SEGV $$\"]}", MORTISE_CONTINUE_WITH,
          "was ended by signal 11");
    check("{\"check\":[\"sleep\",\"60\"],\"timeout\":0.1}", MORTISE_CONTINUE_WITH,
          "did not end within 0.1 s and was stopped");
    check("{\"check\":[\"/nonexistent/check\"]}", MORTISE_HOOK_FAILED,
          "cannot run '/nonexistent/check': No such file");
    check("{\"check\":[\"true\"],\"cwd\":\"/nonexistent\"}", MORTISE_HOOK_FAILED, "No such file");
}

static void runs_words_in_a_folder_without_input(void **state)
{
    (void)state;
    check("{\"check\":[\"sh\",\"-c\",\"cat; pwd; echo \\\"$1\\\"; exit 1\",\"sh\",\"$(a) 'b\"],"
          "\"cwd\":\"/usr\"}",
          MORTISE_CONTINUE_WITH, "It wrote:\\n\\n/usr\\n$(a) 'b\\n");
}

static void cuts_the_middle_and_no_character(void **state)
{
    (void)state;
    check("{\"check\":[\"sh\",\"-c\",\"echo FIRST; yes \\u20ac | head -c 100000; echo; echo LAST; "
          "exit 1\"]}",
          MORTISE_CONTINUE_WITH, "FIRST\\n\xe2\x82\xac");
    check("{\"check\":[\"sh\",\"-c\",\"yes \\u20ac\\u20ac | head -c 100000; echo; echo LAST; "
          "exit 1\"]}",
          MORTISE_CONTINUE_WITH, "bytes are left out]\\n");
    check("{\"check\":[\"sh\",\"-c\",\"yes x | head -c 100000; echo LAST; exit 1\"]}",
          MORTISE_CONTINUE_WITH, "[88005 bytes are left out]\\n");
    check("{\"check\":[\"sh\",\"-c\",\"yes x | head -c 100000; echo LAST; exit 1\"]}",
          MORTISE_CONTINUE_WITH, "x\\nLAST\\n");
    check("{\"check\":[\"sh\",\"-c\",\"printf 'a\\\\000b\\\\377c'; exit 1\"]}",
          MORTISE_CONTINUE_WITH,
          "a?b\xef\xbf\xbd"
          "c");
}

static void leaves_nobody_behind(void **state)
{
    char path[] = "/tmp/test_lint.XXXXXX", config[256];
    struct stat status;
    (void)state;
    int fd = mkstemp(path);
    close(fd);
    unlink(path);
    snprintf(config, sizeof(config), "{\"check\":[\"sh\",\"-c\",\"(sleep 1; touch %s) & exit 1\"]}",
             path);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    check(config, MORTISE_CONTINUE_WITH, "exit status 1");
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec <= 1);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
    assert_int_not_equal(stat(path, &status), 0);
}

static void complains_so_often_per_run(void **state)
{
    char first[] = "run-1", second[] = "run-2";
    struct text said = TEXT_INIT;
    struct registry *registry = plugin_test_load("{\"check\":[\"false\"],\"rounds\":2}");
    struct hook_setting one = run(registry, first), two = run(registry, second);
    (void)state;
    assert_int_equal(end(&one, &said), MORTISE_CONTINUE_WITH);
    assert_int_equal(end(&one, &said), MORTISE_CONTINUE_WITH);
    assert_int_equal(end(&one, &said), MORTISE_CONTINUE);
    assert_int_equal(end(&two, &said), MORTISE_CONTINUE_WITH);
    text_release(&said);
    registry_unref(registry);
}

static void checks_only_when_a_tool_ran(void **state)
{
    char first[] = "run-1", second[] = "run-2";
    struct text said = TEXT_INIT;
    struct registry *registry =
        plugin_test_load("{\"check\":[\"false\"],\"when\":[\"edit\",\"write\"]}");
    struct hook_setting one = run(registry, first), two = run(registry, second);
    (void)state;
    call(&one, "read");
    assert_int_equal(end(&one, &said), MORTISE_CONTINUE);
    call(&one, "write");
    assert_int_equal(end(&one, &said), MORTISE_CONTINUE_WITH);
    assert_int_equal(end(&two, &said), MORTISE_CONTINUE);
    text_release(&said);
    registry_unref(registry);
}

static void has_no_hooks_without_a_check(void **state)
{
    (void)state;
    struct registry *registry = plugin_test_load("{\"when\":[\"edit\"]}");
    assert_int_equal(registry_hook_count(registry), 0);
    registry_unref(registry);
}

static void refuses_wrong_settings(void **state)
{
    (void)state;
    plugin_test_refused("{\"check\":\"make\"}", "list of words");
    plugin_test_refused("{\"check\":[]}", "list of words");
    plugin_test_refused("{\"check\":[\"\"]}", "list of words");
    plugin_test_refused("{\"when\":\"edit\"}", "list of tool names");
    plugin_test_refused("{\"timeout\":0}", "seconds");
    plugin_test_refused("{\"rounds\":-1}", "count");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_how_it_ended),
        cmocka_unit_test(runs_words_in_a_folder_without_input),
        cmocka_unit_test(cuts_the_middle_and_no_character),
        cmocka_unit_test(leaves_nobody_behind),
        cmocka_unit_test(complains_so_often_per_run),
        cmocka_unit_test(checks_only_when_a_tool_ran),
        cmocka_unit_test(has_no_hooks_without_a_check),
        cmocka_unit_test(refuses_wrong_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
