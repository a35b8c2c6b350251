#include "base/environment.h"

#include <stdlib.h>

const char *environment_get(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}
