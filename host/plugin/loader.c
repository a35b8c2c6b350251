#include "plugin/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/elf.h"
#include "plugin/host_api.h"
#include "plugin/scan.h"

typedef mortise_plugin *factory(const mortise_host *host);

/* ---- dlopen ---- */

static bool leads_to(const char *path, const struct stat *opened)
{
    struct stat named;
    return stat(path, &named) == 0 && opened->st_dev == named.st_dev &&
           opened->st_ino == named.st_ino;
}

static bool explain_dlopen(const char *path, struct error *error)
{
    const char *message = dlerror();
    if (!message)
        message = "dlopen() gave no reason";
    size_t length = strlen(path);
    if (strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    const char *advice = "";
    if (strstr(message, "undefined symbol"))
        advice = ": link the library that has it (-Wl,-z,defs tells when the plugin is built)";
    else if (strstr(message, "cannot open shared object"))
        advice = ": install that library";
    else if (strstr(message, "version `"))
        advice = ": rebuild the plugin on this system";
    return error_set(error, ERROR_PLUGIN, "it cannot be loaded: %s%s", message, advice);
}

static void *open_object(const char *path, int fd, struct error *error)
{
    struct stat opened;
    if (fstat(fd, &opened) < 0) {
        error_set(error, ERROR_PLUGIN, "it cannot be read: %s", strerror(errno));
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        explain_dlopen(path, error);
        return NULL;
    }
    if (!leads_to(path, &opened)) {
        error_set(error, ERROR_PLUGIN, "it was replaced while it was loaded: try again");
        return NULL;
    }
    return handle;
}

/* ---- the factory ---- */

/* "text" of "/usr/lib/mortise/text.so"; NULL: no memory. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    return strndup(name, length);
}

static struct host_api *make_api(const struct loader *loader, const char *path)
{
    char *name = name_of(path);
    if (!name)
        return NULL;
    char *config = loader->config ? loader->config(loader->config_context, name) : strdup("{}");
    struct host_api *api = host_api_new(name, config, loader->services);
    free(name);
    return api;
}

static struct plugin *make(const struct loader *loader, const char *path, void *handle,
                           struct error *error)
{
    union {
        void *object;
        factory *function;
    } entry = {.object = dlsym(handle, "tool_definition")};
    struct host_api *api = make_api(loader, path);
    if (!api || !entry.object) {
        host_api_free(api);
        error_memory(error);
        return NULL;
    }
    mortise_plugin *face = entry.function(host_api_face(api));
    if (!face) {
        const char *reason = host_api_refusal(api);
        error_set(error, ERROR_PLUGIN, "it refused to load%s%s",
                  reason ? ": " : " and gave no reason", reason ? reason : "");
        host_api_free(api);
        return NULL;
    }
    struct plugin *plugin = plugin_new(path, face, api);
    if (!plugin) { /* nobody is left to remember that it must be closed */
        if (MORTISE_HAS(face, mortise_plugin, close) && face->close)
            face->close(face);
        host_api_free(api);
        error_memory(error);
    }
    return plugin;
}

/* "prefix" and "rename" (D19) are all that is read of it here; most plugins have none. */
static bool read_config(struct plugin *plugin, struct error *error)
{
    const char *text = host_api_face(plugin->api)->config(host_api_face(plugin->api));
    if (strcmp(text, "{}") == 0)
        return true;
    plugin->config = json_parse(text, strlen(text), NULL, error);
    if (!plugin->config)
        error_prefix(error, "its configuration cannot be read");
    return plugin->config;
}

/* ---- one file ---- */

static bool is_loaded(const struct registry *registry, const char *path)
{
    const struct plugin *plugin;
    for (size_t i = 0; (plugin = registry_plugin(registry, i)); i++)
        if (strcmp(plugin->path, path) == 0)
            return true;
    return false;
}

/* The factory of an object is called once, whatever paths lead to it. */
static bool claim(struct loader *loader, const char *path, const void *handle, bool *again,
                  struct error *error)
{
    const char *earlier;
    *again = false;
    if (registry_claim(loader->registry, handle, path, &earlier))
        return true;
    if (!earlier)
        return error_memory(error);
    if (!is_loaded(loader->registry, earlier))
        return error_set(error, ERROR_PLUGIN, "it is the same file as '%.500s', which was refused",
                         earlier);
    *again = true;
    return false;
}

static bool load_open(struct loader *loader, const char *path, int fd, struct error *error)
{
    struct elf_info info;
    bool again;
    if (!elf_inspect(fd, &info, error))
        return false;
    void *handle = open_object(path, fd, error);
    if (!handle)
        return false;
    if (!claim(loader, path, handle, &again, error))
        return again;
    struct plugin *plugin = make(loader, path, handle, error);
    if (!plugin)
        return false;
    if (read_config(plugin, error) && registry_add(loader->registry, plugin, error)) {
        host_api_set_name(plugin->api, plugin->name);
        return true;
    }
    plugin_free(plugin);
    return false;
}

static bool load(struct loader *loader, const char *path, struct error *error)
{
    /* Without a slash dlopen() would search the library path. */
    struct text place = TEXT_INIT;
    text_printf(&place, "%s%s", strchr(path, '/') ? "" : "./", path);
    bool good = !place.failed || error_memory(error);
    int fd = good ? scan_open(place.data, error) : -1;
    good = fd >= 0 && load_open(loader, place.data, fd, error);
    if (fd >= 0)
        close(fd);
    text_release(&place);
    return good;
}

static void refuse(struct loader *loader, const char *path, const char *reason)
{
    registry_refuse(loader->registry, path, reason);
    if (loader->refused)
        loader->refused(loader->refused_context, path, reason);
    else
        log_warning("%s: %s", path, reason);
}

bool loader_load(struct loader *loader, const char *path, struct error *error)
{
    struct error own = ERROR_INIT;
    if (!error)
        error = &own;
    if (load(loader, path, error))
        return true;
    refuse(loader, path, error->message);
    return false;
}

/* ---- folders ---- */

static void load_found(void *context, const char *path)
{
    struct error error = ERROR_INIT;
    loader_load(context, path, &error);
}

static void refuse_found(void *context, const char *path, const char *reason)
{
    refuse(context, path, reason);
}

void loader_load_folder(struct loader *loader, const char *folder, bool optional)
{
    scan_folder(folder, optional, load_found, refuse_found, loader);
}

/* ---- checking ---- */

bool loader_check(const char *path, mortise_stamp *stamp, struct error *error)
{
    struct elf_info info;
    int fd = scan_open(path, error);
    if (fd < 0)
        return false;
    bool good = elf_inspect(fd, &info, error) && elf_symbols_resolve(fd, error);
    if (good)
        *stamp = info.stamp;
    close(fd);
    return good;
}
