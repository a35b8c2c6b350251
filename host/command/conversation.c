#include "command/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "command/signals.h"
#include "config/key.h"
#include "config/paths.h"
#include "provider/curl_api.h"

enum { MAX_SYSTEM_BYTES = 4 << 20, POOL_THREADS = 64, POOL_GRACE_MS = 100 };

static bool read_system(struct conversation *conversation, struct error *error)
{
    const char *system = settings_text(&conversation->app->settings, SETTING_SYSTEM);
    if (!system)
        return true;
    if (system[0] == '@')
        return file_read(system + 1, MAX_SYSTEM_BYTES, &conversation->system, error);
    text_puts(&conversation->system, system);
    return !conversation->system.failed || error_memory(error);
}

/* ---- the model ---- */

static bool needs_network(const char *model)
{
    return strcmp(model, "offline") != 0 && strncmp(model, "script/", 7) != 0;
}

static bool has_key(const struct app *app, const struct profile *profile)
{
    const char *key = profile->key_env ? getenv(profile->key_env) : NULL;
    return (key && *key) || settings_section(&app->settings, "provider-config", profile->name);
}

/* The one that was named; else that of the first provider whose key is set. */
static bool choose_model(struct conversation *conversation, struct error *error)
{
    const char *named = settings_text(&conversation->app->settings, SETTING_MODEL);
    if (named)
        text_puts(&conversation->model, named);
    for (size_t i = 0; !named && conversation->model.length == 0 && profile_at(i); i++) {
        const struct profile *profile = profile_at(i);
        if (profile->default_model && has_key(conversation->app, profile))
            text_printf(&conversation->model, "%s/%s", profile->name, profile->default_model);
    }
    if (conversation->model.failed)
        return error_memory(error);
    return conversation->model.length > 0 ||
           error_set(error, ERROR_CONFIG,
                     "no model: set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …), or name a model "
                     "with -m PROVIDER/MODEL, or try -m offline; `mortise providers` lists them");
}

static struct client *make_client(struct app *app, const char *model, struct error *error)
{
    size_t provider_length = strcspn(model, "/");
    char provider[64];
    char *key = NULL;
    if (provider_length < sizeof(provider)) {
        memcpy(provider, model, provider_length);
        provider[provider_length] = '\0';
        if (!key_from_config(&app->settings, provider, &key, error))
            return NULL;
    }
    struct client_settings settings = {
        .model = model,
        .base_url = settings_text(&app->settings, SETTING_BASE_URL),
        .key = key,
        .connect_timeout_ms = app_milliseconds(app, SETTING_CONNECT_TIMEOUT, 20000),
        .first_byte_timeout_ms = app_milliseconds(app, SETTING_FIRST_BYTE_TIMEOUT, 120000),
        .idle_timeout_ms = app_milliseconds(app, SETTING_IDLE_TIMEOUT, 120000),
        .retries = app_unsigned(app, SETTING_RETRIES, 3),
    };
    struct client *client = client_new(&settings, error);
    free(key);
    return client;
}

/* ---- the worker ---- */

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

static struct worker *make_worker(struct conversation *conversation, struct client *client,
                                  struct error *error)
{
    struct app *app = conversation->app;
    struct worker_options options = {
        .client = client,
        .registry = conversation->registry,
        .pool = conversation->pool,
        .system = conversation->system.length ? conversation->system.data : NULL,
        .config = request_config(app),
        .max_turns = app_unsigned(app, SETTING_MAX_TURNS, 100),
        .timeout_ms = app_milliseconds(app, SETTING_TIMEOUT, -1),
        .context = conversation->context,
        .offered = app_offers,
        .offered_data = app,
        .result_limit = result_limit,
        .result_limit_data = app,
        .artifacts = *conversation->artifact_folder ? &conversation->artifacts : NULL,
    };
    strategy_parse(settings_text(&app->settings, SETTING_STRATEGY), &options.strategy);
    client_check(client, &options.config, warn, NULL);
    return worker_new(&options, error);
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
    struct conversation *conversation = self;
    (void)event;
    if (conversation->app->out.failed)
        worker_cancel(conversation->worker);
}

static bool attach_frontend(struct conversation *conversation, struct worker *worker,
                            struct error *error)
{
    struct timeline *timeline = worker_timeline(worker);
    struct app *app = conversation->app;
    print_release(&conversation->print);
    jsonl_release(&conversation->jsonl);
    bool ok = app->json ? jsonl_register(&conversation->jsonl, &app->out, timeline)
                        : print_register(&conversation->print, &app->out, &app->notes, detail(app),
                                         timeline);
    return (ok && timeline_add(timeline, EVENT_ALL, stop_when_unread, conversation)) ||
           error_memory(error);
}

bool conversation_begin(struct conversation *conversation, struct error *error)
{
    if (!choose_model(conversation, error))
        return false;
    if (needs_network(conversation->model.data))
        curl_api_preload(); /* loads beside what follows */
    return read_system(conversation, error);
}

bool conversation_prepare(struct conversation *conversation, struct error *error)
{
    struct app *app = conversation->app;
    conversation->registry = app_load(app, error);
    if (conversation->registry)
        app_check_globs(app, conversation->registry);
    conversation->client =
        conversation->registry ? make_client(app, conversation->model.data, error) : NULL;
    if (!conversation->client)
        return false;
    conversation->pool = pool_new(POOL_THREADS);
    conversation->artifact_folder = path_state("artifacts");
    conversation->artifacts.folder = conversation->artifact_folder;
    if (!conversation->pool || !conversation->artifact_folder ||
        !app_context(app, &conversation->context))
        return error_memory(error);
    conversation->worker = make_worker(conversation, conversation->client, error);
    return conversation->worker && attach_frontend(conversation, conversation->worker, error);
}

/* ---- another model ---- */

/* What the old worker has, in the new one. */
static bool take_over(struct worker *to, const struct worker *from, struct error *error)
{
    const struct history *history = worker_history(from);
    return worker_set_system(to, worker_system(from), error) &&
           worker_restore(to, history->items, history->count, NULL, 0, error);
}

bool conversation_change_model(struct conversation *conversation, const char *model,
                               struct error *error)
{
    struct text name = TEXT_INIT;
    text_puts(&name, model);
    struct client *client = name.failed ? NULL : make_client(conversation->app, model, error);
    struct worker *worker = client ? make_worker(conversation, client, error) : NULL;
    if (name.failed)
        error_memory(error);
    if (!worker || !take_over(worker, conversation->worker, error) ||
        !attach_frontend(conversation, worker, error)) {
        worker_free(worker);
        client_free(client);
        text_release(&name);
        return false;
    }
    worker_free(conversation->worker);
    client_free(conversation->client);
    text_release(&conversation->model);
    conversation->worker = worker;
    conversation->client = client;
    conversation->model = name;
    return true;
}

void conversation_release(struct conversation *conversation)
{
    worker_result_release(&conversation->result);
    worker_free(conversation->worker);
    client_free(conversation->client);
    /* A tool that did not stop still uses its call and its plugin: those stay. */
    if (pool_free(conversation->pool, POOL_GRACE_MS) == 0)
        registry_unref(conversation->registry);
    app_context_release(&conversation->context);
    print_release(&conversation->print);
    jsonl_release(&conversation->jsonl);
    free(conversation->artifact_folder);
    text_release(&conversation->model);
    text_release(&conversation->system);
}

/* ---- how it ended ---- */

static int exit_code_of_run(const struct worker_result *result)
{
    switch (result->status) {
    case WORKER_FINISHED:
        return EXIT_FINISHED;
    case WORKER_PAUSED:
        return EXIT_PAUSED;
    case WORKER_LIMIT:
        return EXIT_LIMIT;
    case WORKER_ABORTED:
    case WORKER_HOOK:
        return EXIT_HOOK;
    case WORKER_CANCELLED:
        return signals_received() ? 128 + signals_received() : EXIT_INTERRUPTED;
    case WORKER_TIMEOUT:
        return EXIT_TIMEOUT;
    case WORKER_FAILED:
        break;
    }
    return (int)exit_code_of(result->error.kind);
}

static struct event result_event(const struct worker_result *result, int code)
{
    return (struct event){
        .kind = EVENT_RESULT,
        .as.result = {.status = worker_status_name(result->status),
                      .text = {text_cstr(&result->text), result->text.length},
                      .exit_code = code,
                      .turns = result->turns,
                      .usage = result->usage,
                      .duration_ms = result->duration_ms},
    };
}

/* A run that could not start ends its event stream like every other. */
static void tell_early_failure(struct conversation *conversation, const struct error *error)
{
    struct timeline timeline;
    struct worker_result nothing = {.status = WORKER_FAILED, .usage = USAGE_INIT};
    struct event result = result_event(&nothing, (int)exit_code_of(error->kind));
    jsonl_release(&conversation->jsonl);
    timeline_init(&timeline);
    if (jsonl_register(&conversation->jsonl, &conversation->app->out, &timeline)) {
        timeline_emit(&timeline, &(struct event){.kind = EVENT_ERROR, .as.error = error});
        timeline_emit(&timeline, &result);
    }
    timeline_release(&timeline);
}

int conversation_run(struct conversation *conversation, const char *prompt, size_t length)
{
    struct worker_result *result = &conversation->result;
    worker_result_release(result);
    worker_run(conversation->worker, prompt, length, result);
    int code = exit_code_of_run(result);
    struct event event = result_event(result, code);
    timeline_emit(worker_timeline(conversation->worker), &event);
    if (result->error.kind != ERROR_NONE && !conversation->app->out.failed)
        log_error("%s", result->error.message);
    int flushed = app_flush(conversation->app);
    return flushed ? flushed : code;
}

int conversation_failed(struct conversation *conversation, const struct error *error)
{
    if (conversation->app->json)
        tell_early_failure(conversation, error);
    return app_fail(conversation->app, error);
}
