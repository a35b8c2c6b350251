/*
 * serve - the other end: the process that a plugin has for itself.
 *
 * The host executes its own binary with SERVE_WORD and a socket at SERVE_FD (child.h).  The plugin
 * is loaded with the host's own loader; each lane that comes has a thread, which runs one call or
 * one hook after the other (serve_call.c, serve_hook.c).  The main thread reads the control socket.
 */
#ifndef REMOTE_SERVE_H
#define REMOTE_SERVE_H

#include <stdbool.h>

#define SERVE_WORD "__plugin"
#define SERVE_FD   3
#define SERVE_COPY_FD 4 /* of the plugin, while it is loaded, where only known bytes may be */
/* What it is for; in PARCEL_LOAD. */
enum serve_for {
    SERVE_PLUGIN,
    SERVE_IN_SANDBOX, /* the same, in a sandbox from before the plugin is mapped */
    SERVE_CALLS       /* one process for each call (zygote.h) */
};

#define SERVE_LOST 113 /* the exit code of a process that lost its connection to the host */

/* Whether a command line is one of the host's own. */
bool serve_is_meant(int argc, char **argv);
/* Serves until the host has no use for it any more, and returns the exit code. */
int serve(void);

#endif
