/*
 * signals - Ctrl-C once cancels the run and keeps everything; twice leaves at once.
 */
#ifndef COMMAND_SIGNALS_H
#define COMMAND_SIGNALS_H

#include "base/cancel.h"

/* SIGINT and SIGTERM trigger the token; SIGPIPE is ignored from here on. */
void signals_watch(struct cancel *cancel);
/* SIGHUP does the same, unless it is ignored (nohup). */
void signals_take_hangup(void);
/* The signal that came, or 0. */
int signals_received(void);

#endif
