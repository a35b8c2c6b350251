/* terminal - asks the person at the controlling terminal whether a call may run. */
#ifndef APPROVE_TERMINAL_H
#define APPROVE_TERMINAL_H

#include <stddef.h>

#include <jansson.h>

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_ALWAYS, ANSWER_NOBODY };

/* Shows the call and waits for an answer; ANSWER_NOBODY when there is no terminal, or when it
 * is somebody else's turn on it.  Any thread; one question at a time.  `reason` may be NULL. */
enum answer terminal_ask(const char *tool, json_t *arguments, const char *reason);

/* `text` for a terminal, for free(): controls, invisible characters and those that turn the
 * direction of writing become \u00XX. */
char *terminal_harmless(const char *text, size_t length);

#endif
