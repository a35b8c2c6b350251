/*
 * attempts - what code in a sandbox may try: each returns 0 when it got through, or errno.
 */
#ifndef TEST_SANDBOX_ATTEMPTS_H
#define TEST_SANDBOX_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>

struct attempt {
    const char *name;
    int (*run)(void);
    bool works; /* for the same user outside of a sandbox, harmlessly */
};

extern const struct attempt attempts_at_files[], attempts_at_network[], attempts_at_processes[],
    attempts_at_kernel[], attempts_at_memory[], attempts_at_disk[]; /* each ends with no name */

/* A call that the filter answers: its arguments are looked at by nobody else. */
struct attempt_call {
    const char *name;
    long number;
    long arguments[6];
};
extern const struct attempt_call attempts_by_number[]; /* ends with no name */

/* attempt_chosen() makes the call that was chosen. */
void attempt_choose(const struct attempt_call *call);
int attempt_chosen(void);

/* What the result of a call says. */
int attempt_result(long value);

#endif
