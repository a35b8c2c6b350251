#include "test_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 40000 };

/* As the tool declares them: code, language, and what was given. */
struct args {
    const char *code, *language;
    bool seen[3];
};

const struct answer *rows_run(mortise_test *test, const mortise_tool *tool, const char *language,
                              const char *code)
{
    struct args args = {.code = code, .language = language};
    return child_run(test, tool, &args, PATIENCE_MS);
}

static bool has_parts(const char *text, const char *parts)
{
    bool ok = true;
    char *copy = strdup(parts), *rest = copy;
    for (char *part = strsep(&rest, "|"); part; part = strsep(&rest, "|"))
        ok = mortise_test_contains(text, part) && ok;
    free(copy);
    return ok;
}

void rows_check(mortise_test *test, const mortise_tool *tool, const char *language,
                const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct answer *answer = rows_run(test, tool, language, rows[i].code);
        bool is_error = strcmp(rows[i].member, "error") == 0;
        const char *came = answer_member(answer, rows[i].member);
        bool ok = is_error ? has_parts(came, rows[i].expected)
                           : mortise_test_same(came, rows[i].expected);
        ok = mortise_test_true(answer->is_ok != is_error) && ok;
        if (!ok)
            printf("  that was %s:\n%s\n  with %s\n", language, rows[i].code, answer->text);
    }
}
