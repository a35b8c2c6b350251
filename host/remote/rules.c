#include "remote/rules.h"

#include <string.h>

#include "base/json.h"

#define CALL_OUTPUT_BYTES  ((uint64_t)10 << 20)
#define CALL_DISK_BYTES    ((uint64_t)64 << 20)
#define CALL_FILES         1000
#define CALL_PROCESSES     64
#define CALL_DESCRIPTORS   256
#define PLUGIN_DESCRIPTORS 1024
#define CALL_KEPT          5 /* of descriptors: three that lead nowhere, the lane, its cancel_fd */
#define PLUGIN_KEPT        4 /* input and output, and the control socket */

/* What the loader of programs and libraries looks at. */
static const char *const libraries[] = {
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",   "/lib",
    "/lib32",   "/lib64",     "/libx32",    "/etc/ld.so.cache", NULL,
};
/* A program's loader is run by the kernel. */
static const char *const loaders[] = {
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    NULL,
};

/* ---- lists of paths ---- */

struct list {
    struct rules *rules;
    const char **items;
    size_t count;
    bool failed;
};

static size_t length_of(const char *const *paths)
{
    size_t count = 0;
    while (paths && paths[count])
        count++;
    return count;
}

static struct list new_list(struct rules *rules, size_t most)
{
    struct list list = {.rules = rules};
    list.items = arena_alloc(&rules->memory, (most + 1) * sizeof(*list.items));
    list.failed = !list.items;
    return list;
}

static void add(struct list *list, const char *path)
{
    if (list->failed)
        return;
    list->items[list->count] = arena_copy(&list->rules->memory, path, strlen(path));
    list->failed = !list->items[list->count++];
}

static void add_all(struct list *list, const char *const *paths)
{
    for (; paths && *paths; paths++)
        add(list, *paths);
}

static void add_granted(struct list *list, const json_t *granted)
{
    for (size_t i = 0; i < json_array_size(granted); i++)
        add(list, json_string_value(json_array_get(granted, i)));
}

/* What was granted, what is needed, and what goes with that. */
static const char *const *join(struct rules *rules, const json_t *granted,
                               const char *const *needed, const char *const *more, bool *failed)
{
    struct list list =
        new_list(rules, json_array_size(granted) + length_of(needed) + length_of(more));
    add_granted(&list, granted);
    add_all(&list, needed);
    add_all(&list, more);
    *failed |= list.failed;
    return list.items;
}

/* ---- what was granted ---- */

/* Made by sandbox_grant_write(): it holds what that says. */
static json_t *read_grants(const char *grants, struct error *error)
{
    return grants ? json_parse(grants, strlen(grants), NULL, error)
                  : json_parse("{}", 2, NULL, error);
}

static uint64_t number(const json_t *grants, const char *key, uint64_t fallback)
{
    return (uint64_t)json_member_integer(grants, key, (json_int_t)fallback);
}

uint64_t rules_output_bytes(const char *grants)
{
    struct error ignored;
    json_t *object = read_grants(grants, &ignored);
    uint64_t bytes = number(object, "output_bytes", CALL_OUTPUT_BYTES);
    json_decref(object);
    return bytes;
}

bool rules_have_network(const char *grants)
{
    struct error ignored;
    json_t *object = read_grants(grants, &ignored);
    bool has = json_member_true(object, "network");
    json_decref(object);
    return has;
}

static void take_grants(struct sandbox_rules *rules, const json_t *grants)
{
    rules->network = json_member_true(grants, "network");
    rules->links = json_member_true(grants, "links");
    rules->modes = json_member_true(grants, "modes");
    rules->limits.cpu_s = (int64_t)number(grants, "cpu_s", 0);
    rules->limits.processes = (unsigned)number(grants, "processes", CALL_PROCESSES);
}

/* ---- making them ---- */

void rules_release(struct rules *rules)
{
    arena_release(&rules->memory);
}

static void settle_processes(struct sandbox_rules *rules)
{
    rules->may_fork |= rules->executable[0] != NULL;
    if (rules->code == SANDBOX_CODE_FIXED && rules->executable[0])
        rules->code = SANDBOX_CODE_FILES;
}

static bool fill_for_call(struct rules *made, const json_t *grants, const mortise_tool_meta *meta)
{
    struct sandbox_rules *rules = &made->rules;
    bool failed = false;
    const json_t *granted_runs = json_object_get(grants, "executable");
    bool runs = json_array_size(granted_runs) || length_of(meta->inside_runs);
    bool loads = runs || meta->inside & MORTISE_INSIDE_LIBRARIES;
    take_grants(rules, grants);
    rules->readable = join(made, json_object_get(grants, "readable"), meta->inside_reads,
                           loads ? libraries : NULL, &failed);
    rules->executable =
        join(made, granted_runs, meta->inside_runs, runs ? loaders : NULL, &failed);
    rules->writable = join(made, json_object_get(grants, "writable"), NULL, NULL, &failed);
    if (failed)
        return false;
    rules->may_fork = meta->inside & MORTISE_INSIDE_PROCESSES;
    if (meta->inside & MORTISE_INSIDE_JIT)
        rules->code = SANDBOX_CODE_ANY;
    else if (loads)
        rules->code = SANDBOX_CODE_FILES;
    settle_processes(rules);
    rules->namespaces = SANDBOX_NAMESPACES_NONE; /* it is in those of its zygote */
    rules->keep_descriptors = CALL_KEPT;
    rules->limits.descriptors = CALL_DESCRIPTORS;
    rules->limits.output_bytes = number(grants, "output_bytes", CALL_OUTPUT_BYTES);
    rules->limits.disk_bytes = number(grants, "disk_bytes", CALL_DISK_BYTES);
    rules->limits.disk_files = number(grants, "files", CALL_FILES);
    rules->limits.file_bytes = rules->limits.disk_bytes;
    return true;
}

/* The plugin is not there yet, and says nothing: all is the operator's. */
static bool fill_for_plugin(struct rules *made, const json_t *grants, const char *path)
{
    struct sandbox_rules *rules = &made->rules;
    const char *const own[] = {path, NULL};
    bool failed = false;
    const json_t *granted_runs = json_object_get(grants, "executable");
    take_grants(rules, grants);
    rules->readable =
        join(made, json_object_get(grants, "readable"), own, libraries, &failed);
    rules->executable = join(made, granted_runs, NULL,
                             json_array_size(granted_runs) ? loaders : NULL, &failed);
    rules->writable = join(made, json_object_get(grants, "writable"), NULL, NULL, &failed);
    if (failed)
        return false;
    rules->code = SANDBOX_CODE_FILES;
    settle_processes(rules);
    rules->namespaces = rules->may_fork ? SANDBOX_NAMESPACES_TRIED : SANDBOX_NAMESPACES_NONE;
    rules->keep_descriptors = PLUGIN_KEPT;
    rules->limits.descriptors = PLUGIN_DESCRIPTORS;
    rules->limits.file_bytes = number(grants, "disk_bytes", 0);
    return true;
}

static bool end(struct rules *rules, json_t *grants, bool made, struct error *error)
{
    json_decref(grants);
    if (made)
        return true;
    if (grants)
        error_memory(error);
    rules_release(rules);
    return false;
}

bool rules_for_call(struct rules *rules, const char *grants, const struct tool *tool,
                    struct error *error)
{
    json_t *object = read_grants(grants, error);
    *rules = (struct rules){0};
    arena_init(&rules->memory, NULL, 0);
    return end(rules, object, object && fill_for_call(rules, object, &tool->meta), error);
}

bool rules_for_plugin(struct rules *rules, const char *grants, const char *path,
                      struct error *error)
{
    json_t *object = read_grants(grants, error);
    *rules = (struct rules){0};
    arena_init(&rules->memory, NULL, 0);
    return end(rules, object, object && fill_for_plugin(rules, object, path), error);
}
