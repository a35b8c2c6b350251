#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "conversation/history.h"
#include "conversation/item_line.h"
#include "conversation/store_transfer.h"

struct import {
    struct session session;
    struct history history;
    struct item_lines lines;
    const char **started;  /* borrowed from history */
    size_t started_count;
};

static bool refuse(struct error *error, const char *what)
{
    return error_set(error, ERROR_BAD_REQUEST, "%s", what);
}

static bool check_members(json_t *object, const char *const *known, struct error *error)
{
    const char *unknown = json_unknown_member(object, known);
    return !unknown ||
           error_set(error, ERROR_BAD_REQUEST, "member '%s' is not known", unknown);
}

/* ---- the header ---- */

/* Absent becomes "" where `need`, else NULL. */
static bool copy_member(const json_t *object, const char *key, bool need, char **out,
                        struct error *error)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_string(value))
        return error_set(error, ERROR_BAD_REQUEST, "'%s' must be a string", key);
    if (!value && !need)
        return true;
    *out = strdup(value ? json_string_value(value) : "");
    return *out || error_memory(error);
}

/* What ran when it was exported does not run here. */
static bool read_state(const json_t *header, struct session *session, struct error *error)
{
    const char *name = json_member_string(header, "state");
    for (int state = SESSION_IDLE; name && state <= SESSION_INTERRUPTED; state++)
        if (strcmp(session_state_name((enum session_state)state), name) == 0) {
            session->state =
                state == SESSION_RUNNING ? SESSION_INTERRUPTED : (enum session_state)state;
            return true;
        }
    return refuse(error, "'state' must be idle, running, paused, limited or interrupted");
}

static bool read_header(struct import *import, json_t *header, struct error *error)
{
    static const char *const known[] = {"mortise_session", "id",    "created_ms", "updated_ms",
                                        "title",           "model", "cwd",        "system",
                                        "state",           NULL};
    struct session *session = &import->session;
    json_int_t version = json_member_integer(header, "mortise_session", 0);
    if (version != 1)
        return refuse(error, version > 1 ? "it was exported by a newer mortise"
                                         : "it is no exported session");
    if (!check_members(header, known, error) ||
        !copy_member(header, "id", true, &session->id, error) ||
        !copy_member(header, "title", true, &session->title, error) ||
        !copy_member(header, "model", true, &session->model, error) ||
        !copy_member(header, "cwd", true, &session->cwd, error) ||
        !copy_member(header, "system", false, &session->system, error) ||
        !read_state(header, session, error))
        return false;
    session->created_ms = json_member_integer(header, "created_ms", 0);
    session->updated_ms = json_member_integer(header, "updated_ms", 0);
    return session_id_is_good(session->id) || refuse(error, "'id' is no name of a session");
}

/* ---- items ---- */

static bool note_start(struct import *import, const struct item *item, struct error *error)
{
    const char **grown =
        realloc(import->started, (import->started_count + 1) * sizeof(*import->started));
    if (!grown)
        return error_memory(error);
    import->started = grown;
    import->started[import->started_count++] = item->call_id;
    return true;
}

static bool read_line(struct import *import, json_t *line, struct error *error)
{
    bool is_started;
    struct item *item = item_line_read(&import->lines, line, &is_started, error);
    if (!item || !history_append(&import->history, item, error))
        return false;
    if (import->history.unpaired)
        return error_set(error, ERROR_BAD_REQUEST,
                         item->kind == ITEM_CALL ? "call '%s' is there twice"
                                                 : "result '%s' has no call before it",
                         item->call_id);
    return !is_started || note_start(import, item, error);
}

/* ---- the file ---- */

static bool take_line(struct import *import, size_t number, const char *data, size_t length,
                      struct error *error)
{
    json_t *line = json_parse(data, length, NULL, error);
    bool ok = line != NULL;
    if (ok && !json_is_object(line))
        ok = refuse(error, "it is no JSON object");
    ok = ok && (number == 1 ? read_header : read_line)(import, line, error);
    json_decref(line);
    return ok;
}

/* A line ends at LF and nowhere else. */
static bool read_lines(struct import *import, FILE *file, const char *name, struct error *error)
{
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    bool ok = true;
    errno = 0;
    while (ok && (length = getdelim(&line, &capacity, '\n', file)) >= 0) {
        ok = take_line(import, ++number, line, (size_t)length, error);
        errno = 0;
    }
    bool unread = ok && (ferror(file) || (!feof(file) && errno == ENOMEM));
    int reason = errno;
    free(line);
    if (unread)
        return error_set(error, ERROR_CONFIG, "cannot read '%s': %s", name, strerror(reason));
    if (ok && number == 0) {
        number = 1;
        ok = refuse(error, "it is empty");
    }
    if (!ok && error->kind == ERROR_BAD_REQUEST) {
        error->kind = ERROR_USAGE;
        error_prefix(error, "%s: line %zu", name, number);
    }
    return ok;
}

bool session_import(struct store *store, FILE *file, const char *name, char **id,
                    struct error *error)
{
    struct import import = {0};
    history_init(&import.history);
    bool ok = read_lines(&import, file, name, error) &&
              store->ops->create(store, &import.session, import.history.items,
                                 import.history.count, import.started, import.started_count,
                                 error);
    if (ok) {
        *id = import.session.id;
        import.session.id = NULL;
    }
    item_lines_release(&import.lines);
    history_release(&import.history);
    session_release(&import.session);
    free(import.started);
    return ok;
}
