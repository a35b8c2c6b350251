/*
 * rules - what sandboxes of plugins and of single calls have: what the operator granted, what the
 * tool needs of the system, and the limits that hold when nothing is said.
 */
#ifndef REMOTE_RULES_H
#define REMOTE_RULES_H

#include "base/arena.h"
#include "base/error.h"
#include "plugin/registry.h"
#include "sandbox/sandbox.h"

struct rules {
    struct sandbox_rules rules; /* whose paths lie in `memory` */
    struct arena memory;
};

/* `grants` is that of struct isolation, or NULL.  False with *error; released either way. */
bool rules_for_plugin(struct rules *rules, const char *grants, const char *path,
                      struct error *error);
bool rules_for_call(struct rules *rules, const char *grants, const struct tool *tool,
                    struct error *error);
void rules_release(struct rules *rules);
/* What a call may send to its host (0: any amount), and whether the network is granted. */
uint64_t rules_output_bytes(const char *grants);
bool rules_have_network(const char *grants);

#endif
