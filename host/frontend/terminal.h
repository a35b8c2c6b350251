/*
 * terminal - the settings of the user's terminal: saved once, restored however the program ends.
 *
 * terminal_guard() saves them and restores them at exit() and when the program crashes.
 * terminal_restore() may be called from a signal handler.
 */
#ifndef FRONTEND_TERMINAL_H
#define FRONTEND_TERMINAL_H

#include <stdbool.h>

/* The first one counts; false when `fd` is no terminal. */
bool terminal_guard(int fd);
/* The settings as they were found, plain style, no bracketed paste, cursor shown; nothing when
 * there is no terminal. */
void terminal_restore(void);

/* Whether pasted text comes with a mark before and after it. */
void terminal_bracketed_paste(bool on);

#endif
