/* prepared - what sandbox_prepare() makes for sandbox_enter(). */
#ifndef SANDBOX_PREPARED_H
#define SANDBOX_PREPARED_H

#include "sandbox/filter.h"
#include "sandbox/sandbox.h"

struct sandbox {
    int ruleset; /* of Landlock */
    const struct filter *filter;
    struct sandbox_limits limits;
    enum sandbox_namespaces namespaces;
    bool may_fork, network;
    unsigned keep_descriptors;
};

/* sandbox_prepare() that uses no more of Landlock than this version of it has. */
struct sandbox *sandbox_prepare_version(const struct sandbox_rules *rules, int version,
                                        struct error *error);

#endif
