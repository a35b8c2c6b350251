/* seccomp_api - libseccomp through a table of functions, loaded with the first sandbox. */
#ifndef SANDBOX_SECCOMP_API_H
#define SANDBOX_SECCOMP_API_H

#include <seccomp.h>

#include "base/error.h"

struct seccomp_api {
    scmp_filter_ctx (*init)(uint32_t);
    void (*release)(scmp_filter_ctx);
    int (*attr_set)(scmp_filter_ctx, enum scmp_filter_attr, uint32_t);
    int (*rule_add_array)(scmp_filter_ctx, uint32_t, int, unsigned, const struct scmp_arg_cmp *);
    int (*export_bpf)(const scmp_filter_ctx, int);
};

/* NULL with *error (kind config) that names the package to install.  Thread-safe. */
const struct seccomp_api *seccomp_api(struct error *error);

#endif
