#include "plugin/loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "plugin/elf.h"
#include "plugin/host_api.h"
#include "plugin/scan.h"

typedef mortise_plugin *factory(const mortise_host *host);

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

char *loader_config(const struct loader *loader, const char *path)
{
    char *name = name_of(path);
    char *config = NULL;
    if (name)
        config = loader->config ? loader->config(loader->config_context, name) : strdup("{}");
    free(name);
    return config;
}

static struct host_api *make_api(const struct loader *loader, const char *path)
{
    char *name = name_of(path);
    struct host_api *api = name ? host_api_new(name, loader_config(loader, path)) : NULL;
    free(name);
    return api;
}

static struct plugin *make(const struct loader *loader, const char *path,
                           const struct object *object, struct error *error)
{
    union {
        void *object;
        factory *function;
    } entry = {.object = dlsym(object->handle, "tool_definition")};
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
static bool claim(const struct loader *loader, const char *path, const struct object *object,
                  bool *again, struct error *error)
{
    const char *earlier;
    *again = false;
    if (registry_claim(loader->registry, object, path, &earlier))
        return true;
    if (!earlier)
        return error_memory(error);
    if (!is_loaded(loader->registry, earlier))
        return error_set(error, ERROR_PLUGIN, "it is the same file as '%.500s', which was refused",
                         earlier);
    *again = true;
    return error_set(error, ERROR_PLUGIN, "it is the same file as '%.500s'", earlier);
}

static struct plugin *make_open(const struct loader *loader, const char *path, int fd,
                                const struct file_id *id, bool *again, struct error *error)
{
    struct elf_info info;
    if (!elf_inspect(fd, &info, error))
        return NULL;
    const struct object *object =
        object_open(path, fd, id, loader->is_free, loader->is_free_context, error);
    if (!object || !claim(loader, path, object, again, error))
        return NULL;
    struct plugin *plugin = make(loader, path, object, error);
    if (!plugin)
        return NULL;
    plugin->object = object;
    plugin->file = *id;
    if (!read_config(plugin, error) || !plugin_read(plugin, error)) {
        plugin_unref(plugin);
        return NULL;
    }
    host_api_set_name(plugin->api, plugin->name);
    return plugin;
}

struct plugin *loader_make(const struct loader *loader, const char *path, bool *again,
                           struct error *error)
{
    struct file_id id;
    struct plugin *plugin = NULL;
    *again = false;
    int fd = scan_open(path, error);
    if (fd < 0)
        return NULL;
    if (file_id_read(fd, &id, error)) {
        objects_lock();
        plugin = make_open(loader, path, fd, &id, again, error);
        objects_unlock();
    }
    close(fd);
    return plugin;
}

bool loader_place(const char *path, struct text *place)
{
    text_printf(place, "%s%s", strchr(path, '/') ? "" : "./", path);
    return !place->failed;
}

static bool load(struct loader *loader, const char *path, struct error *error)
{
    struct text place = TEXT_INIT;
    struct plugin *plugin = NULL;
    bool again = false;
    if (loader_place(path, &place))
        plugin = loader_make(loader, place.data, &again, error);
    else
        error_memory(error);
    text_release(&place);
    if (!plugin)
        return again;
    if (registry_add(loader->registry, plugin, error))
        return true;
    plugin_unref(plugin);
    return false;
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
