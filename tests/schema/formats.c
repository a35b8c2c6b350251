/* The official suite's tests of the formats that are checked (R12). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "schema/format.h"

static const char *const names[] = {"date-time", "date", "time", "email",   "uri",
                                    "uuid",      "ipv4", "ipv6", "hostname"};

/* All are host names by their letters; that the label's Punycode stands for something that IDNA
 * forbids is not looked at. */
static const char *const expected_failures[] = {
    "invalid Punycode",
    "contains illegal char U+302E Hangul single dot tone mark",
    "Begins with a Spacing Combining Mark",
    "Begins with a Nonspacing Mark",
    "Begins with an Enclosing Mark",
    "Exceptions that are DISALLOWED, right-to-left chars",
    "Exceptions that are DISALLOWED, left-to-right chars",
    "MIDDLE DOT with no preceding 'l'",
    "MIDDLE DOT with nothing preceding",
    "MIDDLE DOT with no following 'l'",
    "MIDDLE DOT with nothing following",
    "Greek KERAIA not followed by Greek",
    "Greek KERAIA not followed by anything",
    "Hebrew GERESH not preceded by Hebrew",
    "Hebrew GERESH not preceded by anything",
    "Hebrew GERSHAYIM not preceded by Hebrew",
    "Hebrew GERSHAYIM not preceded by anything",
    "KATAKANA MIDDLE DOT with no Hiragana, Katakana, or Han",
    "KATAKANA MIDDLE DOT with no other characters",
    "Arabic-Indic digits mixed with Extended Arabic-Indic digits",
    "ZERO WIDTH JOINER not preceded by Virama",
    "ZERO WIDTH JOINER not preceded by anything",
    "contains \"--\" in the 3rd and 4th position",
};

static bool is_expected(const char *description)
{
    for (size_t i = 0; i < sizeof(expected_failures) / sizeof(expected_failures[0]); i++)
        if (!strcmp(expected_failures[i], description))
            return true;
    return false;
}

static unsigned failures, cases, excused;

static void run_case(const char *format, const json_t *test)
{
    const json_t *data = json_object_get(test, "data");
    const char *description = json_string_value(json_object_get(test, "description"));
    if (!json_is_string(data))
        return;
    bool matches = format_matches(format, json_string_value(data), json_string_length(data));
    bool passes = matches == json_is_true(json_object_get(test, "valid"));
    bool expected = is_expected(description);
    cases++;
    excused += !passes && expected;
    if (passes != expected)
        return;
    failures++;
    fprintf(stderr, "%s: %s: %s\n", format, description,
            passes ? "passes, but is listed as a failure" : "fails");
}

static void run_format(const char *suite, const char *format)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/tests/draft2020-12/optional/format/%s.json", suite, format);
    json_t *groups = json_load_file(path, JSON_ALLOW_NUL, NULL);
    size_t i, j;
    json_t *group, *test;
    if (!groups || !format_is_known(format)) {
        failures++;
        fprintf(stderr, "%s: no tests, or not known\n", format);
    }
    json_array_foreach (groups, i, group)
        json_array_foreach (json_object_get(group, "tests"), j, test)
            run_case(format, test);
    json_decref(groups);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        run_format(argv[1], names[i]);
    bool unknown = format_is_known("color") || !format_matches("color", "x", 1);
    printf("%u cases, %u expected failures, %u failures\n", cases, excused, failures);
    return failures || unknown ||
           excused != sizeof(expected_failures) / sizeof(expected_failures[0]);
}
