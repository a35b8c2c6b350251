/* test_rows - pieces of code and what becomes of them, as tables. */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

#include "test_child.h"

struct row {
    const char *code;
    const char *member;   /* of the result: "value", "value_type", "stdout", "stderr", "error" … */
    const char *expected; /* … as JSON; of "error" these parts must be in it, one behind "|" */
};

/* Runs each of them in a process of its own. */
void rows_check(mortise_test *test, const mortise_tool *tool, const char *language,
                const struct row *rows, size_t count);
#define ROWS_CHECK(test, language, rows)                                                           \
    rows_check(test, &execute_code_tool, language, rows, sizeof(rows) / sizeof((rows)[0]))

/* One call of execute_code. */
const struct answer *rows_run(mortise_test *test, const mortise_tool *tool, const char *language,
                              const char *code);

#endif
