#include "record/replay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/secret.h"
#include "config/setting_value.h"
#include "conversation/item_line.h"
#include "record/difference.h"
#include "record/recorder.h"
#include "record/replay_state.h"

#define NONE SIZE_MAX

/* ---- what differs ---- */

__attribute__((format(printf, 2, 0))) static void set_difference(struct replay *replay,
                                                                 const char *format, va_list args)
{
    struct text text = TEXT_INIT;
    if (replay->differs)
        return;
    replay->differs = true;
    text_vprintf(&text, format, args);
    secret_redact(&text);
    error_set(&replay->difference, ERROR_INTERNAL, "%s", text_cstr(&text));
    if (text.failed)
        error_memory(&replay->difference);
    text_release(&text);
}

void replay_differ(struct replay *replay, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_difference(replay, format, args);
    va_end(args);
}

void replay_refuse(struct replay *replay, const struct record *record, const char *member)
{
    replay_differ(replay, "%s: line %zu: '%s' of a record of type '%s' cannot be used",
                  replay->name, record->line, member, record_kind_name(record->kind));
}

void replay_miss(struct replay *replay, const char *format, ...)
{
    va_list args;
    if (!replay->has_result) {
        replay->ended = "the recording breaks off here";
        return;
    }
    va_start(args, format);
    set_difference(replay, format, args);
    va_end(args);
}

bool replay_compare(struct replay *replay, const struct record *record, struct text *now,
                    const char *const *names, const char *what)
{
    struct text where = TEXT_INIT;
    secret_redact(now);
    const struct record other = {.json = {text_cstr(now), now->length}};
    for (; *names && !where.length; names++) {
        struct json_piece recorded = record_member(record, *names);
        if (difference_find(recorded, record_member(&other, *names), &where))
            replay_differ(replay, "%s differs: '%s' %s", what, *names, text_cstr(&where));
    }
    bool same = !where.length && !where.failed && !now->failed;
    if (where.failed || now->failed)
        replay_differ(replay, "out of memory");
    text_release(&where);
    return same;
}

bool replay_differs(const struct replay *replay, struct error *error, bool *told)
{
    if (!replay->differs)
        return false;
    *error = replay->difference;
    *told = replay->is_told;
    return true;
}

/* ---- the records of a run ---- */

bool replay_counts(const struct record *record)
{
    switch (record->kind) {
    case RECORD_REQUEST:
    case RECORD_RESPONSE:
    case RECORD_TOOL_RESULT:
        return true;
    case RECORD_HOOK: /* the end of a run is told after what could stop it */
        return !record_says(record, "event", hook_event_name(HOOK_on_abort));
    default:
        return false;
    }
}

static const struct record *result_of(const struct replay *replay)
{
    return replay->has_result ? &replay->recording.items[replay->end] : NULL;
}

bool replay_was_stopped(const struct replay *replay)
{
    const struct record *result = result_of(replay);
    return result && (record_says(result, "status", worker_status_name(WORKER_CANCELLED)) ||
                      record_says(result, "status", worker_status_name(WORKER_TIMEOUT)));
}

/* The setting --timeout, for the message. */
static int64_t limit_ms(const struct replay *replay)
{
    struct json_walk walk;
    struct json_piece value = {NULL, 0};
    struct text text = TEXT_INIT;
    struct json_piece settings = record_member(&replay->recording.items[0], "settings");
    if (json_walk_into(&walk, json_walk_member(settings, "timeout"), '['))
        json_walk_next(&walk, NULL, &value);
    json_piece_text(value, &text);
    double seconds = strtod(text_cstr(&text), NULL);
    text_release(&text);
    return seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1000) : 0;
}

static void stop_as_recorded(struct replay *replay)
{
    if (replay->left || !replay_was_stopped(replay))
        return;
    if (record_says(result_of(replay), "status", worker_status_name(WORKER_TIMEOUT)))
        worker_expire(replay->worker, limit_ms(replay));
    else
        worker_cancel(replay->worker);
}

void replay_use(struct replay *replay, struct record *record)
{
    bool counts = !record->is_used && replay_counts(record);
    record->is_used = true;
    if (!counts)
        return;
    replay->left--;
    stop_as_recorded(replay);
}

struct record *replay_find(struct replay *replay, enum record_kind kind)
{
    for (size_t i = replay->first + 1; i < replay->end; i++) {
        struct record *record = &replay->recording.items[i];
        if (record->kind == kind && !record->is_used)
            return record;
    }
    return NULL;
}

struct record *replay_find_named(struct replay *replay, enum record_kind kind, const char *member,
                                 const char *text)
{
    for (size_t i = replay->first + 1; i < replay->end; i++) {
        struct record *record = &replay->recording.items[i];
        if (record->kind == kind && !record->is_used && record_says(record, member, text))
            return record;
    }
    return NULL;
}

/* ---- opening ---- */

struct replay *replay_open(const char *path, bool live, struct error *error)
{
    struct replay *replay = calloc(1, sizeof(*replay));
    if (!replay) {
        error_memory(error);
        return NULL;
    }
    replay->is_live = live;
    replay->model = replay->registry_record = NONE;
    replay->name = strdup(path);
    replay_init_hooks(replay);
    replay_init_calls(replay);
    if (replay->name ? recording_read(&replay->recording, path, error) : error_memory(error))
        return replay;
    replay_free(replay);
    return NULL;
}

static void forget_run(struct replay_run *run)
{
    text_release(&run->prompt);
    text_release(&run->system);
    for (size_t i = 0; i < run->item_count; i++)
        item_unref(run->items[i]);
    free(run->items);
    free(run->started);
    *run = (struct replay_run){0};
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    forget_run(&replay->run);
    registry_unref(replay->registry);
    replay_release_hooks(replay);
    recording_release(&replay->recording);
    free(replay->name);
    free(replay);
}

bool replay_is_live(const struct replay *replay)
{
    return replay->is_live;
}

/* ---- settings ---- */

static bool apply(struct settings *settings, enum setting_id id, const json_t *values,
                  struct error *error)
{
    struct setting_value *value = &settings->values[id];
    const char *fallback = setting_definitions[id].fallback;
    setting_value_clear(value);
    if (id == SETTING_TIMEOUT) /* the time that a replay takes says nothing */
        return true;
    if (!values)
        return !fallback || setting_value_add(value, id, SOURCE_DEFAULT, fallback, error);
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *text = json_string_value(json_array_get(values, i));
        if (!text)
            return error_set(error, ERROR_USAGE, "it is no text");
        if (!setting_value_add(value, id, SOURCE_OPTION, text, error))
            return false;
    }
    return true;
}

static bool apply_result_limits(struct settings *settings, json_t *limits, struct error *error)
{
    if (!settings->user_file)
        settings->user_file = json_object();
    json_object_del(settings->user_file, "tool-config");
    return !limits || json_object_set(settings->user_file, "tool-config", limits) == 0 ||
           error_memory(error);
}

bool replay_apply_settings(const struct replay *replay, struct settings *settings,
                           struct error *error)
{
    json_t *header = record_value(&replay->recording.items[0], error);
    const json_t *recorded = json_object_get(header, "settings");
    bool ok = header;
    if (!ok)
        error_prefix(error, "%s: line 1", replay->name);
    for (int id = 0; ok && id < SETTING_ID_COUNT; id++) {
        const char *name = setting_definitions[id].name;
        if (!recorder_keeps_setting((enum setting_id)id))
            continue;
        ok = apply(settings, (enum setting_id)id, json_object_get(recorded, name), error);
        if (!ok)
            error_prefix(error, "%s: line 1: setting '%s'", replay->name, name);
    }
    ok = ok && apply_result_limits(settings, json_object_get(header, "tool-config"), error);
    json_decref(header);
    return ok;
}

/* ---- runs ---- */

static bool read_items(struct replay_run *run, const json_t *list, struct error *error)
{
    struct item_lines lines = {0};
    size_t count = json_array_size(list);
    bool ok = true;
    run->items = calloc(count + 1, sizeof(*run->items));
    run->started = calloc(count + 1, sizeof(*run->started));
    if (!run->items || !run->started)
        return error_memory(error);
    for (size_t i = 0; ok && i < count; i++) {
        bool is_started = false;
        struct item *item = item_line_read(&lines, json_array_get(list, i), &is_started, error);
        ok = item;
        if (item)
            run->items[run->item_count++] = item;
        if (is_started && item)
            run->started[run->started_count++] = item->call_id;
    }
    item_lines_release(&lines);
    return ok;
}

static bool read_history(struct replay_run *run, const struct record *record, struct error *error)
{
    run->has_history = record_has(record, "history");
    if (!run->has_history)
        return true;
    json_t *value = record_value(record, error);
    bool ok = value && read_items(run, json_object_get(value, "history"), error);
    json_decref(value);
    if (!ok && error->kind == ERROR_BAD_REQUEST)
        error->kind = ERROR_USAGE;
    return ok;
}

static bool read_run(struct replay *replay, struct error *error)
{
    const struct record *record = &replay->recording.items[replay->first];
    struct replay_run *run = &replay->run;
    run->has_prompt = record_has(record, "prompt");
    run->has_system = record_has(record, "system");
    run->locked = record_integer(record, "locked", -1);
    bool ok = (record_text(record, "prompt", &run->prompt) &&
               record_text(record, "system", &run->system)) ||
              error_memory(error);
    ok = ok && (run->has_prompt || record_is_true(record, "resume") ||
                error_set(error, ERROR_USAGE, "it has no 'prompt' and does not resume"));
    ok = ok && read_history(run, record, error);
    if (!ok)
        error_prefix(error, "%s: line %zu", replay->name, record->line);
    return ok;
}

static void find_end(struct replay *replay)
{
    const struct recording *recording = &replay->recording;
    size_t i = replay->first + 1;
    replay->left = 0;
    while (i < recording->count && recording->items[i].kind != RECORD_RUN &&
           recording->items[i].kind != RECORD_RESULT)
        replay->left += replay_counts(&recording->items[i++]);
    replay->end = i;
    replay->has_result = i < recording->count && recording->items[i].kind == RECORD_RESULT;
}

bool replay_next(struct replay *replay, const struct replay_run **run, struct error *error)
{
    const struct recording *recording = &replay->recording;
    size_t model = replay->model, i = replay->end;
    error_clear(error);
    forget_run(&replay->run);
    for (; i < recording->count && (recording->items[i].kind != RECORD_RUN || i == 0); i++)
        if (recording->items[i].kind == RECORD_MODEL)
            model = i;
    if (i == recording->count || replay->differs || replay->ended)
        return false;
    replay->first = i;
    replay->run.has_new_client = model != replay->model;
    replay->model = model;
    find_end(replay);
    *run = &replay->run;
    if (model == NONE)
        return error_set(error, ERROR_USAGE, "%s: line %zu: no 'model' is named before this run",
                         replay->name, recording->items[i].line);
    return read_run(replay, error);
}

void replay_begin(struct replay *replay, struct worker *worker)
{
    replay->worker = worker;
    stop_as_recorded(replay);
}

/* ---- stand-ins for plugins ---- */

static void make_registry(struct replay *replay, size_t index)
{
    struct error error;
    if (index == replay->registry_record)
        return;
    struct registry *registry = replay_plugins(replay, &replay->recording.items[index], &error);
    if (!registry) {
        replay_differ(replay, "%s: line %zu: %s", replay->name, replay->recording.items[index].line,
                      error.message);
        return;
    }
    registry_unref(replay->registry);
    replay->registry = registry;
    replay->registry_record = index;
}

/* Those that come before the next thing that happens. */
static void take_plugins(struct replay *replay)
{
    for (size_t i = replay->first + 1; i < replay->end; i++) {
        struct record *record = &replay->recording.items[i];
        if (record->is_used)
            continue;
        if (replay_counts(record))
            return;
        if (record->kind != RECORD_PLUGINS)
            continue;
        make_registry(replay, i);
        if (!replay->worker) /* it is not under way: this was a look */
            return;
        record->is_used = true;
    }
}

struct registry *replay_registry(void *self)
{
    struct replay *replay = self;
    take_plugins(replay);
    if (!replay->registry)
        replay->registry = registry_new();
    return replay->registry ? registry_ref(replay->registry) : NULL;
}

/* ---- the end of a run ---- */

static void compare_result(struct replay *replay, const struct worker_result *result)
{
    static const char *const names[] = {"status", "text", "turns", "usage", NULL};
    struct text now = TEXT_INIT;
    record_write_outcome(&now, result);
    text_putc(&now, '}');
    replay_compare(replay, result_of(replay), &now, names, "the result of the run");
    text_release(&now);
}

static const struct record *first_left(const struct replay *replay)
{
    for (size_t i = replay->first + 1; i < replay->end; i++) {
        const struct record *record = &replay->recording.items[i];
        if (!record->is_used && replay_counts(record))
            return record;
    }
    return NULL;
}

void replay_end(struct replay *replay, const struct worker_result *result)
{
    const struct record *left = replay->left ? first_left(replay) : NULL;
    replay->is_told = replay->differs && result->error.kind == ERROR_INTERNAL &&
                      strcmp(result->error.message, replay->difference.message) == 0;
    replay->worker = NULL;
    if (!replay->has_result)
        replay->ended = "the recording breaks off here";
    if (replay->ended)
        return;
    if (left)
        replay_differ(replay, "the recording goes on with a %s (line %zu), and this run did not",
                      record_kind_name(left->kind), left->line);
    compare_result(replay, result);
}

/* ---- what is told at the end ---- */

static void count(struct text *out, unsigned number, const char *what)
{
    text_printf(out, "%u %s%s", number, what, number == 1 ? "" : "s");
}

void replay_summary(const struct replay *replay, struct text *out)
{
    text_puts(out, "replayed ");
    count(out, replay->requests, "request");
    text_puts(out, ", ");
    count(out, replay->calls, "tool call");
    text_puts(out, replay->differs ? ": a difference"
                   : replay->ended || replay->recording.is_torn || !replay->first
                       ? ": no difference, as far as the recording goes"
                       : ": no difference");
}
