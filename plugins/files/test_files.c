#include <mortise/test.h>

#include "files.c"
#include "test_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITING "{\"write\":true}"
#define BOM     "\xEF\xBB\xBF"

static const mortise_test_result *read_it(mortise_test *test, const char *path)
{
    return mortise_test_run(test, &read_file_tool,
                            &(read_file_args){.path = path, .offset = 1, .limit = 2000});
}

static const mortise_test_result *write_it(mortise_test *test, const char *path, const char *text)
{
    return mortise_test_run(test, &write_file_tool,
                            &(write_file_args){.path = path, .content = text});
}

static const mortise_test_result *edit_it(mortise_test *test, const char *path, const char *old,
                                          const char *new)
{
    const edit_text_args edit = {.old_text = old, .new_text = new};
    return mortise_test_run(test, &edit_file_tool,
                            &(edit_file_args){.path = path, .edits = {&edit, 1}});
}

/* ---- which tools there are ---------------------------------------------------------------- */

static void nothing_writes_unless_it_is_switched_on(void)
{
    static const char *const names[] = {"read_file", "list_files", "glob",
                                        "grep",      "write_file", "edit_file"};
    mortise_test *test = mortise_test_open(WRITING);
    for (size_t i = 0; i < 6; i++)
        mortise_test_true(mortise_test_tool(test, names[i]) != NULL);
    mortise_test_close(test);
    struct files off = {.may_write = false};
    mortise_test_true(!wants_tool(&off, &write_file_tool) && !wants_tool(&off, &edit_file_tool));
    mortise_test_true(wants_tool(&off, &read_file_tool) && wants_tool(&off, &grep_tool));
    mortise_test_refused("{\"write\":1}", "true or false");
    mortise_test_refused("{\"roots\":[\"relative\"]}", "not absolute");
    mortise_test_refused("{\"roots\":[\"/nonexistent/folder\"]}", "not there");
}

/* ---- reading ------------------------------------------------------------------------------ */

static void reads_lines(mortise_test *test)
{
    put("a.txt", "one\ntwo\nthree\n");
    mortise_test_text(read_it(test, "a.txt"), "one\ntwo\nthree\n");
    mortise_test_text(read_it(test, in_workspace("./b/../a.txt")), "one\ntwo\nthree\n");
    mortise_test_text(
        mortise_test_run(
            test, &read_file_tool,
            &(read_file_args){.path = "a.txt", .offset = 2, .limit = 1, .line_numbers = true}),
        "     2\ttwo\n[lines 2-2 of 3; go on with offset 3]\n");
    mortise_test_error(
        mortise_test_run(test, &read_file_tool,
                         &(read_file_args){.path = "a.txt", .offset = 9, .limit = 1}),
        MORTISE_INVALID_INPUT, "has 3 lines: there is no line 9");
    put("crlf.txt", "one\r\ntwo");
    mortise_test_text(read_it(test, "crlf.txt"),
                      "one\ntwo\n[lines end with CRLF, which edit_file and write_file keep]\n"
                      "[the last line has no line end]\n");
    put("empty.txt", "");
    mortise_test_text(read_it(test, "empty.txt"), "[the file is empty]\n");
    put("latin.txt", "caf\xe9 \x1b[31m \xc3\xa9\n");
    mortise_test_text(read_it(test, "latin.txt"),
                      "caf\\xe9 \\x1b[31m \xc3\xa9\n"
                      "[1 bytes are not UTF-8 and are shown as \\xNN]\n");
}

static void says_what_was_meant(mortise_test *test)
{
    put("src/main.c", "int x;\n");
    mortise_test_error(read_it(test, "src/mian.c"), MORTISE_MISSING, "did you mean 'src/main.c'?");
    mortise_test_error(read_it(test, "src/main.cc"), MORTISE_MISSING, "did you mean 'src/main.c'?");
    mortise_test_error(read_it(test, "scr/main.c"), MORTISE_MISSING, "nor is the folder 'scr'");
    mortise_test_error(read_it(test, "src"), MORTISE_INVALID_INPUT, "list_files");
    mortise_test_error(read_it(test, "src/main.c/x"), MORTISE_INVALID_INPUT, "not a folder");
    mortise_test_error(read_it(test, "~/x"), MORTISE_INVALID_INPUT, "'~' is not expanded");
}

static void cuts_what_is_long(mortise_test *test)
{
    char *long_text = malloc(200001);
    memset(long_text, 'x', 200000);
    long_text[200000] = '\0';
    put("wide.txt", long_text);
    const mortise_test_result *wide = read_it(test, "wide.txt");
    mortise_test_true(wide->length < 3000);
    mortise_test_contains(wide->text, "[... 198000 bytes more in this line]");
    for (size_t i = 99; i < 200000; i += 100)
        long_text[i] = '\n';
    put("long.txt", long_text);
    const mortise_test_result *part = read_it(test, "long.txt");
    mortise_test_true(part->length < 60000);
    mortise_test_contains(part->text, "of 2000; go on with offset ");
    free(long_text);

    FILE *out = fopen(in_workspace("huge.log"), "w"); /* too large to be held in memory */
    for (int i = 1; i <= 2000000; i++)
        fprintf(out, "line %d\n", i);
    fclose(out);
    const mortise_test_result *huge =
        mortise_test_run(test, &read_file_tool,
                         &(read_file_args){.path = "huge.log", .offset = 1900000, .limit = 2});
    mortise_test_contains(huge->text,
                          "line 1900000\nline 1900001\n[lines 1900000-1900001 of a file");
    const mortise_test_result *last =
        mortise_test_run(test, &read_file_tool,
                         &(read_file_args){.path = "huge.log", .offset = 2000000, .limit = 2});
    mortise_test_text(last,
                      "line 2000000\n[lines 2000000-2000000 of a file of 23.7 MB, which is too "
                      "large to be edited]\n"); /* and no word of going on */
    mortise_test_error(edit_it(test, "huge.log", "line 1\n", "x"), MORTISE_INVALID_INPUT,
                       "too large");
}

/* A line is cut only in a file that does not fit, and what was cut was not read. */
static void knows_what_it_has_cut(mortise_test *test)
{
    char *wide = calloc(1, 60001);
    memset(wide, 'x', 5000);
    put("fits.json", wide);
    mortise_test_true(read_it(test, "fits.json")->length > 5000);
    mortise_test_contains(write_it(test, "fits.json", "y")->text, "replaced");
    memset(wide, 'x', 60000);
    strcpy(wide + 50000, "\nshort\n");
    put("wide.json", wide);
    mortise_test_contains(read_it(test, "wide.json")->text, "[... 48000 bytes more in this line]");
    mortise_test_error(write_it(test, "wide.json", "y"), MORTISE_INVALID_INPUT, "only a part");
    const edit_text_args edit = {.old_text = "short", .new_text = "z"};
    mortise_test_text(mortise_test_run(test, &edit_file_tool,
                                       &(edit_file_args){.path = "wide.json", .edits = {&edit, 1}}),
                      "edited 'wide.json': line 2");
    free(wide);
}

static void shows_pictures_and_tells_binaries(mortise_test *test)
{
    put_bytes("dot.png", "\x89PNG\r\n\x1a\n\0\0", 10);
    const mortise_test_result *picture = read_it(test, "dot.png");
    mortise_test_contains(picture->text, "is image/png, 10 bytes; it goes with this result");
    mortise_test_true(picture->attachment_count == 1 && picture->attachments[0].length == 10);
    mortise_test_same(picture->attachments[0].mime_type, "image/png");
    put_bytes("a.gz", "\x1f\x8b\0\0\0\0", 6);
    const mortise_test_result *packed = read_it(test, "a.gz");
    mortise_test_contains(packed->text, "application/gzip");
    mortise_test_contains(packed->text, "must be unpacked first");
    mortise_test_true(packed->attachment_count == 0);
    put_bytes("x.bin", "a\0b", 3);
    mortise_test_contains(read_it(test, "x.bin")->text, "application/octet-stream");
}

/* ---- writing ------------------------------------------------------------------------------ */

static void writes_new_files(mortise_test *test)
{
    mortise_test_text(write_it(test, "new/deep/x.txt", "one\ntwo\n"),
                      "made 'new/deep/x.txt': 2 lines, 8 bytes; made 2 folders for it");
    mortise_test_same(get("new/deep/x.txt"), "one\ntwo\n");
    /* what it wrote it knows */
    mortise_test_contains(write_it(test, "new/deep/x.txt", "three\n")->text, "replaced");
    mortise_test_same(get("new/deep/x.txt"), "three\n");
    mortise_test_text(write_it(test, "one", "x"), "made 'one': 1 line, 1 byte");
    mortise_test_error(write_it(test, "new", "x"), MORTISE_INVALID_INPUT, "is a folder");
    mortise_test_error(write_it(test, "new/", "x"), MORTISE_INVALID_INPUT, "is a folder");
    mortise_test_error(write_it(test, "new/deep/x.txt/y", "x"), MORTISE_INVALID_INPUT,
                       "not a folder");
    mortise_test_error(write_it(test, "a\nb", "x"), MORTISE_INVALID_INPUT, "control characters");
    mortise_test_error(write_it(test, "a\nb/c", "x"), MORTISE_INVALID_INPUT, "control characters");
}

static void overwrites_only_what_was_read(mortise_test *test)
{
    struct stat status;
    put("old.txt", "old\n");
    chmod(in_workspace("old.txt"), 0751);
    mortise_test_error(write_it(test, "old.txt", "new\n"), MORTISE_INVALID_INPUT,
                       "exists and was not read: read it with read_file first");
    mortise_test_same(get("old.txt"), "old\n");
    read_it(test, "old.txt");
    mortise_test_context(test, "session", "s-2"); /* another session has not read it */
    mortise_test_error(write_it(test, "old.txt", "new\n"), MORTISE_INVALID_INPUT, "was not read");
    mortise_test_context(test, "session", "s-1");
    put("old.txt", "OLD\n");
    mortise_test_error(write_it(test, "old.txt", "new\n"), MORTISE_INVALID_INPUT,
                       "has changed since it was read");
    read_it(test, "old.txt");
    mortise_test_contains(write_it(test, "old.txt", "new\n")->text, "replaced");
    mortise_test_true(stat(in_workspace("old.txt"), &status) == 0 &&
                      (status.st_mode & 07777) == 0751);

    put("part.txt", "1\n2\n3\n");
    for (int64_t line = 1; line <= 3; line++) {
        mortise_test_error(write_it(test, "part.txt", "x"), MORTISE_INVALID_INPUT,
                           line == 1 ? "was not read" : "only a part");
        mortise_test_run(test, &read_file_tool,
                         &(read_file_args){.path = "part.txt", .offset = line, .limit = 1});
    }
    mortise_test_contains(write_it(test, "part.txt", "x")->text, "replaced");
}

static void leaves_alone_what_it_must(mortise_test *test)
{
    put("locked.txt", "x\n");
    chmod(in_workspace("locked.txt"), 0444);
    read_it(test, "locked.txt");
    mortise_test_error(write_it(test, "locked.txt", "y"), MORTISE_FORBIDDEN, "write-protected");
    put(".git/config", "[core]\n");
    put(".git/hooks/x", "\n");
    mortise_test_error(write_it(test, ".git/config", "x"), MORTISE_FORBIDDEN, "git's own folder");
    mortise_test_error(write_it(test, ".GIT/hooks/pre-commit", "x"), MORTISE_FORBIDDEN, "git's");
    mortise_test_true(symlink(".git/hooks", in_workspace("innocent")) == 0);
    mortise_test_error(write_it(test, "innocent/pre-commit", "x"), MORTISE_FORBIDDEN, "git's");
    mortise_test_same(get(".git/hooks/pre-commit"), "(none)");
    put("first.txt", "same\n");
    char hard[96];
    snprintf(hard, sizeof(hard), "%s.hard", workspace);
    mortise_test_true(link(in_workspace("first.txt"), hard) == 0);
    read_it(test, "first.txt");
    mortise_test_contains(write_it(test, "first.txt", "other\n")->text, "hard links");
    char other[16] = "";
    int fd = open(hard, O_RDONLY);
    mortise_test_true(read(fd, other, 5) == 5);
    close(fd);
    unlink(hard);
    mortise_test_same(other, "same\n");
    remove_tree(in_workspace(".git"));
}

static void leaves_nothing_behind(mortise_test *test)
{
    mortise_test_run(test, &list_files_tool,
                     &(list_files_args){.path = ".", .depth = 9, .limit = 5000, .hidden = true});
    mortise_test_text(mortise_test_run(test, &glob_tool,
                                       &(glob_args){.pattern = ".mortise-*",
                                                    .path = ".",
                                                    .sort = "name",
                                                    .limit = 9,
                                                    .hidden = true,
                                                    .ignored = true}),
                      "[no file matches]\n");
}

/* ---- editing ------------------------------------------------------------------------------ */

static void edits_exactly(mortise_test *test)
{
    put("e.c", "int a;\nint b;\nint a;\n");
    mortise_test_error(edit_it(test, "e.c", "int b;", "long b;"), MORTISE_INVALID_INPUT,
                       "was not read");
    read_it(test, "e.c");
    mortise_test_text(edit_it(test, "e.c", "int b;", "long b;"), "edited 'e.c': line 2");
    mortise_test_same(get("e.c"), "int a;\nlong b;\nint a;\n");
    mortise_test_error(edit_it(test, "e.c", "int a;", "x"), MORTISE_INVALID_INPUT,
                       "occurs 2 times in 'e.c' (lines 1, 3)");
    const edit_text_args all = {.old_text = "int a;", .new_text = "char a;", .replace_all = true};
    mortise_test_text(mortise_test_run(test, &edit_file_tool,
                                       &(edit_file_args){.path = "e.c", .edits = {&all, 1}}),
                      "edited 'e.c': lines 1, 3");
    mortise_test_same(get("e.c"), "char a;\nlong b;\nchar a;\n");
    mortise_test_error(edit_it(test, "e.c", "", "x"), MORTISE_INVALID_INPUT, "old_text is empty");
    mortise_test_error(edit_it(test, "e.c", "long", "long"), MORTISE_INVALID_INPUT, "the same");
    mortise_test_error(edit_it(test, "none.c", "x", "y"), MORTISE_MISSING, "not there");
    put("e.c", "changed\n");
    mortise_test_error(edit_it(test, "e.c", "changed", "x"), MORTISE_INVALID_INPUT,
                       "has changed since it was read");
}

static void edits_all_or_nothing(mortise_test *test)
{
    put("all.c", "one\ntwo\n");
    read_it(test, "all.c");
    const edit_text_args bad[] = {{.old_text = "one", .new_text = "1"},
                                  {.old_text = "one", .new_text = "uno"}};
    mortise_test_error(mortise_test_run(test, &edit_file_tool,
                                        &(edit_file_args){.path = "all.c", .edits = {bad, 2}}),
                       MORTISE_INVALID_INPUT, "edit 2 of 2: old_text does not occur");
    mortise_test_same(get("all.c"), "one\ntwo\n");
    const edit_text_args good[] = {{.old_text = "one", .new_text = "1"},
                                   {.old_text = "1\ntwo", .new_text = "12"}};
    mortise_test_text(mortise_test_run(test, &edit_file_tool,
                                       &(edit_file_args){.path = "all.c", .edits = {good, 2}}),
                      "edited 'all.c': line 1; line 1");
    mortise_test_same(get("all.c"), "12\n");
}

static void keeps_ends_of_lines_and_foreign_bytes(mortise_test *test)
{
    put("w.txt", "one\r\ntwo\r\n\xff\r\n");
    read_it(test, "w.txt");
    edit_it(test, "w.txt", "one\ntwo", "1\n2\n3");
    mortise_test_same(get("w.txt"), "1\r\n2\r\n3\r\n\xff\r\n");
    mortise_test_contains(write_it(test, "w.txt", "a\nb\n")->text, "end with CRLF as before");
    mortise_test_same(get("w.txt"), "a\r\nb\r\n");
    put("mixed.txt", "one\r\ntwo\nthree\r\nfour\r\n");
    read_it(test, "mixed.txt");
    edit_it(test, "mixed.txt", "three\nfour", "3\n4");
    edit_it(test, "mixed.txt", "two\n", "2\n");
    mortise_test_same(get("mixed.txt"), "one\r\n2\n3\r\n4\r\n");
    put("bom.txt", BOM "one\r\ntwo\r\n");
    mortise_test_text(read_it(test, "bom.txt"),
                      "one\ntwo\n[lines end with CRLF, which edit_file and write_file keep]\n"
                      "[the file begins with a byte order mark, which stays]\n");
    mortise_test_contains(write_it(test, "bom.txt", "1\n2\n")->text, "replaced");
    mortise_test_same(get("bom.txt"), BOM "1\r\n2\r\n");
    edit_it(test, "bom.txt", "1\n", "one\n");
    mortise_test_contains(write_it(test, "bom.txt", BOM "3\n")->text, "replaced");
    mortise_test_same(get("bom.txt"), BOM "3\r\n");
}

static void does_not_grow_without_end(mortise_test *test)
{
    enum { BYTES = 64 << 10 };
    char *text = malloc(BYTES + 1), *much = calloc(1, 2001);
    memset(text, 'a', BYTES);
    text[BYTES] = '\0';
    memset(much, 'b', 2000);
    put("many.txt", text);
    free(text);
    read_it(test, "many.txt");
    const edit_text_args edit = {.old_text = "a", .new_text = much, .replace_all = true};
    mortise_test_error(mortise_test_run(test, &edit_file_tool,
                                        &(edit_file_args){.path = "many.txt", .edits = {&edit, 1}}),
                       MORTISE_INVALID_INPUT, "more than 16 MB");
    free(much);
}

static void tells_what_is_near(mortise_test *test)
{
    put("n.c", "void f(void)\n{\n\treturn compute(1, 2);\n}\n");
    read_it(test, "n.c");
    mortise_test_error(edit_it(test, "n.c", "{\n    return compute(1, 2);\n}", "x"),
                       MORTISE_INVALID_INPUT, "lines 2-4 differ from it only in white space");
    mortise_test_error(edit_it(test, "n.c", "     3\t\treturn compute(1, 2);", "x"),
                       MORTISE_INVALID_INPUT, "leave out the line numbers");
    mortise_test_error(edit_it(test, "n.c", "return compute(1, 3);", "x"), MORTISE_INVALID_INPUT,
                       "most like it is line 3");
    mortise_test_error(edit_it(test, "n.c", "zzzzzz", "x"), MORTISE_INVALID_INPUT,
                       "nor anything like it");
    put("end.c", "last");
    read_it(test, "end.c");
    mortise_test_error(edit_it(test, "end.c", "last\n", "x"), MORTISE_INVALID_INPUT,
                       "has no line end");
}

/* ---- places
 * -------------------------------------------------------------------------------------- */

static void reaches_further_roots(void)
{
    char other[] = "/tmp/test_files_root.XXXXXX", config[128], path[128];
    mortise_test_true(mkdtemp(other) != NULL);
    snprintf(config, sizeof(config), "{\"write\":true,\"roots\":[\"%s\"]}", other);
    mortise_test *test = begin(config);
    snprintf(path, sizeof(path), "%s/x.txt", other);
    mortise_test_contains(write_it(test, path, "hello\n")->text, path);
    mortise_test_text(read_it(test, path), "hello\n");
    const mortise_test_result *found = mortise_test_run(
        test, &glob_tool, &(glob_args){.pattern = "*", .path = other, .sort = "name", .limit = 9});
    mortise_test_contains(found->text, path);
    snprintf(path, sizeof(path), "%sx/y", other); /* begins like the root, and is not below it */
    mortise_test_error(read_it(test, path), MORTISE_FORBIDDEN, "outside");
    mortise_test_context(test, "workspace", NULL);
    mortise_test_error(read_it(test, "x.txt"), MORTISE_FORBIDDEN, "below");
    remove_tree(other);
    end(test);
}

int main(void)
{
    nothing_writes_unless_it_is_switched_on();
    mortise_test *test = begin(WRITING);
    reads_lines(test);
    says_what_was_meant(test);
    cuts_what_is_long(test);
    knows_what_it_has_cut(test);
    shows_pictures_and_tells_binaries(test);
    writes_new_files(test);
    overwrites_only_what_was_read(test);
    leaves_alone_what_it_must(test);
    edits_exactly(test);
    edits_all_or_nothing(test);
    keeps_ends_of_lines_and_foreign_bytes(test);
    does_not_grow_without_end(test);
    tells_what_is_near(test);
    leaves_nothing_behind(test);
    end(test);
    reaches_further_roots();
    return mortise_test_status();
}
