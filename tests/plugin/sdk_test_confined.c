/* mortise/test.h: calls of tools that need a sandbox (R15), and mortise_no_more_processes() in them. */
#include <mortise/test.h>

#include <mortise/sandbox.h>
#include <mortise/tool.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int prepared, calls;

static mortise_status prepare_it(const mortise_tool *self, const mortise_host *host)
{
    char word[8] = "";
    (void)self;
    prepared++;
    if (mortise_config_string(host, "engine", word, sizeof(word)) == MORTISE_OK)
        return mortise_refuse(host, "there is no engine '%s'", word) ? MORTISE_OK : MORTISE_FAILED;
    return MORTISE_OK;
}

static void *finish_thread(void *done)
{
    *(int *)done = 1;
    return NULL;
}

/* How a fork ends: its exit code, or -errno. */
static int fork_one(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    if (child < 0)
        return -errno;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

MORTISE_TOOL_WITH(work, (prepare(prepare_it), inside(MORTISE_INSIDE_PROCESSES)),
    MORTISE_SANDBOX_REQUIRED, "Work.",
    (string, how, "How.", fallback("")));

static mortise_status close_up(mortise_call *call)
{
    int before = fork_one(), started = 0;
    pthread_t thread;
    mortise_status shut = mortise_no_more_processes();
    int after = fork_one();
    execl("/bin/true", "true", NULL);
    int exec = errno;
    pthread_create(&thread, NULL, finish_thread, &started);
    pthread_join(thread, NULL);
    return mortise_reply(call, "%d %d %d %d %d", before, (int)shut, after, exec, started);
}

static mortise_status work(mortise_call *call, const work_args *args)
{
    char folder[200] = "";
    calls++;
    if (!args->how || strcmp(args->how, "") == 0) {
        mortise_emit(call, "stdout", "a\0b", 3);
        mortise_progress(call, 1, 2, "half");
        mortise_attach_bytes(call, "image/png", "plot.png", "\0png", 4);
        return mortise_reply(call, "%d %d", prepared, calls);
    }
    if (strcmp(args->how, "folder") == 0)
        return mortise_reply(call, "%d", getcwd(folder, sizeof(folder)) && getenv("HOME") &&
                                             strcmp(folder, getenv("HOME")) == 0 &&
                                             !getenv("MORTISE_TEST_CANARY"));
    if (strcmp(args->how, "crash") == 0)
        raise(SIGKILL);
    if (strcmp(args->how, "hang") == 0)
        pause();
    if (strcmp(args->how, "close") == 0)
        return close_up(call);
    return mortise_fail_as(call, MORTISE_FORBIDDEN, "work.no", "not '%s'", args->how);
}

MORTISE_PLUGIN(.name = "confined", .tools = MORTISE_TOOLS(work));

#define RUN(test, word) mortise_test_run(test, &work_tool, &(work_args){.how = word})

static void check_calls(void)
{
    mortise_test *test = mortise_test_open(NULL);
    for (int i = 0; i < 2; i++) {
        const mortise_test_result *result = RUN(test, "");
        mortise_test_text(result, "1 1");
        mortise_test_true(result->progress_count == 2 && result->progress[0].length == 3 &&
                          strcmp(result->progress[0].stream, "stdout") == 0 &&
                          strcmp(result->progress[1].text, "half") == 0);
        mortise_test_true(result->attachment_count == 1 &&
                          memcmp(result->attachments[0].data, "\0png", 4) == 0);
    }
    mortise_test_true(calls == 0 && prepared == 1);
    setenv("MORTISE_TEST_CANARY", "x", 1);
    mortise_test_text(RUN(test, "folder"), "1");
    mortise_test_error(RUN(test, "crash"), MORTISE_INTERNAL, "killed by signal 9");
    mortise_test_error(RUN(test, "no"), MORTISE_FORBIDDEN, "not 'no'");
    mortise_test_patience(test, 100);
    mortise_test_error(RUN(test, "hang"), MORTISE_TIMEOUT, "not finished in time");
    mortise_test_close(test);
}

/* EPERM is 1. */
static void check_closing(void)
{
    mortise_test *test = mortise_test_open(NULL);
    for (int i = 0; i < 2; i++)
        mortise_test_text(RUN(test, "close"), "7 0 -1 1 1");
    mortise_test_close(test);
}

static void check_prepare(void)
{
    mortise_test *test = mortise_test_open("{\"engine\":\"x\"}");
    for (int i = 0; i < 2; i++)
        mortise_test_error(RUN(test, ""), MORTISE_UNAVAILABLE, "there is no engine 'x'");
    mortise_test_close(test);
}

int main(void)
{
    check_calls();
    check_closing();
    check_prepare();
    return mortise_test_status();
}
