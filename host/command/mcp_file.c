#include "command/mcp_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/replace.h"
#include "config/paths.h"

enum { MAX_BYTES = 4 << 20 }; /* as the bridge reads */

/* ---- reading ---- */

static json_t *parse(const struct text *bytes, struct error *error)
{
    json_error_t problem;
    bool no_memory = false;
    json_t *root =
        json_read(text_cstr(bytes), bytes->length, JSON_REJECT_DUPLICATES, &problem, &no_memory);
    if (no_memory)
        error_memory(error);
    else if (!root)
        error_set(error, ERROR_CONFIG, "it is no JSON: %s at line %d, column %d", problem.text,
                  problem.line, problem.column);
    return root;
}

static json_t *servers_of(json_t *root, struct error *error)
{
    json_t *servers = json_object_get(root, "mcpServers");
    if (!servers)
        servers = json_object_get(root, "servers");
    if (json_is_object(servers))
        return servers;
    error_set(error, ERROR_CONFIG, "it must be an object with \"mcpServers\", an object");
    return NULL;
}

static json_t *read_root(const char *path, struct error *error)
{
    struct text bytes = TEXT_INIT;
    bool is_read = file_read(path, MAX_BYTES, &bytes, error);
    json_t *root = is_read ? parse(&bytes, error) : NULL;
    text_wipe(&bytes);
    if (!root && is_read && error->kind != ERROR_INTERNAL)
        error_prefix(error, "'%s' cannot be used", path);
    return root;
}

json_t *mcp_file_read(const char *path, json_t **servers, struct error *error)
{
    json_t *root = read_root(path, error);
    *servers = root ? servers_of(root, error) : NULL;
    if (root && !*servers) {
        error_prefix(error, "'%s' cannot be used", path);
        json_decref(root);
        return NULL;
    }
    return root;
}

/* ---- the user's own ---- */

static bool find(struct mcp_file *file, struct error *error)
{
    file->path = path_config("mcp.json");
    if (file->path && !*file->path)
        return error_set(error, ERROR_CONFIG,
                         "there is no place for the list of MCP servers; set HOME or "
                         "XDG_CONFIG_HOME");
    file->real = file->path ? realpath(file->path, NULL) : NULL;
    if (!file->real && file->path && errno == ENOENT)
        file->real = strdup(file->path);
    if (file->real)
        return true;
    if (!file->path || errno == ENOMEM)
        return error_memory(error);
    return error_set(error, ERROR_CONFIG, "cannot read '%s': %s", file->path, strerror(errno));
}

static bool begin_empty(struct mcp_file *file, struct error *error)
{
    file->root = json_object();
    if (json_object_set_new(file->root, "mcpServers", json_object()) != 0)
        return error_memory(error);
    file->servers = json_object_get(file->root, "mcpServers");
    return true;
}

/* Whoever writes it says what is started. */
static bool is_safe(const struct mcp_file *file, const struct stat *status, struct error *error)
{
    return !(status->st_mode & S_IWOTH) ||
           error_set(error, ERROR_CONFIG,
                     "'%s' cannot be used: everybody may write it, and it says what is started; "
                     "chmod o-w ends that",
                     file->path);
}

static bool read_own(struct mcp_file *file, struct error *error)
{
    struct stat status;
    if (stat(file->real, &status) != 0)
        return errno == ENOENT ? begin_empty(file, error)
                               : error_set(error, ERROR_CONFIG, "cannot read '%s': %s", file->path,
                                           strerror(errno));
    if (!is_safe(file, &status, error))
        return false;
    file->root = mcp_file_read(file->real, &file->servers, error);
    return file->root;
}

bool mcp_file_open(struct mcp_file *file, bool to_change, struct error *error)
{
    *file = (struct mcp_file){.lock = -1};
    if (!find(file, error))
        return false;
    if (to_change && (file->lock = replace_lock(file->real, error)) < 0)
        return false;
    return read_own(file, error);
}

bool mcp_file_save(const struct mcp_file *file, struct error *error)
{
    char *text = json_dumps(file->root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    struct text bytes = TEXT_INIT;
    if (text) {
        text_puts(&bytes, text);
        text_putc(&bytes, '\n');
        explicit_bzero(text, strlen(text));
        free(text);
    }
    bool ok = (text && !bytes.failed) || error_memory(error);
    if (ok && !replace_file(file->real, bytes.data, bytes.length, error)) {
        ok = false;
        if (error->kind != ERROR_INTERNAL)
            error_prefix(error, "the list of MCP servers '%s'", file->path);
    }
    text_wipe(&bytes);
    return ok;
}

void mcp_file_close(struct mcp_file *file)
{
    json_decref(file->root);
    if (file->lock >= 0)
        close(file->lock);
    free(file->path);
    free(file->real);
}

void mcp_file_warn_unused(const struct mcp_file *file)
{
    const char *others = getenv("MORTISE_MCP_CONFIG");
    if (others)
        log_warning("'%s' is not in use: MORTISE_MCP_CONFIG names '%s' in its place", file->path,
                    others);
}
