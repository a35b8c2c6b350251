#include "command/conversation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "command/model.h"
#include "command/sessions.h"
#include "command/signals.h"
#include "frontend/terminal.h"
#include "record/recorder.h"

enum { MAX_SYSTEM_BYTES = 4 << 20, POOL_THREADS = 64, POOL_GRACE_MS = 100 };

/* ---- the session ---- */

static bool was_said(const struct conversation *c, enum setting_id id)
{
    enum setting_source source = c->app->settings.values[id].source;
    return source == SOURCE_OPTION || source == SOURCE_ENVIRONMENT;
}

/* The one that `session` describes is ours from here on. */
static bool take_session(struct conversation *c, struct session *session, struct error *error)
{
    if (!c->store->ops->acquire(c->store, session->id, error)) {
        session_release(session);
        return false;
    }
    store_journal_init(&c->journal, c->store, session, true);
    c->continued = true;
    return true;
}

static bool new_session(struct conversation *c, const char *id, struct error *error)
{
    char made[ID_SIZE];
    struct session session = {0};
    if (!id)
        id_make(made, "ses");
    session.id = strdup(id ? id : made);
    session.cwd = sessions_folder();
    if (!session.id || !session.cwd) {
        session_release(&session);
        return error_memory(error);
    }
    store_journal_init(&c->journal, c->store, &session, false);
    return true;
}

/* An id that the host made is one that was there; any other may become one. */
static bool named_session(struct conversation *c, const char *id, struct error *error)
{
    struct session session;
    bool made = strncmp(id, "ses_", 4) == 0;
    if (c->store->ops->find(c->store, id, &session, error)) {
        if (made || c->keeps == KEEPS_RESUME || strcmp(session.id, id) == 0)
            return take_session(c, &session, error);
        session_release(&session);
    } else if (made || c->keeps == KEEPS_RESUME || error->kind != ERROR_USAGE) {
        return false;
    }
    if (!session_id_is_good(id))
        return error_set(error, ERROR_USAGE,
                         "option '--session': '%s' is no name for a session; letters, digits and "
                         "'.', '_', '-' are, up to 64",
                         id);
    return new_session(c, id, error);
}

static bool latest_session(struct conversation *c, struct error *error)
{
    struct session session;
    bool found = false, resume = c->keeps == KEEPS_RESUME;
    char *folder = sessions_folder();
    bool ok = folder ? c->store->ops->latest(c->store, folder, resume, &session, &found, error)
                     : error_memory(error);
    free(folder);
    if (!ok)
        return false;
    if (found)
        return take_session(c, &session, error);
    return error_set(error, ERROR_USAGE,
                     resume ? "no run of this folder waits to be resumed; `mortise sessions` lists "
                              "all sessions"
                            : "there is no session of this folder to continue; `mortise sessions` "
                              "lists all sessions");
}

static bool choose_session(struct conversation *c, struct error *error)
{
    const struct settings *settings = &c->app->settings;
    const char *named = c->session ? c->session : settings_text(settings, SETTING_SESSION);
    bool latest = settings_flag(settings, SETTING_CONTINUE);
    bool resume = c->keeps == KEEPS_RESUME;
    if (settings_flag(settings, SETTING_NO_SESSION) && !resume)
        return true;
    if (latest && was_said(c, SETTING_SESSION))
        return error_set(error, ERROR_USAGE, "options '--session' and '--continue' exclude each other");
    if (!named && !latest && c->keeps == KEEPS_IF_ASKED)
        return true;
    c->store = sessions_open(!resume, error);
    if (!c->store && error->kind == ERROR_NONE)
        error_set(error, ERROR_USAGE, "there is no session to resume yet");
    if (!c->store)
        return false;
    if (named && !latest)
        return named_session(c, named, error);
    return latest || resume ? latest_session(c, error) : new_session(c, NULL, error);
}

const char *conversation_session(const struct conversation *c)
{
    return c->store ? c->journal.session.id : NULL;
}

bool conversation_begin(struct conversation *c, struct error *error)
{
    c->wake_fd = -1;
    signals_take_hangup();
    if (!choose_session(c, error))
        return false;
    const char *kept = c->continued && !was_said(c, SETTING_MODEL) ? c->journal.session.model : NULL;
    if (kept && *kept)
        text_puts(&c->model, kept);
    else if (!model_choose(c->app, &c->model, error))
        return false;
    if (c->model.failed)
        return error_memory(error);
    model_preload(c->model.data);
    return true;
}

/* ---- the worker ---- */

static bool read_system(struct conversation *c, struct error *error)
{
    const char *system = settings_text(&c->app->settings, SETTING_SYSTEM);
    if (c->replay) /* each run brings its own */
        return true;
    if (c->continued && !was_said(c, SETTING_SYSTEM)) {
        text_puts(&c->system, c->journal.session.system ? c->journal.session.system : "");
        return !c->system.failed || error_memory(error);
    }
    if (!system)
        return true;
    if (system[0] == '@')
        return file_read(system + 1, MAX_SYSTEM_BYTES, &c->system, error);
    text_puts(&c->system, system);
    return !c->system.failed || error_memory(error);
}

/* Copies; *kept is what is remembered. */
static bool remember(char **kept, const struct text *text)
{
    char *copy = text->length ? strdup(text->data) : NULL;
    if (text->length && !copy)
        return false;
    free(*kept);
    *kept = copy;
    return true;
}

static bool differs(const char *kept, const struct text *now)
{
    return strcmp(kept ? kept : "", text_cstr(now)) != 0;
}

/* The session remembers what this run is made with. */
static bool describe_session(struct conversation *c, struct error *error)
{
    struct session *session = &c->journal.session;
    if (!c->store)
        return true;
    bool changed = differs(session->model, &c->model) || differs(session->system, &c->system);
    if (!remember(&session->model, &c->model) || !remember(&session->system, &c->system))
        return error_memory(error);
    return !c->journal.exists || !changed ||
           c->store->ops->update(c->store, session->id, NULL, session->model, text_cstr(&c->system),
                                 error);
}

static size_t result_limit(void *data, const char *tool)
{
    const struct app *app = data;
    const json_t *section = settings_section(&app->settings, "tool-config", tool);
    const json_t *limit = json_object_get(section, "result_limit");
    if (json_is_integer(limit) && json_integer_value(limit) >= 0)
        return (size_t)json_integer_value(limit);
    return (size_t)settings_whole(&app->settings, SETTING_RESULT_LIMIT, 65536);
}

static struct request_config request_config(const struct app *app)
{
    size_t stops;
    const struct settings *settings = &app->settings;
    return (struct request_config){
        .max_tokens = settings_whole(settings, SETTING_MAX_TOKENS, -1),
        .temperature = settings_number(settings, SETTING_TEMPERATURE, NAN),
        .top_p = settings_number(settings, SETTING_TOP_P, NAN),
        .top_k = settings_whole(settings, SETTING_TOP_K, -1),
        .stop = (const char *const *)settings_list(settings, SETTING_STOP, &stops),
        .reasoning = settings_text(settings, SETTING_REASONING),
    };
}

static void warn(void *data, const char *line)
{
    (void)data;
    log_warning("%s", line);
}

/* A worker that takes another one's place has what that one has: it may be locked. */
static struct registry *first_registry(struct conversation *c)
{
    if (c->worker)
        return registry_ref(worker_registry(c->worker));
    return c->plugins ? plugin_set_registry(c->plugins) : replay_registry(c->replay);
}

/* What is told of hooks and tools, or knows what they did. */
static void set_tapes(const struct conversation *c, struct worker_options *options)
{
    if (c->app->recorder) {
        options->hook_tape = recorder_hook_tape(c->app->recorder);
        options->call_tape = recorder_call_tape(c->app->recorder);
    } else if (c->replay) {
        options->hook_tape = replay_hook_tape(c->replay);
        options->call_tape = replay_call_tape(c->replay);
        options->artifacts = NULL; /* where results were kept is recorded */
    }
}

static struct worker *make_worker(struct conversation *c, struct client *client,
                                  struct cancel *cancel, struct error *error)
{
    struct app *app = c->app;
    struct registry *registry = first_registry(c);
    if (!registry) {
        error_memory(error);
        return NULL;
    }
    struct worker_options options = {
        .client = client,
        .registry = registry,
        .latest = conversation_latest,
        .latest_data = c,
        .pool = c->pool,
        .cancel = cancel,
        .system = c->system.length ? c->system.data : NULL,
        .config = request_config(app),
        .max_turns = app_unsigned(app, SETTING_MAX_TURNS, 100),
        .max_run_tokens = settings_whole(&app->settings, SETTING_MAX_RUN_TOKENS, 0),
        .timeout_ms = app_milliseconds(app, SETTING_TIMEOUT, -1),
        .context = c->caller.context,
        .offered = app_offers,
        .offered_data = app,
        .result_limit = result_limit,
        .result_limit_data = app,
        .artifacts = app->services ? services_artifacts(app->services) : NULL,
        .journal = c->store ? &c->journal.journal : NULL,
    };
    strategy_parse(settings_text(&app->settings, SETTING_STRATEGY), &options.strategy);
    set_tapes(c, &options);
    client_check(client, &options.config, warn, NULL);
    struct worker *worker = worker_new(&options, error);
    registry_unref(registry);
    return worker;
}

static bool restore(struct conversation *c, struct error *error)
{
    struct session_items items;
    if (!c->continued)
        return true;
    if (!c->store->ops->load(c->store, c->journal.session.id, &items, error))
        return false;
    bool ok = worker_restore(c->worker, items.items, items.count,
                             (const char *const *)items.started, items.started_count, error);
    session_items_release(&items);
    return ok;
}

static enum print_detail detail(const struct app *app)
{
    int64_t verbose = settings_whole(&app->settings, SETTING_VERBOSE, 0);
    if (settings_flag(&app->settings, SETTING_QUIET))
        return PRINT_QUIET;
    return verbose >= 2 ? PRINT_ALL : verbose == 1 ? PRINT_MORE : PRINT_NORMAL;
}

/* Nobody reads any more: there is no sense in going on. */
static void stop_when_unread(void *self, const struct event *event)
{
    struct conversation *c = self;
    (void)event;
    if (c->app->out.failed)
        worker_cancel(c->worker);
}

/* A program that the tool ran may have left the terminal in another mode. */
static void mend_terminal(void *self, const struct event *event)
{
    (void)self;
    (void)event;
    terminal_restore();
}

static void guard_terminal(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (terminal_guard(fd))
            return;
}

/* The recorder comes last: from then on it has this worker, which must be the one that runs. */
static bool attach_listeners(struct conversation *c, struct worker *worker, struct client *client,
                             struct error *error)
{
    struct timeline *timeline = worker_timeline(worker);
    struct app *app = c->app;
    print_release(&c->print);
    jsonl_release(&c->jsonl);
    bool ok = app->json ? jsonl_register(&c->jsonl, &app->out, timeline)
                        : print_register(&c->print, &app->out, &app->notes, detail(app), timeline);
    ok = ok && timeline_add(timeline, EVENT_ALL, stop_when_unread, c) &&
         timeline_add(timeline, EVENT_BIT(EVENT_TOOL_RESULT), mend_terminal, NULL) &&
         (!app->recorder || recorder_attach(app->recorder, worker, client));
    return ok || error_memory(error);
}

static bool start_recording(struct conversation *c, const struct client *client,
                            struct error *error)
{
    struct app *app = c->app;
    const char *path = settings_text(&app->settings, SETTING_RECORD);
    if (!path)
        return true;
    if (!recorder_can_take(client, error))
        return false;
    if (!app->recorder)
        app->recorder = recorder_open(path, &app->settings, error);
    return app->recorder;
}

bool conversation_prepare(struct conversation *c, struct error *error)
{
    struct app *app = c->app;
    if (!read_system(c, error) || !describe_session(c, error))
        return false;
    if (conversation_load_plugins(c, error))
        c->client = c->replay ? replay_client(c->replay, error)
                              : model_client(app, c->model.data, error);
    if (!c->client || !start_recording(c, c->client, error))
        return false;
    c->cancel = cancel_new();
    c->pool = pool_new(POOL_THREADS);
    if (!c->cancel || !c->pool)
        return error_memory(error);
    if (!app_context_init(&c->caller, app, error))
        return false;
    c->caller.context.session = conversation_session(c);
    signals_watch(c->cancel);
    guard_terminal();
    c->worker = make_worker(c, c->client, c->cancel, error);
    if (!c->worker || !restore(c, error) || !attach_listeners(c, c->worker, c->client, error))
        return false;
    if (settings_flag(&app->settings, SETTING_LOCK))
        worker_lock(c->worker);
    return true;
}

/* ---- changes between runs ---- */

/* What the old worker has, in the new one. */
static bool take_over(struct worker *to, const struct worker *from, struct error *error)
{
    const struct history *history = worker_history(from);
    return worker_set_system(to, worker_system(from), error) &&
           worker_restore(to, history->items, history->count, NULL, 0, error);
}

/* The token is a new one: a cancel of the last run is not meant for the next (D21). */
static bool replace_worker(struct conversation *c, struct client *client, struct error *error)
{
    struct cancel *cancel = cancel_new();
    struct worker *worker = cancel ? make_worker(c, client, cancel, error) : NULL;
    if (!cancel)
        error_memory(error);
    if (!worker || !take_over(worker, c->worker, error) ||
        !attach_listeners(c, worker, client, error)) {
        worker_free(worker);
        cancel_unref(cancel);
        return false;
    }
    if (worker_state(c->worker) == WORKER_CACHE_LOCKED)
        worker_lock(worker);
    worker_free(c->worker);
    signals_forget(c->cancel);
    cancel_unref(c->cancel);
    c->worker = worker;
    c->cancel = cancel;
    return true;
}

bool conversation_change_model(struct conversation *c, const char *model, struct error *error)
{
    struct client *client = model_client(c->app, model, error);
    return client && conversation_change_client(c, client, model, error);
}

bool conversation_change_client(struct conversation *c, struct client *client, const char *model,
                                struct error *error)
{
    struct text name = TEXT_INIT;
    text_puts(&name, model);
    if (name.failed)
        error_memory(error);
    if (name.failed || !start_recording(c, client, error) || !replace_worker(c, client, error)) {
        client_free(client);
        text_release(&name);
        return false;
    }
    client_free(c->client);
    text_release(&c->model);
    c->client = client;
    c->model = name;
    return describe_session(c, error);
}

bool conversation_change_system(struct conversation *c, const char *system, struct error *error)
{
    if (!worker_set_system(c->worker, system, error))
        return false;
    text_reset(&c->system);
    text_puts(&c->system, system ? system : "");
    return c->system.failed ? error_memory(error) : describe_session(c, error);
}

void conversation_release(struct conversation *c)
{
    worker_result_release(&c->result);
    worker_free(c->worker);
    client_free(c->client);
    /* A tool that did not stop still uses its plugin, of which its call has a reference. */
    pool_free(c->pool, POOL_GRACE_MS);
    conversation_release_plugins(c);
    signals_forget(c->cancel);
    cancel_unref(c->cancel);
    if (c->store)
        store_journal_release(&c->journal);
    store_close(c->store);
    app_context_release(&c->caller);
    print_release(&c->print);
    jsonl_release(&c->jsonl);
    text_release(&c->model);
    text_release(&c->system);
}
