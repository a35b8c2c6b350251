#include <mortise/test.h>

#include "files.c"
#include "test_folder.h"
#include "wildcard.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const mortise_test_result *glob_it(mortise_test *test, const char *pattern, const char *sort)
{
    return mortise_test_run(
        test, &glob_tool,
        &(glob_args){.pattern = pattern, .path = ".", .sort = sort, .limit = 200});
}

static const mortise_test_result *grep_with(mortise_test *test, grep_args args)
{
    args.path = args.path ? args.path : ".";
    args.output = args.output ? args.output : "content";
    args.limit = args.limit ? args.limit : 200;
    return mortise_test_run(test, &grep_tool, &args);
}
#define grep_it(test, ...) grep_with(test, (grep_args){__VA_ARGS__})

static void matches_patterns(void)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"*.c", "a.c", true},
        {"*.c", "x/y/a.c", true},
        {"*.c", "a.cc", false},
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/x/a.c", false},
        {"src/**/*.c", "src/a.c", true},
        {"src/**/*.c", "src/x/y/a.c", true},
        {"**/a", "a", true},
        {"**", "x/y", true},
        {"x/**", "x/y/z", true},
        {"x/**", "x", false},
        {"a?c",
         "a\xc3\xa9"
         "c",
         true},
        {"[a-c]x", "bx", true},
        {"[!a-c]x", "bx", false},
        {"[]x]", "]", true},
        {"[[:digit:]-]", "7", true},
        {"[![:digit:]_]", "7", false},
        {"[[:digit:]", "7", false},
        {"a[", "a[", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"{a,b}.{c,d}", "b.c", true},
        {"{a,b{1,2}}", "b2", true},
        {"{a,b", "{a,b", true},
        {"/top", "top", true},
        {"/top", "x/top", false},
        {"a*b*c", "aXbYbZc", true},
        {"./src/*", "src/a", true},
        {"**/x/**/y", "a/x/b/x/c/y", true},
        {"x/*/y", "x/y", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wildcards wildcards;
        mortise_test_same(wildcards_init(&wildcards, cases[i].pattern), NULL);
        if (wildcards_match(&wildcards, cases[i].path) != cases[i].matches)
            mortise_test_same(cases[i].pattern, cases[i].path); /* tells which */
        wildcards_release(&wildcards);
    }
    struct wildcards wildcards;
    mortise_test_contains(
        wildcards_init(&wildcards, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
        "too many patterns");
    char evil[2001] = "", name[256] = "";
    for (int i = 0; i < 200; i++)
        strcat(evil, "*a");
    memset(name, 'a', 250);
    strcat(evil, "b");
    mortise_test_true(!wildcard_match(evil, name));
}

static void finds_files(mortise_test *test)
{
    put("g/b.c", "");
    put("g/a.c", "");
    put("g/sub/c.c", "");
    put("g/.hidden.c", "");
    put("g/odd\nname.c", "");
    mortise_test_text(glob_it(test, "g/**/*.c", "name"),
                      "g/a.c\ng/b.c\n\"g/odd\\nname.c\"\ng/sub/c.c\n");
    const struct timespec times[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    utimensat(AT_FDCWD, in_workspace("g/b.c"), times, 0);
    mortise_test_true(strncmp(glob_it(test, "g/*.c", "time")->text, "g/b.c\n", 6) == 0);
    mortise_test_text(
        mortise_test_run(test, &glob_tool,
                         &(glob_args){.pattern = "*.c", .path = "g", .sort = "name", .limit = 2}),
        "g/a.c\ng/b.c\n[2 of 4 files; narrow the pattern or raise limit]\n");
    mortise_test_contains(glob_it(test, in_workspace("g/**/a.c"), "name")->text, "g/a.c\n");
    mortise_test_error(glob_it(test, "", "name"), MORTISE_INVALID_INPUT, "it is empty");
}

static void respects_gitignore(mortise_test *test)
{
    put("i/.gitignore", "*.o\n!keep.o\n/build/\nlogs/**\n# comment\nfolder/\n\\#x\ntrail  \n");
    put("i/sub/.gitignore", "!*.o\nsecret\n");
    static const char *const names[] = {"i/a.o",      "i/keep.o",   "i/build/x", "i/sub/build",
                                        "i/logs/l",   "i/folder/y", "i/sub/b.o", "i/sub/secret",
                                        "i/x/folder", "i/#x",       "i/trail",   "i/a.c"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(names[i], "needle\n");
    const char *seen = "i/a.c\ni/keep.o\ni/sub/b.o\ni/sub/build\ni/x/folder\n";
    mortise_test_text(glob_it(test, "i/**", "name"), seen);
    mortise_test_text(grep_it(test, .pattern = "needle", .path = "i/sub", .output = "files"),
                      "i/sub/b.o\ni/sub/build\n[2 matches in 2 of 2 files]\n");
    const mortise_test_result *all = mortise_test_run(
        test, &glob_tool,
        &(glob_args){.pattern = "i/**", .path = ".", .sort = "name", .limit = 99, .ignored = true});
    mortise_test_contains(all->text, "i/build/x\n");
    mortise_test_contains(all->text, "i/sub/secret\n");
}

static void lists_a_tree(mortise_test *test)
{
    put("t/b.txt", "12345");
    put("t/sub/deep/x", "");
    put("t/sub/c.txt", "");
    mortise_test_true(symlink("b.txt", in_workspace("t/link")) == 0);
    mortise_test_true(mkfifo(in_workspace("t/pipe"), 0600) == 0);
    const mortise_test_result *tree = mortise_test_run(
        test, &list_files_tool, &(list_files_args){.path = "t", .depth = 2, .limit = 100});
    mortise_test_text(tree, "sub/\n  deep/\n  c.txt  0 bytes\nb.txt  5 bytes\nlink -> b.txt\n"
                            "pipe [special]\n[4 files, 2 folders, 1 of them not opened; a larger "
                            "depth opens them]\n");
    mortise_test_contains(mortise_test_run(test, &list_files_tool,
                                           &(list_files_args){.path = "t", .depth = 2, .limit = 2})
                              ->text,
                          "there are more");
    mortise_test_error(
        mortise_test_run(test, &list_files_tool,
                         &(list_files_args){.path = "t/b.txt", .depth = 1, .limit = 9}),
        MORTISE_INVALID_INPUT, "not a folder");
    mortise_test_error(
        mortise_test_run(test, &list_files_tool,
                         &(list_files_args){.path = "t/subs", .depth = 1, .limit = 9}),
        MORTISE_MISSING, "did you mean 't/sub'?");
}

static void searches(mortise_test *test)
{
    put("s/a.txt", "alpha\nbeta 1\ngamma\nbeta 2\ndelta\n");
    put("s/b.md", "Beta\r\n");
    put_bytes("s/bin", "beta\0", 5);
    mortise_test_text(grep_it(test, .pattern = "^beta \\d$", .path = "s"),
                      "s/a.txt:2:beta 1\ns/a.txt:4:beta 2\n[2 matches in 1 of 2 files]\n"
                      "[1 binary files were left out]\n");
    mortise_test_text(
        grep_it(test, .pattern = "beta$", .path = "s", .glob = "*.{md,rst}", .ignore_case = true),
        "s/b.md:1:Beta\n[1 match in 1 of 1 files]\n");
    mortise_test_text(grep_it(test, .pattern = "gamma", .path = "s/a.txt", .before = 1, .after = 1),
                      "s/a.txt-2-beta 1\ns/a.txt:3:gamma\ns/a.txt-4-beta 2\n"
                      "[1 match in 1 of 1 files]\n");
    mortise_test_text(grep_it(test, .pattern = "alpha|delta", .path = "s/a.txt", .after = 1),
                      "s/a.txt:1:alpha\ns/a.txt-2-beta 1\n--\ns/a.txt:5:delta\n"
                      "[2 matches in 1 of 1 files]\n");
    mortise_test_text(grep_it(test, .pattern = "beta", .path = "s/a.txt", .output = "count"),
                      "s/a.txt:2\n[2 matches in 1 of 1 files]\n");
    mortise_test_text(grep_it(test, .pattern = "alpha.beta", .path = "s/a.txt", .multiline = true),
                      "s/a.txt:1:alpha\ns/a.txt:2:beta 1\n[1 match in 1 of 1 files]\n");
    mortise_test_text(grep_it(test, .pattern = "alpha\\sbeta", .path = "s/a.txt"),
                      "[no match in 1 files]\n");
    put("s/lit.txt", "f(x)[0].*\n");
    mortise_test_text(grep_it(test, .pattern = "f(x)[0].*", .path = "s", .literal = true),
                      "s/lit.txt:1:f(x)[0].*\n[1 match in 1 of 3 files]\n"
                      "[1 binary files were left out]\n");
    mortise_test_text(grep_it(test, .pattern = "beta", .path = "s/a.txt", .limit = 1),
                      "s/a.txt:2:beta 1\n[stopped after 1 matching lines: there are more; narrow "
                      "the pattern, the path or glob, or raise limit]\n");
    mortise_test_error(grep_it(test, .pattern = "a(b", .path = "s"), MORTISE_INVALID_INPUT,
                       "no regular expression: missing closing parenthesis");
    mortise_test_error(grep_it(test, .pattern = "x)(y", .path = "s"), MORTISE_INVALID_INPUT,
                       "no regular expression");
}

static void no_pattern_gets_past_the_limits(mortise_test *test)
{
    char *text = malloc(200001);
    memset(text, 'a', 200000);
    text[200000] = '\0';
    text[199999] = '!';
    put("evil.txt", text);
    free(text);
    mortise_test_error(grep_it(test, .pattern = "^(a|aa)+$", .path = "evil.txt"),
                       MORTISE_INVALID_INPUT, "backtracks too much");
    /* quadratic: below the limit at each place, so the clock must stop it */
    mortise_test_deadline(test, 1500);
    mortise_test_contains(grep_it(test, .pattern = "a*?[bc]", .path = "evil.txt")->text,
                          "the time was over in evil.txt");
    mortise_test_cancel(test, 0);
    mortise_test_true(grep_it(test, .pattern = "x", .path = ".")->status == MORTISE_CANCELLED);
    mortise_test_error(grep_it(test, .pattern = "(*LIMIT_MATCH=4000000000)x", .path = "."),
                       MORTISE_INVALID_INPUT, "no regular expression");
}

int main(void)
{
    matches_patterns();
    mortise_test *test = begin(NULL);
    finds_files(test);
    respects_gitignore(test);
    lists_a_tree(test);
    searches(test);
    no_pattern_gets_past_the_limits(test);
    end(test);
    return mortise_test_status();
}
