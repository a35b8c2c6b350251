/*
 * test_child - runs calls as the host does: each in a process that is forked from this one, with a
 * folder of its own as its current folder, and not longer than allowed.
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <mortise/test.h>

struct answer {
    int end;          /* as waitpid() gives it; -1: its time was up, and it was killed */
    bool is_ok;       /* it has replied */
    const char *text; /* the reply or the error, with a NUL behind it */
    size_t length;
    const char *code;               /* of the error */
    const char *shown[2];           /* of stdout and stderr */
    size_t shown_length[2];
    size_t chunks;                  /* in which it was shown */
    int64_t first_ms, last_ms, ms;  /* when it was shown, and how long it all took */
};

/* A call that takes at most so many milliseconds; what it returns lives for ever. */
const struct answer *child_run(mortise_test *test, const mortise_tool *tool, const void *args,
                               int64_t most_ms);

/* The member of the JSON that a reply is and an error ends with, as JSON; "": there is none. */
const char *answer_member(const struct answer *answer, const char *name);

#endif
