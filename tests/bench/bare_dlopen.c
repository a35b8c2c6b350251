/*
 * bare_dlopen - what the system's loader alone takes for a folder of plugins.
 *
 *     bare_dlopen FOLDER
 *
 * Loads each file, calls its factory and prints the names of its tools, sorted: no checks
 * before the file's code runs, no schemas, no registry.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <mortise/plugin.h>

static int is_plugin(const struct dirent *entry)
{
    return strstr(entry->d_name, ".so") != NULL;
}

static int load(const char *folder, const char *name)
{
    union {
        void *object;
        mortise_plugin *(*function)(const mortise_host *host);
    } factory;
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    factory.object = handle ? dlsym(handle, "tool_definition") : NULL;
    if (!factory.object) {
        fprintf(stderr, "bare_dlopen: %s\n", dlerror());
        return 1;
    }
    const mortise_plugin *plugin = factory.function(NULL);
    for (size_t i = 0; i < plugin->tool_count; i++)
        printf("%s  %s\n", plugin->tools[i]->meta->name, plugin->tools[i]->meta->description);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count = argc == 2 ? scandir(argv[1], &entries, is_plugin, alphasort) : -1;
    if (count < 0) {
        fputs("usage: bare_dlopen FOLDER\n", stderr);
        return 2;
    }
    int code = 0;
    for (int i = 0; i < count && code == 0; i++)
        code = load(argv[1], entries[i]->d_name);
    return code;
}
