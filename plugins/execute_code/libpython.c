#include "libpython.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTALL "install libpython3.11"

enum { OLDEST = 9, NEWEST = 14 };

/* The newest one that has its modules beside it: without these it would end the process. */
static void *open_library(void)
{
    for (int minor = NEWEST; minor >= OLDEST; minor--) {
        static const char *const folders[] = {"/usr/lib", "/usr/lib64"};
        char name[64], modules[64];
        bool is_whole = false;
        for (size_t i = 0; i < 2 && !is_whole; i++) {
            snprintf(modules, sizeof(modules), "%s/python3.%d/os.py", folders[i], minor);
            is_whole = access(modules, R_OK) == 0;
        }
        snprintf(name, sizeof(name), "libpython3.%d.so.1.0", minor);
        /* Global: its own modules in files look for their functions there. */
        void *library = is_whole ? dlopen(name, RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (library)
            return library;
    }
    return NULL;
}

static bool find_all(void *library, struct libpython *python)
{
    static const char *const names[] = {
#define X(name, result, parameters) #name,
        LIBPYTHON_FUNCTIONS(X)
#undef X
#define X(name) #name,
            LIBPYTHON_FLAGS(X)
#undef X
    };
    void **slots = (void **)python;
    _Static_assert(sizeof(*python) == sizeof(names), "a slot for each name");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *found = dlsym(library, names[i]);
        if (!found)
            return false;
        memcpy(&slots[i], &found, sizeof(found));
    }
    return true;
}

const struct libpython *libpython_load(const char **problem)
{
    static struct libpython python;
    static bool is_loaded;
    if (is_loaded)
        return &python;
    void *library = open_library();
    if (!library)
        *problem = INSTALL;
    else if (!find_all(library, &python))
        *problem = "the Python that is installed lacks functions: " INSTALL;
    else
        is_loaded = true;
    return is_loaded ? &python : NULL;
}
