/*
 * signals - Ctrl-C once cancels the run and keeps everything; twice leaves at once.  SIGHUP
 * loads the plugins anew, or ends what is going on when the terminal is gone.
 */
#ifndef COMMAND_SIGNALS_H
#define COMMAND_SIGNALS_H

#include <stdbool.h>

#include "base/cancel.h"

/* SIGINT and SIGTERM trigger the token; SIGPIPE is ignored from here on.  A Ctrl-C that came before
 * was meant for something else; any other signal that came is not forgotten, and triggers it at
 * once.  The token must stay until another one, or NULL, is watched, or signals_forget(). */
void signals_watch(struct cancel *cancel);
/* Before the token is freed: it is watched no more, if it was. */
void signals_forget(const struct cancel *cancel);
/* The signal that came, or 0. */
int signals_received(void);

/* From here on SIGHUP asks for a reload, unless it is ignored (nohup).  One that the kernel
 * sends, or that comes once the terminal that the process began with is gone, is like SIGTERM. */
void signals_take_hangup(void);
/* Readable while a reload is asked for; to poll only.  -1: none will be. */
int signals_reload_fd(void);
/* Whether a reload was asked for since the last time. */
bool signals_reload_asked(void);

#endif
