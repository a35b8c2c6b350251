/* What hooks decide and tools answer. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_write.h"
#include "record/recorder_state.h"

/* A tool may run for days and tell of it all the time; what is above this is not kept. */
#define MOST_PROGRESS_BYTES ((size_t)1 << 20)

/* ---- hooks ---- */

static void on_edit(void *self, const struct hook_edit *edit)
{
    struct recorder *recorder = self;
    record_write_edit(&recorder->edits, edit);
}

/* Counted by name, so that it goes on over a reload; NULL: no memory. */
static struct hook_count *count_of(struct recorder *recorder, const struct hook *hook,
                                   const char *event)
{
    char name[RECORD_HOOK_NAME_SIZE];
    record_hook_name(name, hook);
    for (size_t i = 0; i < recorder->asked.count; i++) {
        struct hook_count *count = &recorder->asked.items[i];
        if (count->event == event && strcmp(count->name, name) == 0)
            return count;
    }
    char *copy = strdup(name);
    if (!copy || !array_reserve(&recorder->asked, 1)) {
        free(copy);
        return NULL;
    }
    struct hook_count *count = &recorder->asked.items[recorder->asked.count++];
    *count = (struct hook_count){.name = copy, .event = event};
    return count;
}

static void on_answer(void *self, const struct hook *hook, const char *event, const char *verdict,
                      const char *reason)
{
    struct recorder *recorder = self;
    struct hook_count *count = count_of(recorder, hook, event);
    if (!count) {
        recorder_fail_memory(recorder);
        return;
    }
    count->asked++;
    if (recorder->edits.length || recorder->edits.failed || strcmp(verdict, "continue") != 0) {
        record_write_hook(&recorder->line, hook, event, count->asked, &recorder->edits, verdict,
                          reason);
        recorder_write(recorder);
    }
    text_reset(&recorder->edits);
}

/* ---- tools ---- */

static struct call_progress *progress_of(struct recorder *recorder, const char *id)
{
    for (size_t i = 0; i < recorder->progress.count; i++)
        if (strcmp(recorder->progress.items[i].id, id) == 0)
            return &recorder->progress.items[i];
    return NULL;
}

static struct call_progress *new_progress(struct recorder *recorder, const char *id)
{
    char *copy = strdup(id);
    if (!copy || !array_reserve(&recorder->progress, 1)) {
        free(copy);
        return NULL;
    }
    struct call_progress *progress = &recorder->progress.items[recorder->progress.count++];
    *progress = (struct call_progress){.id = copy};
    return progress;
}

void recorder_note_progress(struct recorder *recorder, const struct tool_progress *told)
{
    struct call_progress *progress = progress_of(recorder, told->id);
    if (!progress && !(progress = new_progress(recorder, told->id))) {
        recorder_fail_memory(recorder);
        return;
    }
    struct text *list = &progress->list;
    if (list->length > MOST_PROGRESS_BYTES)
        return;
    json_put_comma(list);
    text_putc(list, '{');
    if (told->stream) {
        json_put_string(list, "stream", told->stream);
        json_put_text(list, "text", told->text.data, told->text.length);
    } else {
        json_put_number(list, "done", told->done);
        json_put_number(list, "total", told->total);
    }
    if (told->notice)
        json_put_boolean(list, "notice", true);
    text_putc(list, '}');
}

static void drop_progress(struct recorder *recorder, struct call_progress *progress)
{
    free(progress->id);
    text_release(&progress->list);
    *progress = recorder->progress.items[--recorder->progress.count];
}

static void on_settled(void *self, const struct dispatch_call *call, struct slice arguments,
                       bool made)
{
    struct recorder *recorder = self;
    struct text *line = &recorder->line;
    record_write_result(line, call, arguments, made);
    struct call_progress *progress = progress_of(recorder, call->id);
    if (progress) {
        json_put_key(line, "progress");
        text_putc(line, '[');
        text_append(line, progress->list.data, progress->list.length);
        text_putc(line, ']');
        line->failed |= progress->list.failed;
        drop_progress(recorder, progress);
    }
    json_put_integer(line, "duration_us", call->result.duration_us);
    recorder_write(recorder);
}

static void on_kept(void *self, const char *name, const char *path, const struct text *whole)
{
    struct recorder *recorder = self;
    record_begin(&recorder->line, RECORD_KEPT);
    json_put_string(&recorder->line, "name", name);
    json_put_string(&recorder->line, "path", path);
    if (whole)
        json_put_text(&recorder->line, "found", text_cstr(whole), whole->length);
    recorder_write(recorder);
}

/* ---- the tapes ---- */

void recorder_init_tools(struct recorder *recorder)
{
    recorder->hook_tape =
        (struct hook_tape){.edited = on_edit, .answered = on_answer, .self = recorder};
    recorder->call_tape =
        (struct call_tape){.settled = on_settled, .kept = on_kept, .self = recorder};
}

void recorder_forget_progress(struct recorder *recorder)
{
    while (recorder->progress.count)
        drop_progress(recorder, &recorder->progress.items[0]);
}

void recorder_release_tools(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->asked.count; i++)
        free(recorder->asked.items[i].name);
    free(recorder->asked.items);
    recorder_forget_progress(recorder);
    free(recorder->progress.items);
    text_release(&recorder->edits);
}
