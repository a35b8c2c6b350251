#include "test_rows.h"

#include "execute_code.c"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct answer *run(mortise_test *test, const char *language, const char *code)
{
    return rows_run(test, &execute_code_tool, language, code);
}

/* The process that calls are copied from has one thread when it is prepared, or it cannot be. */
static void test_prepare(void)
{
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *entry; tasks && (entry = readdir(tasks));)
        threads += entry->d_name[0] != '.';
    closedir(tasks);
#ifndef __SANITIZE_THREAD__ /* which has one of its own */
    mortise_test_true(threads == 1);
#endif
    mortise_test_true(execute_code_tool.meta->flags & MORTISE_SANDBOX_REQUIRED); /* R15 */
}

/* R14: `code` must be there, and `language` is one of three, JavaScript if it is not said. */
static void test_declaration(void)
{
    const mortise_field *code = &execute_code_fields[0], *language = &execute_code_fields[1];
    mortise_test_same(code->name, "code");
    mortise_test_true(code->flags & MORTISE_REQUIRED);
    mortise_test_same(language->name, "language");
    mortise_test_same(language->fallback, "\"javascript\"");
    mortise_test_same(language->choices[0], "javascript");
    mortise_test_same(language->choices[1], "typescript");
    mortise_test_same(language->choices[2], "python");
    mortise_test_same(language->choices[3], NULL);
}

/* R18: shown while it runs; of a flood the head and the tail are kept. */
static void test_output(mortise_test *test)
{
    static const char *const floods[][2] = {
        {"javascript", "for (let i = 0; i < 300000; i++) console.log('line', i)"},
        {"python", "for i in range(300000): print('line', i)"}};
    for (size_t i = 0; i < 2; i++) {
        const struct answer *flood = run(test, floods[i][0], floods[i][1]);
        mortise_test_true(flood->is_ok && flood->length < 40000);
        mortise_test_contains(flood->text, "\"stdout\":\"line 0\\nline 1\\n");
        mortise_test_contains(flood->text, "bytes left out");
        mortise_test_contains(flood->text, "line 299999\\n\"");
        mortise_test_true(flood->shown_length[0] > 1 << 20 && flood->shown_length[0] < 2 << 20);
        mortise_test_contains(flood->shown[0], "[what follows is not shown]");
    }
    const struct answer *slow = run(test, "python", "import time\nprint('a')\nprint('b')\ntime.sleep(1)\nprint('c')");
    mortise_test_same(slow->shown[0], "a\nb\nc\n");
    mortise_test_true(slow->chunks >= 3); /* b came after a moment, and not with c */
    const struct answer *both = run(test, "javascript", "console.log('1'); console.error('2'); console.log('3')");
    mortise_test_same(both->shown[0], "1\n3\n");
    mortise_test_same(both->shown[1], "2\n");
    const struct answer *failed = run(test, "javascript", "console.log('told'); null.x");
    mortise_test_true(!failed->is_ok);
    mortise_test_same(failed->code, "execute_code.exception");
    mortise_test_contains(failed->text, "TypeError: null is not an object (evaluating 'null.x') (line 1, column 26)\n{");
    mortise_test_same(answer_member(failed, "stdout"), "\"told\\n\"");
    mortise_test_same(run(test, "javascript", "let 1")->code, "execute_code.syntax");
}

/* Characters are not cut in two where something is left out. */
static void test_cut(mortise_test *test)
{
    const struct answer *answer = run(test, "python", "for i in range(3): print('\xE2\x82\xAC' * 9001, end='-')");
    mortise_test_contains(answer->text, "bytes left out");
    mortise_test_true(strstr(answer->text, "\xEF\xBF\xBD") == NULL);
    mortise_test_true(strstr(answer->shown[0], "\xEF\xBF\xBD") == NULL);
    mortise_test_true(answer->shown_length[0] == 3 * (9001 * 3 + 1));
}

/* Files of the current folder become artifacts: regular ones, and not without end. */
static void test_files(mortise_test *test)
{
    const struct answer *answer =
        run(test, "python",
            "import os\n"
            "open('a.txt', 'w').write('hello'); open('b.png', 'wb').write(b'x')\n"
            "os.mkdir('d'); os.symlink('/etc/passwd', 'l'); os.mkfifo('p'); open('.hidden', 'w')\n"
            "open('n\\nl', 'w'); open('z.bin', 'wb').truncate((10 << 20) + 1)\n");
    mortise_test_same(answer_member(answer, "artifacts"),
                      "[{\"name\":\"a.txt\",\"bytes\":5,\"version\":1},"
                      "{\"name\":\"b.png\",\"bytes\":1,\"version\":1},"
                      "{\"name\":\"d\",\"problem\":\"it is a folder: only files in the current folder itself are kept\"},"
                      "{\"name\":\"l\",\"problem\":\"it is a link\"},"
                      "{\"name\":\"n\\nl\",\"problem\":\"its name is too long or has control characters\"},"
                      "{\"name\":\"p\",\"problem\":\"it is no regular file\"},"
                      "{\"name\":\"z.bin\",\"problem\":\"it is too large: at most 10 MiB can be kept\"}]");
    answer = run(test, "python", "for i in range(100): open(f'{i:03}', 'w').write('x')\n1/0");
    mortise_test_contains(answer->text, "\"name\":\"019\",\"bytes\":1");
    mortise_test_contains(answer->text, "{\"name\":\"020\",\"problem\":\"too many files: 20 are kept\"}");
    mortise_test_true(!answer->is_ok && !strstr(answer->text, "\"041\""));
    answer = run(test, "python", "for i in range(5): open(f'{i}', 'w').write('x' * (9 << 20))");
    mortise_test_contains(answer->text, "{\"name\":\"3\",\"problem\":\"too much: 32 MiB are kept\"}");
}

static void test_config(void)
{
    mortise_test_refused("{\"output_bytes\": 10}", "\"output_bytes\" is not a number from 256 to 1048576");
    mortise_test_refused("{\"value_bytes\": \"x\"}", "\"value_bytes\"");
}

static void test_limits(void)
{
    mortise_test *test = mortise_test_open("{\"output_bytes\": 256, \"value_bytes\": 256}");
    const struct answer *answer = run(test, "javascript", "console.log('x'.repeat(1000)); 'y'.repeat(1000)");
    mortise_test_true(answer->is_ok && answer->length < 1000);
    answer = run(test, "python", "print('x' * 1000)\n'y' * 1000");
    mortise_test_true(answer->is_ok && answer->length < 1000);
    /* Without the service files cannot be kept. */
    answer = run(test, "python", "open('a', 'w')");
    mortise_test_contains(answer->text, "{\"name\":\"a\",\"problem\":\"files cannot be kept here\"}");
    mortise_test_close(test);
}

int main(void)
{
    mortise_test *test =
        mortise_test_open_with(&(mortise_test_setup){.services = MORTISE_TEST_ARTIFACTS});
    mortise_test_true(execute_code_tool.prepare(&execute_code_tool, NULL) == MORTISE_OK);
    test_prepare();
    test_declaration();
    test_output(test);
    test_cut(test);
    test_files(test);
    mortise_test_close(test);
    test_limits();
    test_config();
    return mortise_test_status();
}
