/*
 * zygote - the process that forks one in a sandbox for each call of tools that need that.
 *
 * The plugin is loaded in it and its tools are prepared; it has one thread and runs no call itself.
 * It reads its control socket, watches the calls that run, and when one is over it says how, once
 * nothing of it is left (confined.h).  A call has its lane and nothing else: no variable of the host's,
 * no secret, no descriptor, and a folder of its own.
 */
#ifndef REMOTE_ZYGOTE_H
#define REMOTE_ZYGOTE_H

#include "plugin/registry.h"
#include "remote/parcel.h"

struct zygote_setup {
    const char *grants;  /* of struct isolation; or NULL */
    const char *scratch; /* the folder of the calls' folders */
    int64_t memory_bytes, timeout_ms; /* of a call; 0: no limit */
};

/* Until the host has no use for it any more, or is gone.  Returns the exit code. */
int zygote_serve(struct plugin *plugin, const struct zygote_setup *setup, struct parcel_in *control);

#endif
