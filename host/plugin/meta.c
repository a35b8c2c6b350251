#include "plugin/meta.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "plugin/raw_schema.h"
#include "schema/decode.h"

#define MAX_NAME   ((size_t)64)
#define MAX_TEXTS  ((size_t)64) /* of a list */
#define NOTE                                                                                       \
    "NOTE: This is a long-running operation. Once it has returned a pending or intermediate "      \
    "status, do not call it again for the same work."

/* The first three have been there since the first host; a host that knows fewer flags than
 * the plugin was written for must not guess what the others allow. */
static const struct {
    uint32_t bit;
    const char *name;
} flags[] = {
    {MORTISE_READ_ONLY, "read_only"},
    {MORTISE_CONCURRENCY_SAFE, "concurrency_safe"},
    {MORTISE_LONG_RUNNING, "long_running"},
    {MORTISE_SERIAL, "serial"},
    {MORTISE_SANDBOX_REQUIRED, "sandbox_required"},
    {MORTISE_DESTRUCTIVE, "destructive"},
    {MORTISE_IDEMPOTENT, "idempotent"},
    {MORTISE_OPEN_WORLD, "open_world"},
};

#define FLAG_COUNT (sizeof(flags) / sizeof(flags[0]))

const char *tool_flag(size_t index, uint32_t *bit)
{
    if (index >= FLAG_COUNT)
        return NULL;
    *bit = flags[index].bit;
    return flags[index].name;
}

static bool is_of_names(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool name_valid(const char *name)
{
    size_t length = 0;
    while (name && length <= MAX_NAME && is_of_names(name[length]))
        length++;
    return length > 0 && length <= MAX_NAME && name[length] == '\0';
}

const char *plugin_copy(struct plugin *plugin, const char *string)
{
    size_t length = strlen(string);
    if (utf8_valid(string, length) == length)
        return arena_copy(&plugin->memory, string, length);

    struct text clean = TEXT_INIT;
    utf8_append_clean(&clean, string, length);
    return text_keep(&clean, &plugin->memory);
}

/* ---- names ---- */

/* What the configuration calls it: "rename" wins over "prefix". */
static bool read_name(struct plugin *plugin, struct tool *tool, const char *own,
                      struct error *error)
{
    if (!name_valid(own))
        return error_set(error, ERROR_PLUGIN,
                         "tool %zu has the name '%.80s': a name is 1 to 64 of A-Z a-z 0-9 _ -",
                         plugin->tool_count, own ? own : "");
    const char *renamed = json_member_string(json_object_get(plugin->config, "rename"), own);
    const char *prefix = json_member_string(plugin->config, "prefix");
    struct text name = TEXT_INIT;
    text_puts(&name, renamed ? renamed : prefix ? prefix : "");
    if (!renamed)
        text_puts(&name, own);

    tool->own_name = plugin_copy(plugin, own);
    tool->name = text_keep(&name, &plugin->memory);
    if (!tool->own_name || !tool->name)
        return error_memory(error);
    if (!name_valid(tool->name))
        return error_set(error, ERROR_PLUGIN,
                         "the configuration makes tool '%s' to '%.80s': a name is 1 to 64 of "
                         "A-Z a-z 0-9 _ -",
                         own, tool->name);
    return true;
}

/* ---- flags ---- */

static bool check_flags(const struct tool *tool, struct error *error)
{
    uint32_t unknown = tool->meta.flags;
    for (size_t i = 0; i < FLAG_COUNT; i++)
        unknown &= ~flags[i].bit;
    if (!unknown)
        return true;

    struct text known = TEXT_INIT;
    for (size_t i = 0; i < FLAG_COUNT; i++)
        text_printf(&known, "%s%s", i ? ", " : "", flags[i].name);
    error_set(error, ERROR_PLUGIN,
              "tool '%s' has a flag (0x%x) that this host does not know (it knows %s): the "
              "plugin is newer, update mortise",
              tool->own_name, (unsigned)unknown, text_cstr(&known));
    text_release(&known);
    return false;
}

/* ---- texts ---- */

/* T62, F36: a long-running tool without a description has the note for one. */
static bool read_description(struct plugin *plugin, struct tool *tool, const char *description,
                             struct error *error)
{
    bool is_long = tool->meta.flags & MORTISE_LONG_RUNNING;
    struct text text = TEXT_INIT;
    if (description && *description)
        utf8_append_clean(&text, description, strlen(description));
    else if (!is_long)
        text_printf(&text, "Tool: %s", tool->name);
    if (is_long)
        text_printf(&text, "%s%s", text.length ? "\n\n" : "", NOTE);
    tool->meta.description = text_keep(&text, &plugin->memory);
    return tool->meta.description || error_memory(error);
}

static bool read_raw(struct plugin *plugin, struct tool *tool, const char *json, const char *what,
                     const char **out, struct schema **schema, struct error *error)
{
    struct error problem = ERROR_INIT;
    struct text text = TEXT_INIT;
    *schema = raw_schema_read(json, &text, &problem);
    *out = text_keep(&text, &plugin->memory);
    if (*schema && *out)
        return true;
    if (*schema || problem.kind == ERROR_INTERNAL)
        return error_memory(error);
    return error_set(error, ERROR_PLUGIN, "the %s schema of tool '%s' cannot be used: %s", what,
                     tool->own_name, problem.message);
}

static bool read_shape(struct plugin *plugin, struct tool *tool, const mortise_shape *shape,
                       struct error *error)
{
    tool->shape = shape_new(shape, &plugin->memory, error);
    if (!tool->shape) {
        if (error && error->kind != ERROR_INTERNAL)
            error_prefix(error, "tool '%s'", tool->own_name);
        return false;
    }
    struct text text = TEXT_INIT;
    shape_write_schema(shape, &text);
    tool->meta.input_schema = text_keep(&text, &plugin->memory);
    return tool->meta.input_schema || error_memory(error);
}

/* One of three: from the table, the author's own, or any object (T2). */
static bool read_input(struct plugin *plugin, struct tool *tool, const mortise_tool_meta *meta,
                       struct error *error)
{
    if (meta->shape)
        return read_shape(plugin, tool, meta->shape, error);
    bool own = meta->input_schema && *meta->input_schema;
    return read_raw(plugin, tool, own ? meta->input_schema : "{\"type\":\"object\"}", "input",
                    &tool->meta.input_schema, &tool->input, error);
}

/* ---- lists ---- */

/* A copy of a list of texts, of which there may be none. */
static bool read_texts(struct plugin *plugin, const struct tool *tool, const char *const *texts,
                       const char *what, const char *const **out, struct error *error)
{
    if (!texts)
        return true;
    size_t count = 0;
    while (count <= MAX_TEXTS && texts[count])
        count++;
    if (count > MAX_TEXTS)
        return error_set(error, ERROR_PLUGIN,
                         "tool '%s' has more than %zu %s, or their list does not end with NULL",
                         tool->own_name, MAX_TEXTS, what);
    const char **copy = arena_alloc(&plugin->memory, (count + 1) * sizeof(*copy));
    if (!copy)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!(copy[i] = plugin_copy(plugin, texts[i])))
            return error_memory(error);
    *out = copy;
    return true;
}

/* An example is shown to the model, which will do the same. */
static bool check_example(const struct tool *tool, const char *json, size_t number,
                          struct error *error)
{
    struct error reason = ERROR_INIT;
    json_t *object = json_parse(json, strlen(json), NULL, &reason);
    bool fits = json_is_object(object) &&
                (tool->shape ? decode_fits(tool->shape, object, &reason)
                             : schema_check(tool->input, object, PROBLEM_EXAMPLE, &reason));
    if (object && !json_is_object(object))
        error_set(&reason, ERROR_PLUGIN, "it must be a JSON object");
    json_decref(object);
    if (!fits && reason.kind == ERROR_INTERNAL)
        return error_memory(error);
    return fits || error_set(error, ERROR_PLUGIN, "example %zu of tool '%s' does not fit: %.*s",
                             number, tool->own_name, (int)strcspn(reason.message, "\n"),
                             reason.message);
}

/* Puts them as "examples" at the end of the input schema, an object with at least a "type". */
static bool write_examples(struct plugin *plugin, struct tool *tool, struct error *error)
{
    const char *schema = tool->meta.input_schema;
    struct text text = TEXT_INIT;
    text_append(&text, schema, strlen(schema) - 1);
    for (const char *const *example = tool->meta.examples; *example; example++) {
        json_t *object = json_parse(*example, strlen(*example), NULL, NULL);
        text_puts(&text, example == tool->meta.examples ? ",\"examples\":[" : ",");
        if (object)
            text_json(&text, object);
        else /* it was read before */
            text.failed = true;
        json_decref(object);
    }
    text_puts(&text, "]}");
    tool->meta.input_schema = text_keep(&text, &plugin->memory);
    return tool->meta.input_schema || error_memory(error);
}

static bool has_own_examples(const char *schema)
{
    json_t *object = json_parse(schema, strlen(schema), NULL, NULL);
    bool has = json_object_get(object, "examples") != NULL;
    json_decref(object);
    return has;
}

static bool read_examples(struct plugin *plugin, struct tool *tool, const mortise_tool_meta *meta,
                          struct error *error)
{
    if (!MORTISE_HAS(meta, mortise_tool_meta, examples) || !meta->examples || !meta->examples[0])
        return true;
    if (!read_texts(plugin, tool, meta->examples, "examples", &tool->meta.examples, error))
        return false;
    for (size_t i = 0; tool->meta.examples[i]; i++)
        if (!check_example(tool, tool->meta.examples[i], i + 1, error))
            return false;
    if (has_own_examples(tool->meta.input_schema))
        return error_set(error, ERROR_PLUGIN,
                         "tool '%s' has \"examples\" in its schema and beside it: keep one",
                         tool->own_name);
    return write_examples(plugin, tool, error);
}

/* ---- what it needs in its sandbox (since 1.1) ---- */

/* Software, which no user writes and which tells nothing of one. */
static bool is_of_system(const char *path)
{
    static const char *const places[] = {
        "/usr",           "/bin",           "/sbin",          "/lib",
        "/lib32",         "/lib64",         "/libx32",        "/etc/ld.so.cache",
        "/etc/alternatives", "/etc/fonts",  "/etc/localtime", "/etc/mime.types",
        "/etc/ssl/certs", "/etc/timezone",
    };
    if (strstr(path, "/../") || (strlen(path) >= 3 && strcmp(path + strlen(path) - 3, "/..") == 0))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        size_t length = strlen(places[i]);
        if (strncmp(path, places[i], length) == 0 && (!path[length] || path[length] == '/'))
            return true;
    }
    return false;
}

static bool read_paths(struct plugin *plugin, const struct tool *tool, const char *const *paths,
                       const char *const **out, struct error *error)
{
    if (!read_texts(plugin, tool, paths, "paths for its sandbox", out, error))
        return false;
    for (size_t i = 0; *out && (*out)[i]; i++)
        if (!is_of_system((*out)[i]))
            return error_set(error, ERROR_PLUGIN,
                             "tool '%s' wants '%.200s' in its sandbox, which is no software of the "
                             "system: that is for the operator to grant",
                             tool->own_name, (*out)[i]);
    return true;
}

static bool read_inside(struct plugin *plugin, struct tool *tool, const mortise_tool_meta *meta,
                        struct error *error)
{
    static const uint32_t known =
        MORTISE_INSIDE_PROCESSES | MORTISE_INSIDE_LIBRARIES | MORTISE_INSIDE_JIT;
    if (!MORTISE_HAS(meta, mortise_tool_meta, inside))
        return true;
    if (meta->inside & ~known)
        return error_set(error, ERROR_PLUGIN,
                         "tool '%s' does something in its sandbox (0x%x) that this host does not "
                         "know: the plugin is newer, update mortise",
                         tool->own_name, (unsigned)(meta->inside & ~known));
    tool->meta.inside = meta->inside;
    return read_paths(plugin, tool, meta->inside_reads, &tool->meta.inside_reads, error) &&
           read_paths(plugin, tool, meta->inside_runs, &tool->meta.inside_runs, error);
}

/* ---- the whole ---- */

static bool is_whole(const mortise_tool *instance)
{
    return instance && MORTISE_HAS(instance, mortise_tool, run) && instance->run &&
           instance->meta && MORTISE_HAS(instance->meta, mortise_tool_meta, title);
}

static bool read(struct plugin *plugin, const mortise_tool_meta *meta, struct tool *tool,
                 struct error *error)
{
    if (!read_name(plugin, tool, meta->name, error) || !check_flags(tool, error) ||
        !read_description(plugin, tool, meta->description, error) ||
        !read_input(plugin, tool, meta, error) || !read_examples(plugin, tool, meta, error) ||
        !read_texts(plugin, tool, meta->scopes, "scopes", &tool->meta.scopes, error) ||
        !read_inside(plugin, tool, meta, error))
        return false;
    tool->meta.name = tool->name;
    if (meta->output_schema && !read_raw(plugin, tool, meta->output_schema, "output",
                                         &tool->meta.output_schema, &tool->output, error))
        return false;
    if (meta->title && !(tool->meta.title = plugin_copy(plugin, meta->title)))
        return error_memory(error);
    return true;
}

bool meta_read(struct plugin *plugin, const mortise_tool *instance, struct tool *tool,
               struct error *error)
{
    if (!is_whole(instance))
        return error_set(error, ERROR_PLUGIN,
                         "tool %zu is not complete: it needs a mortise_tool and a meta with their "
                         "sizes set, and a run()",
                         plugin->tool_count);
    *tool = (struct tool){.instance = instance, .plugin = plugin};
    tool->meta.size = sizeof(tool->meta);
    tool->meta.flags = instance->meta->flags;
    if (read(plugin, instance->meta, tool, error))
        return true;
    meta_release(tool);
    return false;
}

void meta_release(struct tool *tool)
{
    schema_free(tool->input);
    schema_free(tool->output);
    shape_release(tool->shape);
    tool->input = tool->output = NULL;
    tool->shape = NULL;
}

/* ---- comparing ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_list(const char *const *a, const char *const *b)
{
    if (!a || !b)
        return a == b;
    while (*a && *b && strcmp(*a, *b) == 0)
        a++, b++;
    return !*a && !*b;
}

bool meta_equal(const mortise_tool_meta *a, const mortise_tool_meta *b)
{
    return a->flags == b->flags && a->shape == b->shape && same_text(a->name, b->name) &&
           same_text(a->description, b->description) &&
           same_text(a->input_schema, b->input_schema) &&
           same_text(a->output_schema, b->output_schema) && same_list(a->scopes, b->scopes) &&
           same_text(a->title, b->title) && same_list(a->examples, b->examples) &&
           same_list(a->inside_reads, b->inside_reads) &&
           same_list(a->inside_runs, b->inside_runs) && a->inside == b->inside;
}
