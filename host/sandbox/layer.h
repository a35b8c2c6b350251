/*
 * layer - what a sandbox is made of, and which of it this machine has.
 *
 * Thread-safe.
 */
#ifndef SANDBOX_LAYER_H
#define SANDBOX_LAYER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

enum sandbox_layer {
    SANDBOX_NO_LAYER,
    /* The required set. */
    SANDBOX_NO_NEW_PRIVILEGES,
    SANDBOX_SECCOMP,
    SANDBOX_LANDLOCK,
    SANDBOX_LIMITS,
    SANDBOX_CAPABILITIES,
    SANDBOX_DESCRIPTORS,
    SANDBOX_PARENT_DEATH,
    SANDBOX_PROCESS_DESCRIPTORS,
    SANDBOX_PROCESS_FIGURES,
    /* Used where there are any. */
    SANDBOX_NAMESPACES,
    SANDBOX_CONTROL_GROUPS,
    SANDBOX_LAYER_COUNT,
    /* What else entering may fail at. */
    SANDBOX_ONE_THREAD = SANDBOX_LAYER_COUNT,
    SANDBOX_SESSION
};

/* "Landlock"; never NULL. */
const char *sandbox_layer_name(enum sandbox_layer layer);
bool sandbox_layer_required(enum sandbox_layer layer);

/* Whether this machine has the layer, asked in a way that changes nothing.  *what is appended to:
 * "Landlock, version 7", or "no Landlock: Function not implemented"; *advice is what to do about
 * that, or NULL.  The layer is one below SANDBOX_LAYER_COUNT. */
bool sandbox_probe(enum sandbox_layer layer, struct text *what, const char **advice);

/* False with *error about the first layer of the required set that is missing. */
bool sandbox_probe_required(struct error *error);

#endif
