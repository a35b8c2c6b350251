/* sessions - where the sessions of this machine are. */
#ifndef COMMAND_SESSIONS_H
#define COMMAND_SESSIONS_H

#include "conversation/store.h"

/* $XDG_DATA_HOME/mortise/sessions.db.  Without `create`, NULL and kind NONE: it is not there. */
struct store *sessions_open(bool create, struct error *error);
/* The folder that this process works in, to find its sessions again.  malloc'ed. */
char *sessions_folder(void);

#endif
