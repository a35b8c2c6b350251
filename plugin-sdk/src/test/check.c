/* Checks: what was expected, and what came. */
#include "internal.h"

#include <string.h>

static const char *shown(const char *text)
{
    return text ? text : "(nothing)";
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* By its number below zero. */
static const struct {
    const char *word;
    mortise_category category; /* what the host makes of it when nothing was said */
} statuses[] = {
    {"OK", MORTISE_INTERNAL},          {"FAILED", MORTISE_INTERNAL},
    {"CANCELLED", MORTISE_ABORTED},    {"UNSUPPORTED", MORTISE_NOT_SUPPORTED},
    {"NO_MEMORY", MORTISE_INTERNAL},   {"DENIED", MORTISE_FORBIDDEN},
    {"NOT_FOUND", MORTISE_MISSING},    {"INVALID", MORTISE_INVALID_INPUT},
    {"CONFLICT", MORTISE_UNAVAILABLE},
};

bool mortise__test_knows(mortise_status status)
{
    return status <= MORTISE_OK && status > -(mortise_status)(sizeof(statuses) / sizeof(*statuses));
}

mortise_category mortise__test_category(mortise_status status)
{
    return mortise__test_knows(status) ? statuses[-status].category : MORTISE_INTERNAL;
}

bool mortise__test_same(const char *file, int line, const char *came, const char *expected)
{
    bool holds = is_same(came, expected);
    if (!holds)
        mortise__test_fail(file, line, "expected '%s'\n    came '%s'", shown(expected),
                           shown(came));
    return holds;
}

bool mortise__test_contains(const char *file, int line, const char *text, const char *part)
{
    bool holds = text && strstr(text, part);
    if (!holds)
        mortise__test_fail(file, line, "expected a text with '%s'\n    came '%s'", part,
                           shown(text));
    return holds;
}

bool mortise__test_true(const char *file, int line, const char *text, bool holds)
{
    if (!holds)
        mortise__test_fail(file, line, "expected %s", text);
    return holds;
}

bool mortise__test_reply(const char *file, int line, const mortise_test_result *result,
                         bool is_json, const char *expected)
{
    const char *kind = is_json ? "JSON" : "text";
    bool holds = false;
    if (result->status < MORTISE_OK)
        mortise__test_fail(file, line,
                           "expected the %s '%s'\n    the call failed with MORTISE_%s: %s", kind,
                           expected, statuses[-result->status].word,
                           result->message[0] ? result->message : "it gave no reason");
    else if (result->is_json != is_json)
        mortise__test_fail(file, line, "expected %s\n    came %s: %s", kind,
                           is_json ? "text" : "JSON", result->text);
    else if (strcmp(result->text, expected) != 0 || result->length != strlen(expected))
        mortise__test_fail(file, line, "expected the %s '%s'\n    came '%s'", kind, expected,
                           result->text);
    else
        holds = true;
    return holds;
}

static const char *category_word(mortise_category category)
{
    static const char *const words[] = {"INTERNAL", "INVALID_INPUT", "UNAUTHORIZED", "FORBIDDEN",
                                        "MISSING",  "RATE_LIMITED",  "TIMEOUT",      "UNAVAILABLE",
                                        "ABORTED",  "NOT_SUPPORTED"};
    return category < sizeof(words) / sizeof(words[0]) ? words[category] : "(unknown)";
}

bool mortise__test_error(const char *file, int line, const mortise_test_result *result,
                         mortise_category category, const char *part)
{
    bool holds = false;
    if (result->status >= MORTISE_OK)
        mortise__test_fail(file, line, "expected a failure with '%s'\n    the call succeeded: %s",
                           part, result->text);
    else if (result->category != category)
        mortise__test_fail(file, line, "expected the category MORTISE_%s\n    came MORTISE_%s: %s",
                           category_word(category), category_word(result->category),
                           result->message);
    else
        holds = mortise__test_contains(file, line, result->message, part);
    return holds;
}

static const char *verdict_word(mortise_verdict verdict)
{
    static const char *const words[] = {"CONTINUE", "SKIP",          "RESPOND",    "ABORT",
                                        "PAUSE",    "CONTINUE_WITH", "HOOK_FAILED"};
    return verdict < sizeof(words) / sizeof(words[0]) ? words[verdict] : "(unknown)";
}

bool mortise__test_verdict(const char *file, int line, const mortise_test_decision *decision,
                           mortise_verdict verdict, const char *part)
{
    if (decision->verdict != verdict) {
        mortise__test_fail(file, line, "expected MORTISE_%s\n    came MORTISE_%s: %s",
                           verdict_word(verdict), verdict_word(decision->verdict),
                           decision->reason);
        return false;
    }
    return mortise__test_contains(file, line, decision->reason, part);
}
