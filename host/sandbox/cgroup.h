/* cgroup - the control group that this process is in, and which limits it could set there. */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include <stdbool.h>

#include "base/text.h"

/* Whether limits of memory and processes could be set for children.  Appends which group and
 * which limits, or why not (nothing: errno says it); may change *advice. */
bool cgroup_probe(struct text *detail, const char **advice);

#endif
