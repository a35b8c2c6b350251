/* Markdown on a terminal: what it looks like, and that it does so however it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "frontend/markdown.h"

#include "capture.h"

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define ITALIC "\033[3m"
#define LINK   "\033[4m"
#define STRIKE "\033[9m"
#define CODE   "\033[36m"
#define OFF    "\033[0m"
#define RULE   DIM "─" OFF

static struct capture capture;

/* Fed in pieces of `step` bytes. */
static const char *rendered(const char *text, size_t length, size_t step, unsigned width)
{
    struct output output;
    struct markdown markdown;
    output_init(&output, capture.writer, COLOR_ALWAYS);
    markdown_init(&markdown, &output, width);
    for (size_t at = 0; at < length; at += step)
        markdown_feed(&markdown, text + at, length - at < step ? length - at : step);
    markdown_end(&markdown);
    markdown_release(&markdown);
    output_release(&output);
    return capture_read(&capture);
}

static void check_width(const char *text, const char *wanted, unsigned width)
{
    size_t length = strlen(text);
    for (size_t step = 1; step <= 7; step++)
        assert_string_equal(rendered(text, length, step, width), wanted);
    assert_string_equal(rendered(text, length, length, width), wanted);
}

static void check(const char *text, const char *wanted)
{
    check_width(text, wanted, 40);
}

static void test_paragraphs(void **state)
{
    (void)state;
    check("", "");
    check("\n\n", "");
    check("Hello", "Hello\n");
    check("Hello\n", "Hello\n");
    check("One\n\n\n\nTwo\n\n", "One\n\nTwo\n");
    check("a line\nand one below\n", "a line\nand one below\n");
    check("hard  \nbreak\\\nend", "hard\nbreak\nend\n");
    check("no * emphasis * here, 2 * 3, snake_case_name",
          "no * emphasis * here, 2 * 3,\nsnake_case_name\n");
}

static void test_wrapping(void **state)
{
    (void)state;
    check_width("one two three four", "one two\nthree\nfour\n", 9);
    check_width("a verylongwordthatdoesnotfit b", "a\nverylongwordthatdoesnotfit\nb\n", 9);
    check_width("日本語のテキスト。", "日本語の\nテキス\nト。\n", 8);
    check_width("これは「引用」です", "これは\n「引用」\nです\n", 8);
    check_width("- one two three", "• one two\n  three\n", 9);
    check_width("> one two three", DIM "│ " OFF "one two\n" DIM "│ " OFF "three\n", 9);
    check_width("**one two three**",
                BOLD "one" OFF " " BOLD "two" OFF "\n" BOLD "three" OFF "\n", 9);
}

static void test_spans(void **state)
{
    (void)state;
    check("a **bold** word", "a " BOLD "bold" OFF " word\n");
    check("*slanted* and _slanted_", ITALIC "slanted" OFF " and " ITALIC "slanted" OFF "\n");
    check("***both***", BOLD ITALIC "both" OFF "\n");
    check("~~gone~~ `code *x*`!", STRIKE "gone" OFF " " CODE "code" OFF " " CODE "*x*" OFF "!\n");
    check("``a ` b``", CODE "a" OFF " " CODE "`" OFF " " CODE "b" OFF "\n");
    check("**open and *never closed", "**open and *never closed\n");
    check("`open", "`open\n");
    check("\\*not\\* &amp; &lt;b&gt; <i>html</i>", "*not* & <b> <i>html</i>\n");
    check("**over\ntwo lines**", BOLD "over" OFF "\n" BOLD "two" OFF " " BOLD "lines" OFF "\n");
    check("**a\n===\nb |\n--|\n--\n", "**a\n===\nb |\n--|\n--\n");
    check("**太字**です", BOLD "太" OFF BOLD "字" OFF "です\n");
    check("**「字」**です", BOLD "「字」" OFF "です\n");
}

static void test_links(void **state)
{
    (void)state;
    check("see [the docs](http://x.org/a_b)!",
          "see " LINK "the" OFF " " LINK "docs" OFF " " DIM "(http://x.org/a_b)" OFF "!\n");
    check("<http://x.org>", LINK "http://x.org" OFF "\n");
    check("![a cat](cat.png)", LINK "a" OFF " " LINK "cat" OFF " " DIM "(cat.png)" OFF "\n");
    check("[1]: http://x.org is kept", "[1]: http://x.org is kept\n");
    check("an [array[0]] and f(x)", "an [array[0]] and f(x)\n");
}

static void test_headings_and_rules(void **state)
{
    (void)state;
    check("# Title\ntext", BOLD "Title" OFF "\ntext\n");
    check("### A *b* c", BOLD "A" OFF " " BOLD ITALIC "b" OFF " " BOLD "c" OFF "\n");
    check("#hashtag", "#hashtag\n");
    check_width("a\n---\n> ***\nb", "a\n" RULE RULE RULE "\n" DIM "│ " OFF RULE "\nb\n", 3);
}

static void test_lists(void **state)
{
    (void)state;
    check("Things:\n- one\n* **two**\n\n+ three\n",
          "Things:\n• one\n• " BOLD "two" OFF "\n\n• three\n");
    check("1. one\n2. two\n10) ten", "1. one\n2. two\n10) ten\n");
    check("- a\n  - b\n    more\n- c\n  still c", "• a\n  • b\n    more\n• c\n  still c\n");
    check("- a\n\n  second\n\nafter", "• a\n\n  second\n\nafter\n");
    check("- [ ] open\n- [x] done\n- [y] none", "☐ open\n☑ done\n• [y] none\n");
    check("It was in\n1984. Then", "It was in\n1984. Then\n");
    check("-5 degrees\n-", "-5 degrees\n• \n");
}

static void test_quotes(void **state)
{
    (void)state;
    check("> a\n> b\n>\n> c\n\nd",
          DIM "│ " OFF "a\n" DIM "│ " OFF "b\n" DIM "│ " OFF "\n" DIM "│ " OFF "c\n\nd\n");
    check("> - x\n>> y", DIM "│ " OFF "• x\n" DIM "│ │ " OFF "y\n");
}

static void test_code(void **state)
{
    (void)state;
    check("```c\nint  x; // **no**\n\n  y\n```\nafter",
          DIM "```c" OFF "\nint  x; // **no**\n\n  y\n" DIM "```" OFF "\nafter\n");
    check("~~~~\n~~~\n~~~~", DIM "~~~~" OFF "\n~~~\n" DIM "~~~~" OFF "\n");
    check("```\nopen", DIM "```" OFF "\nopen\n");
    check("- a\n  ```sh\n  ls\n  ```", "• a\n  " DIM "```sh" OFF "\n  ls\n  " DIM "```" OFF "\n");
    check("```span``` of code", CODE "span" OFF " of code\n");
    check("    four  spaces", "    four  spaces\n");
}

static void test_tables(void **state)
{
    (void)state;
    check("| City | Temp |\n|:--|--:|\n| 東京 | 22 |\n| **Rome** | 9 |\n",
          BOLD "City" OFF "  " BOLD "Temp" OFF "\n" DIM "──────────" OFF "\n"
          "東京    22\n" BOLD "Rome" OFF "     9\n");
    check_width("| A | B |\n|---|---|\n| long value | another |\n| x | y |\n",
                BOLD "A" OFF ": long value\n" BOLD "B" OFF ": another\n\n"
                BOLD "A" OFF ": x\n" BOLD "B" OFF ": y\n", 12);
    check("| no table\ntext", "| no table\ntext\n");
}

/* D23: nothing foreign moves the cursor, not even by an entity. */
static void test_hostile_text(void **state)
{
    (void)state;
    check("a\033[2J\rb \302\2331A &#27;[2J &#x9b;x `\033]0;t\007`",
          "a[2Jb 1A &#27;[2J x " CODE "]0;t" OFF "\n");
    check("[x](http://\033[2Jy)", LINK "x" OFF " " DIM "(http://[2Jy)" OFF "\n");
    check("bad \xff\xe3\x81 utf", "bad \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD utf\n");
    check("\xe3\x81", "\xEF\xBF\xBD\xEF\xBF\xBD\n");
}

static void test_emoji_widths(void **state)
{
    (void)state;
    check("| a | b |\n|---|---|\n| 👨‍👩‍👧 | 1 |\n| 🇯🇵 | 2 |\n| ❤️ | 3 |\n| é | 4 |",
          BOLD "a" OFF "   " BOLD "b" OFF "\n" DIM "─────" OFF "\n"
          "👨‍👩‍👧  1\n🇯🇵  2\n❤️  3\né   4\n");
}

/* What is certain is shown before the line ends. */
static void test_words_come_as_they_are_said(void **state)
{
    struct output output;
    struct markdown markdown;
    (void)state;
    output_init(&output, capture.writer, COLOR_ALWAYS);
    markdown_init(&markdown, &output, 80);
    static const char *const steps[][2] = {
        {"One t", "One"}, {"wo **th", " two"}, {"ree** four", " " BOLD "three" OFF},
        {" 日本", " four 日"}, {"\n- it", "本\n• "}, {"em ", "item"}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        markdown_feed(&markdown, steps[i][0], strlen(steps[i][0]));
        output_flush(&output);
        assert_string_equal(capture_read(&capture), steps[i][1]);
    }
    markdown_drop(&markdown);
    markdown_feed(&markdown, "new", 3);
    markdown_end(&markdown);
    output_flush(&output);
    assert_string_equal(capture_read(&capture), "new\n");
    markdown_release(&markdown);
    output_release(&output);
}

static int open_capture(void **state)
{
    (void)state;
    capture_pipe(&capture);
    return 0;
}

static int close_capture(void **state)
{
    (void)state;
    capture_close(&capture);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_capture, close_capture)
    const struct CMUnitTest tests[] = {
        TEST(test_paragraphs), TEST(test_wrapping),  TEST(test_spans),
        TEST(test_links),      TEST(test_headings_and_rules), TEST(test_lists),
        TEST(test_quotes),     TEST(test_code),      TEST(test_tables),
        TEST(test_hostile_text), TEST(test_emoji_widths), TEST(test_words_come_as_they_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
