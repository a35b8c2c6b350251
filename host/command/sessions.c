#include "command/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/log.h"
#include "command/command.h"
#include "command/places.h"
#include "config/paths.h"
#include "conversation/item_view.h"
#include "conversation/store_sqlite.h"
#include "conversation/store_transfer.h"

char *sessions_folder(void)
{
    char *folder = getcwd(NULL, 0);
    return folder || errno == ENOMEM ? folder : strdup("");
}

struct store *sessions_open(bool create, struct error *error)
{
    char *path = path_data("sessions.db");
    struct store *store = NULL;
    if (!path)
        error_memory(error);
    else if (!*path)
        error_set(error, ERROR_CONFIG,
                  "there is no place for sessions: set HOME or XDG_DATA_HOME, or --no-session");
    else
        store = store_sqlite_open(path, create, error);
    free(path);
    return store;
}

/* ---- list ---- */

enum { TIME_SIZE = 32 };

static void write_utc(int64_t time_ms, char out[TIME_SIZE])
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm parts;
    if (!gmtime_r(&seconds, &parts) || strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(out, TIME_SIZE, "?");
}

/* For people: by the clock on their wall. */
static void write_local(int64_t time_ms, char out[TIME_SIZE])
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm parts;
    if (!localtime_r(&seconds, &parts) || strftime(out, TIME_SIZE, "%Y-%m-%d %H:%M", &parts) == 0)
        snprintf(out, TIME_SIZE, "?");
}

static void put_session(struct text *line, const struct session *session)
{
    char created[TIME_SIZE], updated[TIME_SIZE];
    write_utc(session->created_ms, created);
    write_utc(session->updated_ms, updated);
    json_put_string(line, "id", session->id);
    json_put_string(line, "title", session->title);
    json_put_string(line, "state", session_state_name(session->state));
    json_put_string(line, "created", created);
    json_put_string(line, "updated", updated);
    json_put_string(line, "model", session->model);
    json_put_string(line, "cwd", session->cwd);
    json_put_integer(line, "items", (int64_t)session->item_count);
}

struct listing {
    struct app *app;
    size_t count;
};

static bool list_one(void *data, const struct session *session)
{
    struct listing *listing = data;
    struct app *app = listing->app;
    char updated[TIME_SIZE];
    listing->count++;
    if (app->json) {
        struct text line = TEXT_INIT;
        text_putc(&line, '{');
        put_session(&line, session);
        app_print_json(app, &line);
        return !app->out.failed;
    }
    write_local(session->updated_ms, updated);
    output_printf(&app->out, "%-28s  %s  %5zu item%s  %-11s  ", session->id, updated,
                  session->item_count, session->item_count == 1 ? " " : "s",
                  session_state_name(session->state));
    output_foreign(&app->out, session->title, strlen(session->title));
    output_own(&app->out, "\n");
    return !app->out.failed;
}

static bool list(struct app *app, struct store *store, struct error *error)
{
    struct listing listing = {.app = app};
    if (store && !store->ops->list(store, list_one, &listing, error))
        return false;
    if (listing.count == 0 && !app->json)
        output_own(&app->notes, "no sessions; `mortise chat` and `mortise --session NAME PROMPT` "
                                "keep one\n");
    return true;
}

/* ---- show ---- */

static void show_text(struct app *app, const char *who, const char *text, size_t length)
{
    output_own(&app->out, "\n");
    output_dim(&app->out);
    output_own(&app->out, who);
    output_plain(&app->out);
    output_own(&app->out, "\n");
    output_foreign(&app->out, text, length);
    output_end_line(&app->out);
}

static void show_attachment(struct app *app, const struct attachment *attachment)
{
    struct text line = TEXT_INIT;
    attachment_describe(attachment, &line);
    show_text(app, "+ part", text_cstr(&line), line.length);
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    text_release(&line);
}

static void show_item(struct app *app, const struct item *item)
{
    struct text text = TEXT_INIT;
    if (item->kind == ITEM_MESSAGE) {
        item_append_text(item, &text);
        show_text(app, item_role_name(item->role), text_cstr(&text), text.length);
    } else if (item->kind == ITEM_CALL) {
        text_printf(&text, "%s %s", item->name, item->arguments.data);
        show_text(app, "→ call", text_cstr(&text), text.length);
    } else {
        show_text(app,
                  item->kind == ITEM_REASONING ? "reasoning"
                  : item->is_error             ? "← error"
                                               : "← result",
                  item->text.data, item->text.length);
        for (size_t i = 0; i < item->attachment_count; i++)
            show_attachment(app, &item->attachments[i]);
    }
    if (text.failed)
        output_fail(&app->out, ENOMEM);
    text_release(&text);
}

static void show_session(struct app *app, const struct session *session)
{
    struct text line = TEXT_INIT;
    char updated[TIME_SIZE];
    if (app->json) {
        text_putc(&line, '{');
        put_session(&line, session);
        if (session->system)
            json_put_string(&line, "system", session->system);
        app_print_json(app, &line);
        return;
    }
    write_local(session->updated_ms, updated);
    text_printf(&line, "%s  %s\n  title    %s\n  updated  %s\n  model    %s\n  folder   %s\n",
                session->id, session_state_name(session->state), session->title, updated,
                session->model, session->cwd);
    if (session->system)
        text_printf(&line, "  system   %s\n", session->system);
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    output_foreign(&app->out, text_cstr(&line), line.length);
    text_release(&line);
}

static void show_item_json(struct app *app, const struct item *item)
{
    struct text line = TEXT_INIT;
    item_write_view(item, &line);
    if (line.failed)
        output_fail(&app->out, ENOMEM);
    else
        line.data[--line.length] = '\0'; /* app_print_json() closes it */
    app_print_json(app, &line);
}

static bool show(struct app *app, struct store *store, const char *id, struct error *error)
{
    struct session session;
    struct session_items items;
    if (!store->ops->find(store, id, &session, error))
        return false;
    bool ok = store->ops->load(store, session.id, &items, error);
    if (ok)
        show_session(app, &session);
    for (size_t i = 0; ok && i < items.count; i++)
        (app->json ? show_item_json : show_item)(app, items.items[i]);
    session_release(&session);
    if (ok)
        session_items_release(&items);
    return ok;
}

/* ---- export, import, rm ---- */

static void write_line(void *data, const char *line, size_t length)
{
    struct app *app = data;
    output_foreign(&app->out, line, length);
}

static bool export(struct app *app, struct store *store, const char *id, struct error *error)
{
    size_t skipped;
    return session_export(store, id, write_line, app, &skipped, error);
}

static bool import(struct app *app, struct store *store, const char *path, struct error *error)
{
    char *id;
    bool input = strcmp(path, "-") == 0;
    FILE *file = input ? stdin : fopen(path, "re");
    if (!file)
        return error_set(error, ERROR_CONFIG, "cannot read '%s': %s", path, strerror(errno));
    bool ok = session_import(store, file, input ? "standard input" : path, &id, error);
    if (!input)
        fclose(file);
    if (!ok)
        return false;
    output_printf(&app->out, "%s\n", id);
    free(id);
    return true;
}

/* Of a session that is not in the store tools may have kept something all the same: by
 * `mortise tools call`, or because an earlier rm got no further.  *error tells that it is not. */
static bool remove_rest(const char *id, struct error *error)
{
    struct error failure;
    bool any;
    if (error->kind != ERROR_USAGE)
        return false;
    if (places_forget_session(id, &any, &failure))
        return any;
    *error = failure;
    return false;
}

static bool remove_one(struct app *app, struct store *store, const char *id, struct error *error)
{
    struct session session;
    bool any;
    (void)app;
    if (!store || !store->ops->find(store, id, &session, error))
        return remove_rest(id, error);
    bool ok = store->ops->remove(store, session.id, error) &&
              places_forget_session(session.id, &any, error);
    session_release(&session);
    return ok;
}

/* ---- the command ---- */

static const struct {
    const char *verb;
    bool (*run)(struct app *app, struct store *store, const char *operand, struct error *error);
    bool creates;       /* the store, if it is not there */
    bool without_store; /* then it is NULL, and *error says so */
} verbs[] = {
    {"show", show, false, false},
    {"export", export, false, false},
    {"rm", remove_one, false, true},
    {"import", import, true, false},
};

static int run_verb(struct app *app, size_t verb, const char *operand)
{
    struct error error;
    struct store *store = sessions_open(verbs[verb].creates, &error);
    if (!store && error.kind == ERROR_NONE)
        error_set(&error, ERROR_USAGE, "session '%s' not found; there are none", operand);
    bool ok = (store || verbs[verb].without_store) && verbs[verb].run(app, store, operand, &error);
    store_close(store);
    int flushed = app_flush(app);
    return ok ? flushed : app_fail(app, &error);
}

static int run_list(struct app *app)
{
    struct error error;
    struct store *store = sessions_open(false, &error);
    bool ok = (store || error.kind == ERROR_NONE) && list(app, store, &error);
    store_close(store);
    int flushed = app_flush(app);
    output_flush(&app->notes);
    return ok ? flushed : app_fail(app, &error);
}

int command_sessions(struct app *app, int count, char **operands)
{
    if (count == 0 || (count == 1 && strcmp(operands[0], "list") == 0))
        return run_list(app);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (count == 2 && strcmp(operands[0], verbs[i].verb) == 0)
            return run_verb(app, i, operands[1]);
    return command_usage(app, "sessions", "unknown or missing words after 'sessions'");
}
