#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static bool find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

static bool fail(const struct library *library, const char *why, struct error *error)
{
    return error_set(error, ERROR_CONFIG,
                     "cannot load '%s', which is needed %s: %s; install it with "
                     "'sudo apt-get install %s'",
                     library->file, library->purpose, why, library->package);
}

bool library_load(const struct library *library, void *table, struct error *error)
{
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        return fail(library, reason ? reason : "no reason given", error);
    }
    for (size_t i = 0; i < library->count; i++)
        if (!find(handle, library->functions[i].name, (char *)table + library->functions[i].offset))
            return fail(library, "it is too old", error);
    return true;
}
