#include "plugin/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "base/log.h"
#include "plugin/elf.h"
#include "plugin/granted.h"
#include "plugin/host_api.h"
#include "plugin/pins.h"
#include "plugin/scan.h"

typedef mortise_plugin *factory(const mortise_host *host);

/* ---- the factory ---- */

/* How it is to run, as the configuration says. */
static bool read_isolation(const struct loader *loader, const char *path,
                           struct isolation *isolation, struct error *error)
{
    *isolation = (struct isolation){0};
    char *name = loader->isolation ? pins_name(path) : NULL;
    bool ok = !loader->isolation ||
              (name ? loader->isolation(loader->config_context, name, isolation, error)
                    : error_memory(error));
    free(name);
    return ok;
}

/* What it may be given; NULL: everything, or no memory. */
static const json_t *read_scopes(const struct loader *loader, const char *path, bool *ok)
{
    char *name = loader->scopes ? pins_name(path) : NULL;
    *ok = name || !loader->scopes;
    const json_t *scopes = name ? loader->scopes(loader->config_context, name) : NULL;
    free(name);
    return scopes;
}

bool loader_would_keep(const struct loader *loader, const struct plugin *plugin)
{
    struct isolation isolation;
    struct error ignored;
    bool ok;
    const json_t *scopes = read_scopes(loader, plugin->path, &ok);
    bool same = ok && granted_are(plugin, scopes) &&
                read_isolation(loader, plugin->path, &isolation, &ignored);
    if (!same)
        return false;
    same = isolation_equal(&isolation, &plugin->isolation) &&
           (!loader->admits ||
            loader->admits(loader->config_context, plugin->path, plugin->sha256, &ignored));
    isolation_release(&isolation);
    return same;
}

char *loader_config(const struct loader *loader, const char *path)
{
    char *name = pins_name(path);
    char *config = NULL;
    if (name)
        config = loader->config ? loader->config(loader->config_context, name) : strdup("{}");
    free(name);
    return config;
}

static struct host_api *make_api(const struct loader *loader, const char *path)
{
    char *name = pins_name(path);
    struct host_api *api =
        name ? host_api_new(name, loader_config(loader, path), loader->services) : NULL;
    if (api)
        host_api_set_bell(api, loader->bell);
    free(name);
    return api;
}

/* Takes over the face and `api`, whatever happens. */
static struct plugin *keep(const char *path, mortise_plugin *face, struct host_api *api,
                           struct error *error)
{
    struct plugin *plugin = plugin_new(path, face, api);
    if (!plugin) { /* nobody is left to remember that it must be closed */
        if (MORTISE_HAS(face, mortise_plugin, close) && face->close)
            face->close(face);
        host_api_free(api);
        error_memory(error);
    }
    return plugin;
}

/* In another process: the file is looked at here, and mapped there. */
static struct plugin *make_isolated(const struct loader *loader, const char *path,
                                    const struct file_id *id, const char *sha256,
                                    const struct isolation *isolation, struct error *error)
{
    const atomic_bool *is_set_aside = NULL;
    struct host_api *api = make_api(loader, path);
    if (!api) {
        error_memory(error);
        return NULL;
    }
    mortise_plugin *face = loader->isolate(isolation, path, id, *sha256 ? sha256 : NULL,
                                           api, &is_set_aside, error);
    if (!face) {
        host_api_free(api);
        return NULL;
    }
    struct plugin *plugin = keep(path, face, api, error);
    if (plugin)
        plugin->is_set_aside = is_set_aside;
    return plugin;
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
    return keep(path, face, api, error);
}

/* "prefix" and "rename" (D19) are all that is read of it here; most plugins have none. */
static bool read_config(const struct loader *loader, struct plugin *plugin, struct error *error)
{
    bool ok;
    const json_t *scopes = read_scopes(loader, plugin->path, &ok);
    if (!ok)
        return error_memory(error);
    if (!granted_read(plugin, scopes, error))
        return false;
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

/* The three steps: look into the file, map it, call its factory and read what it made. */

/* What is opened of a file from here on. */
struct opened {
    int fd; /* the file, or where only known bytes may run a copy that stays as it is; or -1 */
    struct file_id id;
    char sha256[SHA256_TEXT]; /* of the copy; "": it is the file */
};

static int make_copy(const struct loader *loader, const char *path, int fd,
                     char sha256[SHA256_TEXT], struct error *error)
{
    if (loader->copy) {
        memcpy(sha256, loader->copy->sha256, SHA256_TEXT);
        int copy = fcntl(loader->copy->fd, F_DUPFD_CLOEXEC, 0);
        if (copy < 0)
            error_set(error, ERROR_PLUGIN, "it cannot be read: %s", strerror(errno));
        return copy;
    }
    char *name = pins_name(path);
    int copy = name ? sealed_copy(fd, name, sha256, error) : -1;
    if (!name)
        error_memory(error);
    free(name);
    return copy;
}

/* Takes over `fd`; the copy, or -1. */
static int admit(const struct loader *loader, const char *path, int fd, char sha256[SHA256_TEXT],
                 struct error *error)
{
    int copy = make_copy(loader, path, fd, sha256, error);
    close(fd);
    if (copy < 0 || loader->admits(loader->config_context, path, sha256, error))
        return copy;
    close(copy);
    return -1;
}

static int open_checked(const struct loader *loader, const char *path, struct opened *opened,
                        struct error *error)
{
    struct elf_info info;
    int fd = scan_open(path, &opened->id, error);
    if (fd >= 0 && loader->admits)
        fd = admit(loader, path, fd, opened->sha256, error);
    if (fd < 0 || (elf_inspect(fd, &info, error) &&
                   (!loader->admits || elf_is_alone(fd, error))))
        return fd;
    close(fd);
    return -1;
}

static bool check_file(const struct loader *loader, const char *path, struct opened *opened,
                       struct error *error)
{
    *opened = (struct opened){.fd = -1};
    opened->fd = open_checked(loader, path, opened, error);
    return opened->fd >= 0;
}

static void close_file(struct opened *opened)
{
    if (opened->fd >= 0)
        close(opened->fd);
    opened->fd = -1;
}

static const struct object *map_file(const struct loader *loader, const char *path,
                                     const struct opened *opened, struct error *error)
{
    objects_lock();
    const struct object *object =
        object_open(path, opened->fd, &opened->id, *opened->sha256 ? opened->sha256 : NULL,
                    loader->is_free, loader->is_free_context, error);
    objects_unlock();
    return object;
}

/* A link to a file that runs in a process already. */
static bool is_isolated_already(const struct loader *loader, const struct file_id *id,
                                struct error *error)
{
    const struct plugin *plugin;
    for (size_t i = 0; (plugin = registry_plugin(loader->registry, i)); i++)
        if (plugin->isolation.is_process && plugin->file.device == id->device &&
            plugin->file.inode == id->inode)
            return !error_set(error, ERROR_PLUGIN, "it is the same file as '%.500s'",
                              plugin->path);
    return false;
}

static struct plugin *make_mapped(const struct loader *loader, const char *path,
                                  const struct object *object, bool *again, struct error *error)
{
    if (!claim(loader, path, object, again, error))
        return NULL;
    objects_lock();
    struct plugin *plugin = make(loader, path, object, error);
    objects_unlock();
    if (plugin)
        plugin->object = object;
    return plugin;
}

static bool keep_isolation(struct plugin *plugin, const struct isolation *isolation,
                           struct error *error)
{
    const char *grants = isolation->grants;
    plugin->isolation = *isolation;
    if (grants)
        plugin->isolation.grants = arena_copy(&plugin->memory, grants, strlen(grants));
    return !grants || plugin->isolation.grants || error_memory(error);
}

static bool needs_sandbox(const struct plugin *plugin)
{
    for (size_t i = 0; i < plugin->tool_count; i++)
        if (plugin->tools[i]->meta.flags & MORTISE_SANDBOX_REQUIRED)
            return true;
    return false;
}

static bool confine(const struct loader *loader, struct plugin *plugin, struct error *error)
{
    return !loader->confine || !needs_sandbox(plugin) || loader->confine(plugin, error);
}

/* `object` NULL: in a process of its own. */
static struct plugin *make_plugin(const struct loader *loader, const char *path,
                                  const struct opened *opened, const struct object *object,
                                  const struct isolation *isolation, bool *again,
                                  struct error *error)
{
    struct plugin *plugin = NULL;
    *again = !object && is_isolated_already(loader, &opened->id, error);
    if (object)
        plugin = make_mapped(loader, path, object, again, error);
    else if (!*again)
        plugin = make_isolated(loader, path, &opened->id, opened->sha256, isolation, error);
    if (!plugin)
        return NULL;
    plugin->file = opened->id;
    memcpy(plugin->sha256, opened->sha256, sizeof(plugin->sha256));
    if (!keep_isolation(plugin, isolation, error) || !read_config(loader, plugin, error) ||
        !plugin_read(plugin, error) || !confine(loader, plugin, error)) {
        plugin_unref(plugin);
        return NULL;
    }
    host_api_set_name(plugin->api, plugin->name);
    return plugin;
}

struct plugin *loader_make(const struct loader *loader, const char *path, bool *again,
                           struct error *error)
{
    struct opened opened;
    struct isolation isolation;
    const struct object *object = NULL;
    *again = false;
    if (!check_file(loader, path, &opened, error))
        return NULL;
    bool ok = read_isolation(loader, path, &isolation, error);
    if (ok && !isolation.is_process)
        ok = (object = map_file(loader, path, &opened, error));
    close_file(&opened);
    struct plugin *plugin =
        ok ? make_plugin(loader, path, &opened, object, &isolation, again, error) : NULL;
    isolation_release(&isolation);
    return plugin;
}

bool loader_place(const char *path, struct text *place)
{
    text_puts(place, strchr(path, '/') ? "" : "./");
    text_puts(place, path);
    return !place->failed;
}

static bool add(const struct loader *loader, struct plugin *plugin, struct error *error)
{
    if (registry_add(loader->registry, plugin, error))
        return true;
    plugin_unref(plugin);
    return false;
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
    return plugin ? add(loader, plugin, error) : again;
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

/* A file on its way.  Each step is done for all files before the next one: dlopen() looks at
 * every object that there is, and between two of its calls all other code would run cold. */
struct candidate {
    const char *path;
    struct opened file; /* a copy stays open until it is mapped */
    struct isolation isolation;
    const struct object *object; /* NULL: not mapped, or not here */
    const char *reason; /* why it goes no further; NULL: it does */
};

struct folder {
    struct loader *loader;
    struct candidate *items;
    size_t count, capacity;
    struct arena memory; /* of texts */
    bool no_memory;
};

static void give_reason(struct folder *folder, struct candidate *candidate, const char *reason)
{
    candidate->reason = arena_copy(&folder->memory, reason, strlen(reason));
    if (!candidate->reason)
        candidate->reason = "out of memory";
}

static struct candidate *add_candidate(struct folder *folder, const char *path)
{
    const char *copy = arena_copy(&folder->memory, path, strlen(path));
    if (!copy || !array_reserve(folder, 1)) {
        folder->no_memory = true;
        return NULL;
    }
    struct candidate *candidate = &folder->items[folder->count++];
    *candidate = (struct candidate){.path = copy, .file.fd = -1};
    return candidate;
}

static void note_found(void *context, const char *path)
{
    add_candidate(context, path);
}

static void note_refused(void *context, const char *path, const char *reason)
{
    struct candidate *candidate = add_candidate(context, path);
    if (candidate)
        give_reason(context, candidate, reason);
}

static bool check_candidate(const struct loader *loader, struct candidate *candidate,
                            struct error *error)
{
    bool good = check_file(loader, candidate->path, &candidate->file, error) &&
                read_isolation(loader, candidate->path, &candidate->isolation, error);
    if (!loader->admits || !good || candidate->isolation.is_process)
        close_file(&candidate->file);
    return good;
}

static bool map_candidate(const struct loader *loader, struct candidate *candidate,
                          struct error *error)
{
    if (candidate->isolation.is_process)
        return true;
    candidate->object = map_file(loader, candidate->path, &candidate->file, error);
    close_file(&candidate->file);
    return candidate->object;
}

static bool make_candidate(const struct loader *loader, struct candidate *candidate,
                           struct error *error)
{
    bool again;
    struct plugin *plugin =
        make_plugin(loader, candidate->path, &candidate->file, candidate->object,
                    &candidate->isolation, &again, error);
    return plugin ? add(loader, plugin, error) : again;
}

typedef bool loading_step(const struct loader *loader, struct candidate *candidate,
                          struct error *error);

static void take_step(struct folder *folder, loading_step *step)
{
    for (size_t i = 0; i < folder->count; i++) {
        struct error error = ERROR_INIT;
        if (!folder->items[i].reason && !step(folder->loader, &folder->items[i], &error))
            give_reason(folder, &folder->items[i], error.message);
    }
}

void loader_load_folder(struct loader *loader, const char *path, bool optional)
{
    struct folder folder = {.loader = loader};
    arena_init(&folder.memory, NULL, 0);
    scan_folder(path, optional, note_found, note_refused, &folder);
    take_step(&folder, check_candidate);
    take_step(&folder, map_candidate);
    take_step(&folder, make_candidate);
    for (size_t i = 0; i < folder.count; i++) {
        if (folder.items[i].reason)
            refuse(loader, folder.items[i].path, folder.items[i].reason);
        isolation_release(&folder.items[i].isolation);
    }
    if (folder.no_memory)
        refuse(loader, path, "not all of it was looked at: out of memory");
    free(folder.items);
    arena_release(&folder.memory);
}

/* ---- checking ---- */

bool loader_check(const char *path, mortise_stamp *stamp, struct error *error)
{
    struct elf_info info;
    int fd = scan_open(path, NULL, error);
    if (fd < 0)
        return false;
    bool good = elf_inspect(fd, &info, error) && elf_symbols_resolve(fd, error);
    if (good)
        *stamp = info.stamp;
    close(fd);
    return good;
}
