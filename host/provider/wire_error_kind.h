/* wire_error_kind - which kind of error a server means: the judging half of wire_error. */
#ifndef PROVIDER_WIRE_ERROR_KIND_H
#define PROVIDER_WIRE_ERROR_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What was found in an answer; all borrowed. */
struct wire_finding {
    int status;               /* 0 = unknown */
    const char *const *codes; /* "code", "type", …: the provider's own words for the kind */
    size_t code_count;
    const char *message; /* "" = none */
};

struct wire_verdict {
    enum error_kind kind;
    bool retryable;
};

struct wire_verdict wire_error_judge(const struct wire_finding *finding);

#endif
