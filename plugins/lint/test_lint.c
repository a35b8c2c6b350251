#include <mortise/test.h>

#include "lint.c"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void in_run(mortise_test *test, const char *name)
{
    mortise_test_context(test, "invocation", name);
}

static const mortise_test_decision *end(mortise_test *test)
{
    return mortise_test_hook(test, &lint_hooks, turn_end, .turn = 0);
}

static void call(mortise_test *test, const char *name)
{
    mortise_test_verdict(mortise_test_hook(test, &lint_when_hooks, post_tool_call,
                                           .meta = &(mortise_tool_meta){.name = name},
                                           .result = "ok"),
                         MORTISE_CONTINUE, "");
}

/* The verdict of one check, which says `part` when it goes on or fails. */
static void check(const char *config, mortise_verdict verdict, const char *part)
{
    mortise_test *test = mortise_test_open(config);
    const mortise_test_decision *decision = end(test);
    const char *said = decision->appended_count ? decision->appended[0] : decision->reason;
    mortise_test_verdict(decision, verdict, "");
    mortise_test_contains(said, part);
    mortise_test_close(test);
}

static void tells_how_it_ended(void)
{
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

static void runs_words_in_a_folder_without_input(void)
{
    check("{\"check\":[\"sh\",\"-c\",\"cat; pwd; echo \\\"$1\\\"; exit 1\",\"sh\",\"$(a) 'b\"],"
          "\"cwd\":\"/usr\"}",
          MORTISE_CONTINUE_WITH, "It wrote:\\n\\n/usr\\n$(a) 'b\\n");
}

static void cuts_the_middle_and_no_character(void)
{
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

static void leaves_nobody_behind(void)
{
    char path[] = "/tmp/test_lint.XXXXXX", config[256];
    struct stat status;
    int fd = mkstemp(path);
    close(fd);
    unlink(path);
    snprintf(config, sizeof(config), "{\"check\":[\"sh\",\"-c\",\"(sleep 1; touch %s) & exit 1\"]}",
             path);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    check(config, MORTISE_CONTINUE_WITH, "exit status 1");
    clock_gettime(CLOCK_MONOTONIC, &after);
    mortise_test_true(after.tv_sec - before.tv_sec <= 1);
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
    mortise_test_true(stat(path, &status) != 0);
}

static void complains_so_often_per_run(void)
{
    mortise_test *test = mortise_test_open("{\"check\":[\"false\"],\"rounds\":2}");
    in_run(test, "run-1");
    mortise_test_verdict(end(test), MORTISE_CONTINUE_WITH, "");
    mortise_test_verdict(end(test), MORTISE_CONTINUE_WITH, "");
    mortise_test_verdict(end(test), MORTISE_CONTINUE, "");
    mortise_test_contains(mortise_test_log(test), "after 2 complaints");
    in_run(test, "run-2");
    mortise_test_verdict(end(test), MORTISE_CONTINUE_WITH, "");
    mortise_test_close(test);
}

static void checks_only_when_a_tool_ran(void)
{
    mortise_test *test = mortise_test_open("{\"check\":[\"false\"],\"when\":[\"edit\",\"write\"]}");
    in_run(test, "run-1");
    call(test, "read");
    mortise_test_verdict(end(test), MORTISE_CONTINUE, "");
    call(test, "write");
    mortise_test_verdict(end(test), MORTISE_CONTINUE_WITH, "");
    in_run(test, "run-2");
    mortise_test_verdict(end(test), MORTISE_CONTINUE, "");
    mortise_test_close(test);
}

static void has_no_hooks_without_a_check(void)
{
    mortise_test *test = mortise_test_open("{\"when\":[\"edit\"]}");
    mortise_test_true(!mortise_test_has_hooks(test, &lint_hooks));
    mortise_test_true(!mortise_test_has_hooks(test, &lint_when_hooks));
    mortise_test_close(test);
}

static void refuses_wrong_settings(void)
{
    mortise_test_refused("{\"check\":\"make\"}", "list of words");
    mortise_test_refused("{\"check\":[]}", "list of words");
    mortise_test_refused("{\"check\":[\"\"]}", "list of words");
    mortise_test_refused("{\"when\":\"edit\"}", "list of tool names");
    mortise_test_refused("{\"timeout\":0}", "seconds");
    mortise_test_refused("{\"rounds\":-1}", "count");
}

int main(void)
{
    tells_how_it_ended();
    runs_words_in_a_folder_without_input();
    cuts_the_middle_and_no_character();
    leaves_nobody_behind();
    complains_so_often_per_run();
    checks_only_when_a_tool_ran();
    has_no_hooks_without_a_check();
    refuses_wrong_settings();
    return mortise_test_status();
}
