/* Results of tools: given as they were recorded, or compared with what the tools really do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conversation/item_record.h"
#include "record/replay_state.h"

/* ---- a recorded result ---- */

static const char *category_of(const char *name)
{
    for (mortise_category category = MORTISE_INTERNAL; category <= MORTISE_NOT_SUPPORTED;
         category++)
        if (strcmp(category_name(category), name) == 0)
            return category_name(category);
    return category_name(MORTISE_INTERNAL);
}

static void copy_text(const struct record *record, const char *member, char *out, size_t size)
{
    struct text text = TEXT_INIT;
    record_text(record, member, &text);
    snprintf(out, size, "%s", text_cstr(&text));
    text_release(&text);
}

/* Attachments are read into an item, and moved out of it. */
static bool read_parts(const struct record *record, struct tool_result *result)
{
    struct json_piece parts = record_member(record, "parts");
    struct item *carrier = parts.length ? item_output("", "", 0, false) : NULL;
    if (!carrier)
        return !parts.length;
    struct error ignored;
    bool ok = attachments_read_json(carrier, parts.data, parts.length, &ignored);
    if (ok) {
        result->attachments = carrier->attachments;
        result->attachment_count = carrier->attachment_count;
        carrier->attachments = NULL;
        carrier->attachment_count = 0;
    }
    item_unref(carrier);
    return ok && result->attachment_count <= UINT8_MAX;
}

static bool read_result(const struct record *record, struct tool_result *result)
{
    char category[64];
    *result = (struct tool_result){
        .success = record_is_true(record, "success"),
        .is_json = record_is_true(record, "json"),
        .duration_us = record_integer(record, "duration_us", 0),
    };
    if (!result->success) {
        copy_text(record, "component", result->component, sizeof(result->component));
        copy_text(record, "code", result->code, sizeof(result->code));
        copy_text(record, "category", category, sizeof(category));
        result->category = category_of(category);
        result->retry_after_ms = record_integer(record, "retry_after_ms", 0);
    }
    return record_text(record, "text", &result->text) && read_parts(record, result);
}

/* What is told while it runs is told at once. */
static void tell_progress(const struct record *record, const struct dispatch *dispatch,
                          const struct dispatch_call *call)
{
    struct json_walk walk;
    struct json_piece entry;
    struct text stream = TEXT_INIT, said = TEXT_INIT;
    if (!json_walk_into(&walk, record_member(record, "progress"), '['))
        return;
    while (json_walk_next(&walk, NULL, &entry)) {
        const struct record told = {.json = entry};
        struct event event = {.kind = EVENT_TOOL_PROGRESS};
        bool is_text = record_text(&told, "stream", &stream) && record_has(&told, "stream");
        record_text(&told, "text", &said);
        struct tool_progress *progress = &event.as.tool_progress;
        *progress = (struct tool_progress){.id = call->id,
                                           .name = call->name,
                                           .stream = is_text ? stream.data : NULL,
                                           .text = {text_cstr(&said), said.length},
                                           .notice = record_is_true(&told, "notice")};
        struct json_piece done = record_member(&told, "done"),
                          total = record_member(&told, "total");
        progress->done = done.length ? strtod(done.data, NULL) : 0;
        progress->total = total.length ? strtod(total.data, NULL) : 0;
        timeline_emit(dispatch->timeline, &event);
    }
    text_release(&stream);
    text_release(&said);
}

/* ---- given ---- */

static void compare_call(struct replay *replay, const struct record *record,
                         const struct dispatch_call *call, struct slice arguments)
{
    static const char *const names[] = {"name", "arguments", NULL};
    struct text now = TEXT_INIT;
    char what[128];
    snprintf(what, sizeof(what), "the call of '%.80s' (line %zu)", call->name, record->line);
    record_write_result(&now, call, arguments, false);
    text_putc(&now, '}');
    replay_compare(replay, record, &now, names, what);
    text_release(&now);
}

static void give(struct replay *replay, struct record *record, const struct dispatch *dispatch,
                 const struct dispatch_call *call, struct slice arguments,
                 struct tool_result *result, bool *made)
{
    compare_call(replay, record, call, arguments);
    tell_progress(record, dispatch, call);
    *made = record_is_true(record, "made");
    if (!read_result(record, result)) {
        tool_result_release(result);
        tool_result_fail(result, MORTISE_INTERNAL, "host.replay", "not replayed");
        replay_refuse(replay, record, "text' or 'parts");
    }
    replay->calls++;
    replay_use(replay, record);
}

/* A call that was ended with its run could wait for that end for ever. */
static bool is_of_the_end(struct replay *replay)
{
    return replay_was_stopped(replay) && !replay_find(replay, RECORD_REQUEST);
}

static bool is_known(void *self, const struct dispatch *dispatch, const struct dispatch_call *call,
                     struct slice arguments, struct tool_result *result, bool *made)
{
    struct replay *replay = self;
    if (replay->is_live && !is_of_the_end(replay))
        return false;
    struct record *record = replay_find_named(replay, RECORD_TOOL_RESULT, "id", call->id);
    if (record) {
        give(replay, record, dispatch, call, arguments, result, made);
        return true;
    }
    replay_miss(replay, "the call of '%s' with id '%s' has no recorded result", call->name,
                call->id);
    tool_result_fail(result, MORTISE_INTERNAL, "host.replay", "not replayed");
    *made = false;
    return true;
}

/* ---- compared ---- */

static void compare_result(void *self, const struct dispatch_call *call, struct slice arguments,
                           bool made)
{
    static const char *const names[] = {"name",      "arguments", "made", "success", "text",
                                        "component", "category",  "code", "parts",   NULL};
    struct replay *replay = self;
    struct record *record = replay_find_named(replay, RECORD_TOOL_RESULT, "id", call->id);
    struct text now = TEXT_INIT;
    char what[128];
    if (!record) {
        replay_miss(replay, "the call of '%s' with id '%s' has no recorded result", call->name,
                    call->id);
        return;
    }
    snprintf(what, sizeof(what), "the result of '%.80s' (line %zu)", call->name, record->line);
    record_write_result(&now, call, arguments, made);
    text_putc(&now, '}');
    replay_compare(replay, record, &now, names, what);
    text_release(&now);
    replay->calls++;
    replay_use(replay, record);
}

/* ---- where the whole of what was cut was kept ---- */

static bool place_of(void *self, const char *name, struct slice whole, struct text *path,
                     struct error *error)
{
    struct replay *replay = self;
    struct record *record = replay_find_named(replay, RECORD_KEPT, "name", name);
    (void)whole;
    if (!record || record_has(record, "found"))
        return error_set(error, ERROR_INTERNAL, "it was not kept when this was recorded");
    record->is_used = true;
    return record_text(record, "path", path) || error_memory(error);
}

static bool find_whole(void *self, const char *name, struct text *whole, struct text *path)
{
    struct replay *replay = self;
    struct record *record = replay_find_named(replay, RECORD_KEPT, "name", name);
    if (!record || !record_has(record, "found"))
        return false;
    record->is_used = true;
    return record_text(record, "found", whole) && record_text(record, "path", path);
}

void replay_init_calls(struct replay *replay)
{
    replay->call_tape = (struct call_tape){
        .known = is_known, .place = place_of, .find = find_whole, .self = replay};
    if (replay->is_live)
        replay->call_tape.settled = compare_result;
}

const struct call_tape *replay_call_tape(struct replay *replay)
{
    return &replay->call_tape;
}
