#include <mortise/test.h>

#include "shell.c"

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static mortise_test *open_shell(const char *config)
{
    mortise_test *test = mortise_test_open(config);
    mortise_test_context(test, "workspace", "/tmp");
    return test;
}

#define RUN(test, ...) mortise_test_run(test, &shell_tool, &(shell_args){__VA_ARGS__})

static void tells_how_it_ended(mortise_test *test) /* F7 */
{
    mortise_test_text(RUN(test, .command = "echo a; echo b >&2; exit 3"), "a\nb\n[exit status 3]");
    mortise_test_text(RUN(test, .command = "printf x"), "x\n[exit status 0]");
    mortise_test_text(RUN(test, .command = "kill -SEGV $$"), "[ended by signal 11, SIGSEGV]");
    mortise_test_text(RUN(test, .command = "pwd"), "/tmp\n[exit status 0]");
    mortise_test_text(RUN(test, .command = "cat; tty"), "not a tty\n[exit status 1]");
}

static void shows_what_is_no_text(mortise_test *test)
{
    mortise_test_text(RUN(test, .command = "printf 'a\\377\\000\\303\\251\\303'; sleep 0.1; "
                                           "printf '\\251\\342\\202'"),
                      "a\\xff\\x00\xC3\xA9\xC3\xA9\\xe2\\x82\n[exit status 0]");
    mortise_test_text(RUN(test, .command = "printf '\\355\\240\\200\\360\\237\\230\\200'"),
                      "\\xed\\xa0\\x80\xF0\x9F\x98\x80\n[exit status 0]");
}

static void shows_while_it_comes(mortise_test *test) /* F38 */
{
    const mortise_test_result *result =
        RUN(test, .command = "echo one; echo two >&2; printf ask; sleep 0.5; echo three");
    mortise_test_true(result->progress_count >= 4);
    const char *streams[] = {"stdout", "stderr"};
    size_t seen[2] = {0, 0};
    for (size_t i = 0; i < result->progress_count; i++)
        for (int s = 0; s < 2; s++)
            if (strcmp(result->progress[i].stream, streams[s]) == 0)
                seen[s] += result->progress[i].length;
    mortise_test_true(seen[0] == strlen("one\naskthree\n") && seen[1] == strlen("two\n"));
    /* lines without an end: a row of dots, and a question beside a stream that does not pause */
    result = RUN(test, .command = "for i in $(seq 10); do printf .; sleep 0.1; done");
    mortise_test_true(result->progress_count >= 3);
    result = RUN(test, .command = "printf ask; for i in $(seq 8); do echo x >&2; sleep 0.1; done");
    size_t asked = 0;
    while (asked < result->progress_count && strcmp(result->progress[asked].stream, "stdout") != 0)
        asked++;
    mortise_test_true(asked < 5);
}

static void keeps_head_and_tail(void)
{
    mortise_test *test = open_shell("{\"allow\":true,\"output_bytes\":1024}");
    const mortise_test_result *result = RUN(test, .command = "seq 1 100000");
    mortise_test_contains(result->text, "1\n2\n3\n");
    mortise_test_contains(result->text, "\n99999\n100000\n[exit status 0]");
    mortise_test_true(result->length < 1200);
    size_t left = 0;
    const char *gap = strstr(result->text, "\n[");
    mortise_test_true(gap &&
                      sscanf(gap, "\n[%zu bytes of output are left out here]\n", &left) == 1);
    const char *behind = gap ? strchr(gap + 1, '\n') + 1 : result->text;
    size_t kept = (size_t)(gap - result->text) + 1 + strlen(behind) - strlen("[exit status 0]");
    mortise_test_true(kept + left == 588895); /* of `seq` */
    result = RUN(test, .command = "for i in $(seq 600); do printf '\\303\\251'; done");
    for (const char *at = result->text; *at; at++) /* no character is cut */
        mortise_test_true(*at != '\xA9' || at[-1] == '\xC3');
    mortise_test_true(strstr(result->text, "\\x") == NULL);
    for (int length = 1020; length <= 1030; length++) { /* about the limit nothing is lost */
        char command[64];
        snprintf(command, sizeof(command), "head -c %d /dev/zero | tr '\\0' a", length);
        result = RUN(test, .command = command);
        mortise_test_true((strstr(result->text, "left out") != NULL) == (length > 1024));
        if (length <= 1024)
            mortise_test_true(result->length == (size_t)length + strlen("\n[exit status 0]"));
    }
    mortise_test_close(test);
}

static void ends_what_takes_too_long(mortise_test *test)
{
    mortise_test_text(RUN(test, .command = "echo a; setsid sleep 100 & sleep 100; echo b",
                          .timeout_s = 1, .seen.timeout_s = true),
                      "a\n[stopped after 1 s, its time limit: all of its processes were ended]");
    mortise_test_text(RUN(test, .command = "trap '' TERM; echo a; while :; do sleep 1; done",
                          .timeout_s = 1, .seen.timeout_s = true),
                      "a\n[stopped after 1 s, its time limit: all of its processes were ended]");
    mortise_test_text(RUN(test, .command = "sleep 100 & sleep 0.6; exit 3", .timeout_s = 1,
                          .seen.timeout_s = true),
                      "[1 of its processes went on after its end and was ended]\n"
                      "[exit status 3]"); /* the shell was in time */
    mortise_test_error(RUN(test, .command = "true", .timeout_s = 601, .seen.timeout_s = true),
                       MORTISE_INVALID_INPUT, "at most 600");
}

static void leaves_nothing_behind(mortise_test *test)
{
    mortise_test_text(RUN(test, .command = "sleep 100 & setsid sleep 100 >/dev/null 2>&1 & echo a"),
                      "a\n[2 of its processes went on after its end and were ended]\n"
                      "[exit status 0]");
    mortise_test_text(RUN(test, .command = "(sleep 0.2; echo late) & echo a"),
                      "a\nlate\n[exit status 0]"); /* it ends by itself */
}

static void outlives_its_parent(mortise_test *test)
{
    const mortise_test_result *result =
        RUN(test, .command = "setsid sleep 100 & echo $!; kill -9 $PPID; wait");
    mortise_test_contains(result->text, "went on after its end");
    mortise_test_contains(result->text,
                          "[it is not known how the command ended: its parent was killed]");
    pid_t sleeper = atoi(result->text);
    mortise_test_true(sleeper > 1 && kill(sleeper, 0) != 0);
}

/* By a user who has a program that becomes another user: needs root. */
static void gives_up_what_it_may_not_kill(void)
{
    char program[] = "/tmp/mortise-shell-XXXXXX", command[512];
    int status, fd = geteuid() == 0 ? mkstemp(program) : -1;
    if (fd < 0)
        return;
    close(fd);
    snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chmod 4755 %s", getpid(), program,
             program);
    mortise_test_true(system(command) == 0);
    pid_t child = fork();
    if (child == 0) {
        mortise_test_true(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
        mortise_test *test = open_shell("{\"allow\":true}");
        snprintf(command, sizeof(command), "%s stay", program);
        mortise_test_text(RUN(test, .command = command, .timeout_s = 1, .seen.timeout_s = true),
                          "root\n[1 of its processes cannot be ended: somebody else's, or stuck in "
                          "the kernel]\n[stopped after 1 s, its time limit]");
        exit(mortise_test_close(test));
    }
    mortise_test_true(waitpid(child, &status, 0) == child && status == 0);
    unlink(program);
}

/* What is run there; it ends by itself. */
static int stay(void)
{
    if (setuid(0) == 0)
        puts("root");
    fflush(stdout);
    sleep(10);
    return 0;
}

static void can_be_cancelled(mortise_test *test)
{
    int64_t begin = job_now_ms();
    mortise_test_cancel(test, 200);
    const mortise_test_result *result = RUN(test, .command = "sleep 100");
    mortise_test_true(result->status == MORTISE_CANCELLED);
    mortise_test_true(job_now_ms() - begin < 5000);
}

/* From now on: what an old kernel, or a sandbox, answers. */
static void forbid_openat2(unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    mortise_test_true(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void stays_in_the_workspace(void)
{
    char root[] = "/tmp/mortise-shell-XXXXXX", command[512];
    mortise_test *test = open_shell("{\"allow\":true}");
    mortise_test_true(mkdtemp(root) != NULL);
    mortise_test_context(test, "workspace", root);
    RUN(test, .command = "mkdir -p a/b; ln -s /etc out; ln -s a in; ln -s .. a/up");
    snprintf(command, sizeof(command), "%s/a", root);
    mortise_test_contains(RUN(test, .command = "pwd -P", .cwd = command)->text, "/a\n");
    mortise_test_contains(RUN(test, .command = "pwd -P", .cwd = "in/b")->text, "/a/b\n");
    mortise_test_contains(RUN(test, .command = "pwd -P", .cwd = "a/up")->text, root);
    static const char *const outside[] = {"..", "/etc", "out", "a/../..", "a/up/..", "/tmp"};
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
        mortise_test_error(RUN(test, .command = "pwd", .cwd = outside[i]), MORTISE_FORBIDDEN,
                           "out of the workspace");
    mortise_test_error(RUN(test, .command = "pwd", .cwd = "none"), MORTISE_INVALID_INPUT,
                       "cannot use 'none'");
    snprintf(command, sizeof(command), "rm -r %s", root);
    mortise_test_context(test, "workspace", "/tmp");
    RUN(test, .command = command);
    mortise_test_close(test);
}

static void needs_no_openat2(void)
{
    static const unsigned errors[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < 2; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            forbid_openat2(errors[i]);
            stays_in_the_workspace();
            exit(mortise_test_status());
        }
        mortise_test_true(waitpid(child, &status, 0) == child && status == 0);
    }
}

static void hides_variables(void)
{
    setenv("OPENAI_API_KEY", "sk-1", 1);
    setenv("OTHER", "no", 1);
    setenv("CARGO_HOME", "yes", 1);
    setenv("LC_TIME", "C", 1);
    setenv("TERM", "xterm", 1);
    mortise_test *test = open_shell("{\"allow\":true,\"environment\":[\"CARGO_HOME\"]}");
    const mortise_test_result *result = RUN(test, .command = "/usr/bin/env");
    static const char *const there[] = {"CARGO_HOME=yes\n", "LC_TIME=C\n", "TERM=dumb\n", "PATH="};
    for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
        mortise_test_contains(result->text, there[i]);
    mortise_test_true(!strstr(result->text, "sk-1") && !strstr(result->text, "OTHER"));
    result = RUN(test, .command = "echo /proc/self/fd/*"); /* 0, 1, 2, and the folder itself */
    mortise_test_text(result, "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"
                              "[exit status 0]");
    mortise_test_close(test);
}

static void has_sound_settings(void)
{
    mortise_test_refused("{\"allow\":1}", "neither true nor false");
    mortise_test_refused("{\"program\":\"sh\"}", "absolute path");
    mortise_test_refused("{\"output_bytes\":7}", "1024");
    mortise_test_refused("{\"timeout_s\":0}", "1 to 86400");
    mortise_test_refused("{\"timeout_s\":700}", "above");
    mortise_test_refused("{\"environment\":\"A\"}", "list of names");
    mortise_test_refused("{\"environment\":[\"AWS_SESSION_TOKEN\"]}", "is a key");
    mortise_test_refused("{\"environment\":[\"A\",\"XAI_API_KEY\"]}", "is a key");
    mortise_test *test = open_shell("{\"allow\":true,\"program\":\"/nowhere/sh\"}");
    mortise_test_error(RUN(test, .command = "true"), MORTISE_INTERNAL, "No such file");
    mortise_test_close(test);
    test = open_shell(NULL);
    mortise_test_contains(mortise_test_log(test), "switched off");
    mortise_test_close(test);
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "stay") == 0)
        return stay();
    mortise_test *test = open_shell("{\"allow\":true}");
    tells_how_it_ended(test);
    shows_what_is_no_text(test);
    shows_while_it_comes(test);
    ends_what_takes_too_long(test);
    leaves_nothing_behind(test);
    outlives_its_parent(test);
    can_be_cancelled(test);
    mortise_test_close(test);
    keeps_head_and_tail();
    stays_in_the_workspace();
    needs_no_openat2();
    gives_up_what_it_may_not_kill();
    hides_variables();
    has_sound_settings();
    return mortise_test_status();
}
