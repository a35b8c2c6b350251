#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/secret.h"
#include "command/command.h"
#include "command/signals.h"
#include "config/key.h"
#include "config/paths.h"
#include "frontend/jsonl.h"
#include "frontend/print.h"
#include "provider/curl_api.h"
#include "service/artifacts.h"
#include "worker/worker.h"

enum { MAX_SYSTEM_BYTES = 4 << 20, POOL_THREADS = 64, POOL_GRACE_MS = 100 };

/* Everything of one run, released in one place. */
struct run {
    struct app *app;
    struct text model; /* "PROVIDER/MODEL" */
    struct text prompt;
    struct text system;
    struct registry *registry;
    struct client *client;
    struct pool *pool;
    struct cancel *cancel;
    struct call_context context;
    char *artifact_folder;
    struct artifacts artifacts;
    struct worker *worker;
    struct print print;
    struct jsonl jsonl;
    struct worker_result result;
};

/* ---- the prompt ---- */

static bool input_is_given(void)
{
    struct stat status;
    return !isatty(STDIN_FILENO) && fstat(STDIN_FILENO, &status) == 0;
}

static void trim_end(struct text *text)
{
    while (text->length > 0 && strchr("\r\n", text->data[text->length - 1]))
        text->data[--text->length] = '\0';
}

/* Operands joined by spaces; "-" or an input that is no terminal brings more (cli: a prompt
 * on standard input is appended after an empty line). */
static bool gather_prompt(struct run *run, int count, char **operands, struct error *error)
{
    struct text *prompt = &run->prompt;
    bool from_input = input_is_given();
    for (int i = 0; i < count; i++) {
        if (strcmp(operands[i], "-") == 0) {
            from_input = true;
            continue;
        }
        if (prompt->length > 0)
            text_putc(prompt, ' ');
        text_puts(prompt, operands[i]);
    }
    struct text input = TEXT_INIT;
    bool ok = !from_input || app_read_input(&input, error);
    trim_end(&input);
    if (ok && input.length > 0) {
        if (prompt->length > 0)
            text_puts(prompt, "\n\n");
        text_append(prompt, input.data, input.length);
    }
    text_release(&input);
    if (ok && prompt->failed)
        return error_memory(error);
    if (ok && prompt->length == 0)
        return error_set(error, ERROR_USAGE,
                         "no prompt; try: mortise -m offline \"What is the weather in Tokyo?\" "
                         "(`mortise --help` tells more)");
    return ok;
}

static bool read_system(struct run *run, struct error *error)
{
    const char *system = settings_text(&run->app->settings, SETTING_SYSTEM);
    if (!system)
        return true;
    if (system[0] == '@')
        return file_read(system + 1, MAX_SYSTEM_BYTES, &run->system, error);
    text_puts(&run->system, system);
    return !run->system.failed || error_memory(error);
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
static bool choose_model(struct run *run, struct error *error)
{
    const char *named = settings_text(&run->app->settings, SETTING_MODEL);
    if (named)
        text_puts(&run->model, named);
    for (size_t i = 0; !named && run->model.length == 0 && profile_at(i); i++) {
        const struct profile *profile = profile_at(i);
        if (profile->default_model && has_key(run->app, profile))
            text_printf(&run->model, "%s/%s", profile->name, profile->default_model);
    }
    if (run->model.failed)
        return error_memory(error);
    return run->model.length > 0 ||
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

static bool make_worker(struct run *run, struct error *error)
{
    struct app *app = run->app;
    struct worker_options options = {
        .client = run->client,
        .registry = run->registry,
        .pool = run->pool,
        .cancel = run->cancel,
        .system = run->system.length ? run->system.data : NULL,
        .config = request_config(app),
        .max_turns = app_unsigned(app, SETTING_MAX_TURNS, 100),
        .timeout_ms = app_milliseconds(app, SETTING_TIMEOUT, -1),
        .context = run->context,
        .offered = app_offers,
        .offered_data = app,
        .result_limit = result_limit,
        .result_limit_data = app,
        .artifacts = *run->artifact_folder ? &run->artifacts : NULL,
    };
    strategy_parse(settings_text(&app->settings, SETTING_STRATEGY), &options.strategy);
    client_check(run->client, &options.config, warn, NULL);
    run->worker = worker_new(&options, error);
    return run->worker != NULL;
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
    struct run *run = self;
    (void)event;
    if (run->app->out.failed)
        cancel_trigger(run->cancel);
}

static bool attach_frontend(struct run *run, struct error *error)
{
    struct timeline *timeline = worker_timeline(run->worker);
    struct app *app = run->app;
    bool ok = app->json ? jsonl_register(&run->jsonl, &app->out, timeline)
                        : print_register(&run->print, &app->out, &app->notes, detail(app), timeline);
    return (ok && timeline_add(timeline, EVENT_ALL, stop_when_unread, run)) || error_memory(error);
}

static bool prepare(struct run *run, int count, char **operands, struct error *error)
{
    struct app *app = run->app;
    if (!choose_model(run, error))
        return false;
    if (needs_network(run->model.data))
        curl_api_preload(); /* loads beside what follows */
    if (!gather_prompt(run, count, operands, error) || !read_system(run, error))
        return false;
    run->registry = app_load(app, error);
    if (run->registry)
        app_check_globs(app, run->registry);
    run->client = run->registry ? make_client(app, run->model.data, error) : NULL;
    if (!run->client)
        return false;
    run->cancel = cancel_new();
    run->pool = pool_new(POOL_THREADS);
    run->artifact_folder = path_state("artifacts");
    run->artifacts.folder = run->artifact_folder;
    if (!run->cancel || !run->pool || !run->artifact_folder || !app_context(app, &run->context))
        return error_memory(error);
    signals_watch(run->cancel);
    return make_worker(run, error) && attach_frontend(run, error);
}

static void release(struct run *run)
{
    worker_result_release(&run->result);
    worker_free(run->worker);
    client_free(run->client);
    /* A tool that did not stop still uses its call and its plugin: those stay. */
    if (pool_free(run->pool, POOL_GRACE_MS) == 0)
        registry_unref(run->registry);
    cancel_unref(run->cancel);
    app_context_release(&run->context);
    print_release(&run->print);
    jsonl_release(&run->jsonl);
    free(run->artifact_folder);
    text_release(&run->model);
    text_release(&run->prompt);
    text_release(&run->system);
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
static void tell_early_failure(struct run *run, const struct error *error)
{
    struct timeline timeline;
    struct worker_result nothing = {.status = WORKER_FAILED, .usage = USAGE_INIT};
    struct event result = result_event(&nothing, (int)exit_code_of(error->kind));
    jsonl_release(&run->jsonl);
    timeline_init(&timeline);
    if (jsonl_register(&run->jsonl, &run->app->out, &timeline)) {
        timeline_emit(&timeline, &(struct event){.kind = EVENT_ERROR, .as.error = error});
        timeline_emit(&timeline, &result);
    }
    timeline_release(&timeline);
}

static int run_it(struct run *run)
{
    struct worker_result *result = &run->result;
    worker_run(run->worker, run->prompt.data, run->prompt.length, result);
    int code = exit_code_of_run(result);
    struct event event = result_event(result, code);
    timeline_emit(worker_timeline(run->worker), &event);
    if (result->error.kind != ERROR_NONE && !run->app->out.failed)
        log_error("%s", result->error.message);
    int flushed = app_flush(run->app);
    return flushed ? flushed : code;
}

int command_run(struct app *app, int count, char **operands)
{
    struct run run = {.app = app};
    struct error error;
    int code;
    if (prepare(&run, count, operands, &error)) {
        code = run_it(&run);
    } else {
        if (app->json)
            tell_early_failure(&run, &error);
        code = app_fail(app, &error);
    }
    release(&run);
    return code;
}
