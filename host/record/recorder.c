#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_check.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/secret.h"
#include "conversation/item_line.h"
#include "record/recorder_state.h"

/* ---- the file ---- */

static void end_recording(struct recorder *recorder, const char *why)
{
    if (recorder->fd < 0)
        return;
    log_warning("the recording '%s' ends here: %s", recorder->path, why);
    close(recorder->fd);
    recorder->fd = -1;
}

void recorder_fail_memory(struct recorder *recorder)
{
    end_recording(recorder, "out of memory");
}

/* A secret that looks like JSON may leave none behind. */
void recorder_write(struct recorder *recorder)
{
    struct text *line = &recorder->line;
    text_putc(line, '}');
    secret_redact(line);
    if (line->failed) {
        recorder_fail_memory(recorder);
    } else if (!json_is_valid(line->data, line->length)) {
        end_recording(recorder, "without its secrets, a record is no JSON any more");
    } else if (recorder->fd >= 0) {
        text_putc(line, '\n');
        if (line->failed)
            recorder_fail_memory(recorder);
        else if (!file_write_fd(recorder->fd, line->data, line->length))
            end_recording(recorder, strerror(errno));
    }
    text_reset(line);
}

/* ---- the header ---- */

bool recorder_keeps_setting(enum setting_id id)
{
    switch (id) {
    case SETTING_TOOLS:
    case SETTING_NO_TOOLS:
    case SETTING_MAX_TURNS:
    case SETTING_MAX_RUN_TOKENS:
    case SETTING_MAX_TOKENS:
    case SETTING_TEMPERATURE:
    case SETTING_TOP_P:
    case SETTING_TOP_K:
    case SETTING_STOP:
    case SETTING_REASONING:
    case SETTING_STRATEGY:
    case SETTING_TIMEOUT:
    case SETTING_RESULT_LIMIT:
        return true;
    default:
        return false;
    }
}

static void write_setting(const struct settings *settings, enum setting_id id, struct text *line)
{
    const struct setting_value *value = &settings->values[id];
    json_put_key(line, setting_definitions[id].name);
    text_putc(line, '[');
    for (size_t i = 0; i < value->count; i++) {
        json_put_comma(line);
        text_json_string(line, value->items[i], strlen(value->items[i]));
    }
    text_putc(line, ']');
}

/* Of "tool-config", the limits of results: the rest is not about what is sent. */
static void write_result_limits(const struct settings *settings, struct text *line)
{
    json_t *all = json_object_get(settings->user_file, "tool-config");
    const char *tool;
    json_t *section;
    json_put_key(line, "tool-config");
    text_putc(line, '{');
    json_object_foreach(all, tool, section) {
        const json_t *limit = json_object_get(section, "result_limit");
        if (!json_is_integer(limit))
            continue;
        json_put_comma(line);
        text_json_string(line, tool, strlen(tool));
        text_puts(line, ":{");
        json_put_integer(line, "result_limit", json_integer_value(limit));
        text_putc(line, '}');
    }
    text_putc(line, '}');
}

static void write_header(struct recorder *recorder, const struct settings *settings)
{
    struct text *line = &recorder->line;
    record_begin(line, RECORD_HEADER);
    json_put_integer(line, "format", RECORDING_FORMAT);
    json_put_string(line, "mortise", MORTISE_VERSION);
    json_put_integer(line, "created_ms", clock_date_ms());
    json_put_key(line, "settings");
    text_putc(line, '{');
    for (int id = 0; id < SETTING_ID_COUNT; id++)
        if (recorder_keeps_setting((enum setting_id)id) && settings->values[id].count)
            write_setting(settings, (enum setting_id)id, line);
    text_putc(line, '}');
    write_result_limits(settings, line);
    recorder_write(recorder);
}

static bool open_file(struct recorder *recorder, const char *path, struct error *error)
{
    recorder->path = strdup(path);
    if (!recorder->path)
        return error_memory(error);
    recorder->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return recorder->fd >= 0 ||
           error_set(error, ERROR_USAGE, "option '--record': cannot make '%s': %s%s", path,
                     strerror(errno),
                     errno == EEXIST ? "; a recording never takes the place of a file" : "");
}

struct recorder *recorder_open(const char *path, const struct settings *settings,
                               struct error *error)
{
    struct recorder *recorder = calloc(1, sizeof(*recorder));
    if (!recorder) {
        error_memory(error);
        return NULL;
    }
    recorder->fd = -1;
    recorder_init_wire(recorder);
    recorder_init_tools(recorder);
    if (open_file(recorder, path, error)) {
        write_header(recorder, settings);
        return recorder;
    }
    recorder_close(recorder);
    return NULL;
}

static void forget_history(struct recorder *recorder)
{
    item_unref(recorder->last);
    recorder->last = NULL;
    recorder->item_count = 0;
}

void recorder_close(struct recorder *recorder)
{
    if (!recorder)
        return;
    if (recorder->fd >= 0 && close(recorder->fd) != 0)
        log_warning("the recording '%s' may not be whole: %s", recorder->path, strerror(errno));
    forget_history(recorder);
    registry_unref(recorder->registry);
    recorder_release_tools(recorder);
    text_release(&recorder->line);
    text_release(&recorder->model);
    text_release(&recorder->body);
    free(recorder->chunks.items);
    free(recorder->path);
    free(recorder);
}

/* ---- who is recorded ---- */

bool recorder_can_take(const struct client *client, struct error *error)
{
    return client->ops->facts ||
           error_set(error, ERROR_USAGE,
                     "option '--record': there is nothing to record of '%s', which asks no server",
                     client->provider);
}

const struct hook_tape *recorder_hook_tape(struct recorder *recorder)
{
    return &recorder->hook_tape;
}

const struct call_tape *recorder_call_tape(struct recorder *recorder)
{
    return &recorder->call_tape;
}

static void tell_plugins(struct recorder *recorder)
{
    struct registry *registry = worker_registry(recorder->worker);
    if (registry == recorder->registry)
        return;
    registry_unref(recorder->registry);
    recorder->registry = registry_ref(registry);
    record_write_plugins(&recorder->line, registry);
    recorder_write(recorder);
}

static void on_event(void *self, const struct event *event)
{
    struct recorder *recorder = self;
    switch (event->kind) {
    case EVENT_RUN_START:
        tell_plugins(recorder);
        break;
    case EVENT_TURN_START:
        tell_plugins(recorder);
        recorder->turn = event->as.turn_start.turn;
        recorder->attempt = 0;
        break;
    case EVENT_TOOL_PROGRESS:
        recorder_note_progress(recorder, &event->as.tool_progress);
        break;
    default:
        break;
    }
}

bool recorder_attach(struct recorder *recorder, struct worker *worker, struct client *client)
{
    static const uint32_t kinds =
        EVENT_BIT(EVENT_RUN_START) | EVENT_BIT(EVENT_TURN_START) | EVENT_BIT(EVENT_TOOL_PROGRESS);
    if (!timeline_add(worker_timeline(worker), kinds, on_event, recorder))
        return false;
    recorder->worker = worker;
    recorder->client = client;
    client->tape = &recorder->wire_tape;
    return true;
}

/* ---- runs ---- */

static void tell_model(struct recorder *recorder)
{
    struct text line = TEXT_INIT;
    record_write_model(&line, recorder->client);
    if (line.failed) {
        recorder_fail_memory(recorder);
    } else if (!recorder->model.data || strcmp(line.data, recorder->model.data) != 0) {
        text_append(&recorder->line, line.data, line.length);
        recorder_write(recorder);
        text_release(&recorder->model);
        recorder->model = line;
        return;
    }
    text_release(&line);
}

static void write_history(const struct recorder *recorder, const struct history *history,
                          struct text *line)
{
    json_put_key(line, "history");
    text_putc(line, '[');
    for (size_t i = 0; i < history->count; i++) {
        const struct item *item = history->items[i];
        bool is_started =
            item->kind == ITEM_CALL && worker_was_started(recorder->worker, item->call_id);
        json_put_comma(line);
        item_line_write(item, i ? history->items[i - 1] : NULL, is_started, line);
    }
    text_putc(line, ']');
}

/* Items are never changed, so that the last one tells whether all of them are the same. */
static bool history_is_known(const struct recorder *recorder, const struct history *history)
{
    return history->count == recorder->item_count &&
           (!history->count || history->items[history->count - 1] == recorder->last);
}

static void know_history(struct recorder *recorder)
{
    const struct history *history = worker_history(recorder->worker);
    forget_history(recorder);
    recorder->item_count = history->count;
    if (history->count)
        recorder->last = item_ref(history->items[history->count - 1]);
}

void recorder_run(struct recorder *recorder, const char *prompt, size_t length)
{
    const struct worker *worker = recorder->worker;
    struct text *line = &recorder->line;
    tell_model(recorder);
    record_begin(line, RECORD_RUN);
    if (prompt)
        json_put_text(line, "prompt", prompt, length);
    else
        json_put_boolean(line, "resume", true);
    json_put_string(line, "system", worker_system(worker));
    if (worker_state(worker) == WORKER_CACHE_LOCKED)
        json_put_integer(line, "locked", (int64_t)worker_locked_prefix(worker));
    if (!history_is_known(recorder, worker_history(worker)))
        write_history(recorder, worker_history(worker), line);
    recorder_write(recorder);
}

void recorder_result(struct recorder *recorder, const struct worker_result *result)
{
    struct text *line = &recorder->line;
    record_write_outcome(line, result);
    if (result->error.kind != ERROR_NONE)
        record_write_error(line, &result->error);
    json_put_integer(line, "duration_ms", result->duration_ms);
    recorder_write(recorder);
    recorder_forget_progress(recorder);
    know_history(recorder);
}
