/*
 * landlock - which files a process reaches, held by the kernel.
 *
 * The structures are this program's own, for the system's header may be older than the kernel;
 * what is asked of a kernel is what its version knows.
 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stdbool.h>

#include "sandbox/sandbox.h"

enum {
    LANDLOCK_TRUNCATES = 3,    /* from this version on truncate() is held */
    LANDLOCK_HOLDS_SIGNALS = 6 /* and signals to processes outside */
};

/* 0 with errno: there is none. */
int landlock_version(void);

/* A descriptor of the rules for files, and for the network and signals where the version knows of
 * them; -1 with *error. */
int landlock_make(const struct sandbox_rules *rules, int version, struct error *error);

/* In the child, for ever; false with errno.  Async-signal-safe. */
bool landlock_enter(int ruleset);

#endif
