#include "jsc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char *const libraries[] = {"libjavascriptcoregtk-4.1.so.0",
                                        "libjavascriptcoregtk-6.0.so.1",
                                        "libjavascriptcoregtk-4.0.so.18"};

/* No code is made at run time, so that the sandbox need not allow it.  No threads, so that it can be
 * forked: these are also why memory is from malloc(), for the engine's own allocator has one. */
static const char *const settings[][2] = {{"Malloc", "1"},
                                          {"JSC_useJIT", "0"},
                                          {"JSC_useConcurrentJIT", "0"},
                                          {"JSC_useConcurrentGC", "0"},
                                          {"JSC_numberOfGCMarkers", "1"}};

static bool find_all(void *library, struct jsc *jsc)
{
    static const char *const names[] = {
#define X(name, result, parameters) "JS" #name,
        JSC_FUNCTIONS(X)
#undef X
    };
    void **slots = (void **)jsc;
    _Static_assert(sizeof(*jsc) == sizeof(names), "a slot for each function");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *found = dlsym(library, names[i]);
        memcpy(&slots[i], &found, sizeof(found));
    }
    for (size_t i = 0; i + 1 < sizeof(names) / sizeof(names[0]); i++)
        if (!slots[i])
            return false;
    return true;
}

const struct jsc *jsc_load(const char **problem)
{
    static struct jsc jsc;
    static bool is_loaded;
    void *library = NULL;
    if (is_loaded)
        return &jsc;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        setenv(settings[i][0], settings[i][1], 1);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !library; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        *problem = "install libjavascriptcoregtk-4.1-0 (JavaScriptCore)";
    else if (!find_all(library, &jsc))
        *problem = "the JavaScriptCore that is installed lacks functions: install "
                   "libjavascriptcoregtk-4.1-0";
    else
        is_loaded = true;
    return is_loaded ? &jsc : NULL;
}
