/* The regular expressions of JSON Schema (R12): what they mean, and that none runs for ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "failing.h"
#include "schema/pattern.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pattern *compile(const char *regex)
{
    struct error error = ERROR_INIT;
    struct pattern *pattern = pattern_compile(regex, strlen(regex), &error);
    assert_string_equal(error.message, "");
    assert_non_null(pattern);
    return pattern;
}

static void test_meaning(void **state)
{
    (void)state;
    static const struct {
        const char *regex, *text;
        bool matches;
    } cases[] = {
        {"b", "abc", true}, /* unanchored */
        {"^b", "abc", false},
        {"^abc$", "abc", true},
        {"^abc$", "abc\n", false}, /* the very end */
        {"^a.c$",
         "a\xC3\xA9"
         "c",
         true},                                            /* a character, not a byte */
        {"^\\d$", "\xD9\xA1", false},                      /* ARABIC-INDIC DIGIT ONE */
        {"^\\w$", "\xC3\xA9", false},                      /* é */
        {"^\\s$", "\xC2\xA0", true},                       /* NO-BREAK SPACE */
        {"^[\\sx]+$", "x\xE2\x80\xA8 \xEF\xBB\xBF", true}, /* LINE SEPARATOR, byte order mark */
        {"^\\S$", "\xC2\xA0", false},
        {"^\\S$", "\xC3\xA9", true},
        {"^\\p{Letter}+$", "\xC3\xA9z", true},
        {"^\\P{gc=Letter}+$", "a", false},
        {"^\\p{General_Category=Lu}$", "A", true},
        {"^\\p{Script=Greek}$", "\xCE\xB1", true},
        {"^\\u00e9$", "\xC3\xA9", true},
        {"^\\u{1F600}$", "\xF0\x9F\x98\x80", true},
        {"^\\uD83D\\uDE00$", "\xF0\x9F\x98\x80", true},
        {"^[[:a]$", "[", true}, /* a character like any other */
        {"^[[:alpha:]]$", "a]", true},
        {"[]", "a", false},
        {"^[^]$", "a", true},
        {"^(a)?b\\1$", "b", true}, /* a group that took no part matches nothing */
        {"^(?<y>\\d{4})-\\k<y>$", "2024-2024", true},
        {"^(?!x).*(?<=z)$", "abz", true},
        {"a|b", "xxb", true},
        {"", "", true},
        {"^\\0$", "", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct pattern *pattern = compile(cases[i].regex);
        bool matches = !cases[i].matches;
        assert_true(
            pattern_matches(pattern, cases[i].text, strlen(cases[i].text), NULL, &matches, &error));
        if (matches != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].regex, cases[i].text);
        pattern_free(pattern);
    }
}

static void test_not_valid(void **state)
{
    (void)state;
    static const struct {
        const char *regex, *message;
    } cases[] = {
        {"^(a", "the pattern '^(a' is not valid: missing closing parenthesis at character 3"},
        {"a)", "the pattern 'a)' is not valid: unmatched closing parenthesis at character 1"},
        {"\xC3\xA9[z-a]",
         "the pattern '\xC3\xA9[z-a]' is not valid: range out of order in character class at "
         "character 4"},
        {"\\s\\s*+*", "the pattern '\\s\\s*+*' is not valid: quantifier does not follow a "
                      "repeatable item at character 6"},
        {"\\", "the pattern '\\' is not valid: \\ at end of pattern at character 1"},
        {"(*UTF)a", "the pattern '(*UTF)a' is not valid: (*VERB) not recognized or malformed at "
                    "character 5"},
        {"(?<=a+)b", "the pattern '(?<=a+)b' is not valid: lookbehind assertion is not fixed "
                     "length at character 0"},
        {"\\uD83D", "the pattern '\\uD83D' is not valid: disallowed Unicode code point (>= 0xd800 "
                    "&& <= 0xdfff) at character 6"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        assert_null(pattern_compile(cases[i].regex, strlen(cases[i].regex), &error));
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.kind, ERROR_PLUGIN);
    }
}

static int64_t thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum outcome { NO, YES, TOO_MUCH };

/* Texts that a model may write as well as any other. */
static void test_no_hang(void **state)
{
    (void)state;
    static const struct {
        const char *regex;
        size_t length;
        char last;
        enum outcome outcome;
    } cases[] = {
        {"^(a|b)*$", 100000, 'a', YES},
        {"^(a|b)*$", 1000000, 'a', TOO_MUCH},
        {"^[ab]*$", 1000000, 'a', YES},
        {"^(a+)+$", 31, '!', TOO_MUCH},
        {"^(a+)+$", 100000, '!', TOO_MUCH},
        {"a+[cd]", 1000000, 'a', TOO_MUCH},
        {"(a|b)*[cd]", 20000, 'a', TOO_MUCH},
        {"a*c", 1000000, 'a', NO},
        {"!$", 1000000, '!', YES},
        {"(?R)|b", 1000, 'a', TOO_MUCH},
    };
    char *text = malloc(1000000);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error error = ERROR_INIT;
        struct pattern *pattern = compile(cases[i].regex);
        bool matches;
        int64_t begin_ms = thread_ms();
        memset(text, 'a', cases[i].length);
        text[cases[i].length - 1] = cases[i].last;
        bool done = pattern_matches(pattern, text, cases[i].length, NULL, &matches, &error);
        enum outcome outcome = !done ? TOO_MUCH : matches ? YES : NO;
        if (outcome != cases[i].outcome)
            fail_msg("'%s' with %zu characters: %d", cases[i].regex, cases[i].length, outcome);
        if (!done) {
            assert_int_equal(error.kind, ERROR_LIMIT);
            assert_string_equal(error.message, "matching it takes more work than is allowed");
        }
        assert_in_range(thread_ms() - begin_ms, 0, 3000);
        pattern_free(pattern);
    }
    free(text);
}

/* Many matches that are each within the limits are not, together. */
static void test_one_clock(void **state)
{
    (void)state;
    struct error error = ERROR_INIT;
    struct pattern_clock clock = {0};
    struct pattern *pattern = compile("^(a+)+$");
    int64_t begin_ms = thread_ms();
    bool matches, done = true;
    for (int i = 0; done && i < 100000; i++)
        done = pattern_matches(pattern, "aaaaaaaaaaaaaaa!", 16, &clock, &matches, &error);
    assert_false(done);
    assert_in_range(thread_ms() - begin_ms, 250, 3000);
    pattern_free(pattern);
}

static void *match_often(void *data)
{
    for (int i = 0; i < 2000; i++) {
        bool matches = false;
        if (!pattern_matches(data, "2024-02-29", 10, NULL, &matches, NULL) || !matches)
            return data;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct pattern *pattern = compile("^(\\d{4})-\\d\\d-\\d\\d$");
    pthread_t threads[4];
    void *bad;
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, match_often, pattern), 0);
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    pattern_free(pattern);
}

static void test_no_memory(void **state)
{
    (void)state;
    pattern_free(compile("a")); /* the library is loaded */
    bool failed = true;
    for (int n = 0; failed && n < 200; n++) {
        struct error error = ERROR_INIT;
        bool matches = false, done = false;
        fail_after(n);
        struct pattern *pattern = pattern_compile("^(a|\\s)*$", 9, &error);
        if (pattern)
            done = pattern_matches(pattern, "a a", 3, NULL, &matches, &error);
        failed = fail_never();
        if (failed)
            assert_int_equal(error.kind, ERROR_INTERNAL);
        assert_int_equal(done, !failed);
        assert_int_equal(matches, !failed);
        pattern_free(pattern);
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning), cmocka_unit_test(test_not_valid),
        cmocka_unit_test(test_no_hang), cmocka_unit_test(test_one_clock),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
