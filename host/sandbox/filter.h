/*
 * filter - which system calls a process may make: a seccomp filter, made once for each kind.
 *
 * A list of what is allowed; everything else fails with EPERM, or with ENOSYS or ENOTSUP where
 * libraries and programs then go another way.  Calls that are told from each other by their arguments are allowed for some.
 * Calls of another architecture's numbers end the process.
 */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "base/error.h"

enum filter_flag {
    FILTER_FORK = 1 << 0,
    FILTER_EXEC = 1 << 1,
    FILTER_NETWORK = 1 << 2,
    FILTER_LINKS = 1 << 3,
    FILTER_MODES = 1 << 4,
    FILTER_CODE_FILES = 1 << 5,
    FILTER_CODE_ANY = 1 << 6,
    FILTER_SIGNALS = 1 << 7,   /* somebody else holds signals to outside: any may be sent */
    FILTER_TRUNCATES = 1 << 8, /* somebody else holds truncation */
    FILTER_LASTING = 1 << 9,   /* no files without a name */
    FILTER_KINDS = 1 << 10
};

enum { FILTER_MOST = 2048 }; /* instructions */

struct filter {
    unsigned short count;
    struct sock_filter code[];
};

/* The filter of this kind (a sum of enum filter_flag), kept for ever; NULL with *error.
 * Thread-safe. */
const struct filter *filter_get(unsigned kind, struct error *error);

/* In the child, for ever; false with errno.  "Itself" is the process that enters.
 * Async-signal-safe. */
bool filter_enter(const struct filter *filter);

#endif
