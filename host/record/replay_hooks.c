/* Hooks: what they did is done again, or compared with what they really do. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/replay_state.h"

/* ---- the recorded answers of one hook to one event, in order ---- */

static struct hook_place *place_of(struct replay *replay, const char *hook, const char *event)
{
    for (size_t i = 0; i < replay->places.count; i++) {
        struct hook_place *place = &replay->places.items[i];
        if (place->event == event && strcmp(place->hook, hook) == 0)
            return place;
    }
    char *copy = strdup(hook);
    if (!copy || !array_reserve(&replay->places, 1)) {
        free(copy);
        replay_differ(replay, "out of memory");
        return NULL;
    }
    struct hook_place *place = &replay->places.items[replay->places.count++];
    *place = (struct hook_place){.hook = copy, .event = event};
    return place;
}

/* What the hook did, as often as it is asked now; NULL: it went on without a change. */
static struct record *answer_of(struct replay *replay, const char *hook, const char *event)
{
    const struct recording *recording = &replay->recording;
    struct hook_place *place = place_of(replay, hook, event);
    if (!place)
        return NULL;
    place->asked++;
    for (; place->next < recording->count; place->next++) {
        struct record *record = &recording->items[place->next];
        if (record->kind != RECORD_HOOK || !record_says(record, "hook", hook) ||
            !record_says(record, "event", event))
            continue;
        int64_t n = record_integer(record, "n", 0);
        if (n == place->asked)
            return &recording->items[place->next++];
        if (n > place->asked)
            break;
    }
    return NULL;
}

/* ---- done again ---- */

static bool is(const struct record *edit, const char *what)
{
    return record_says(edit, "what", what);
}

/* What was carried out once is carried out again, if all is as it was. */
static mortise_status repeat(const struct record *edit, const struct text *text, mortise_hook *face)
{
    const mortise_hook_ops *ops = face->ops;
    const char *data = text_cstr(text);
    size_t index = (size_t)record_integer(edit, "index", 0);
    bool is_error = record_is_true(edit, "is_error");
    if (is(edit, "set_item"))
        return ops->set_item(face, index, data, text->length);
    if (is(edit, "remove_item"))
        return ops->remove_item(face, index);
    if (is(edit, "append"))
        return ops->append(face, data, text->length);
    if (is(edit, "set_arguments"))
        return ops->set_arguments(face, data, text->length);
    if (is(edit, "respond"))
        return ops->respond(face, is_error, data, text->length);
    if (is(edit, "set_result"))
        return ops->set_result(face, is_error, data, text->length);
    return MORTISE_INVALID;
}

static void repeat_edits(struct replay *replay, const struct record *record, mortise_hook *face)
{
    struct text text = TEXT_INIT;
    struct json_walk walk;
    struct json_piece piece;
    if (!json_walk_into(&walk, record_member(record, "edits"), '['))
        return;
    while (json_walk_next(&walk, NULL, &piece)) {
        const struct record edit = {.json = piece};
        if (!record_text(&edit, "text", &text) || repeat(&edit, &text, face) != MORTISE_OK)
            replay_refuse(replay, record, "edits");
    }
    text_release(&text);
}

static mortise_verdict verdict_of(struct replay *replay, const struct record *record)
{
    for (mortise_verdict verdict = MORTISE_CONTINUE; verdict <= MORTISE_HOOK_FAILED; verdict++)
        if (record_says(record, "verdict", hook_verdict_name(verdict)))
            return verdict;
    replay_refuse(replay, record, "verdict");
    return MORTISE_HOOK_FAILED;
}

mortise_verdict replay_hook(struct replay *replay, const char *hook, enum hook_event event,
                            mortise_hook *face)
{
    struct record *record = answer_of(replay, hook, hook_event_name(event));
    struct text reason = TEXT_INIT;
    if (!record)
        return MORTISE_CONTINUE;
    repeat_edits(replay, record, face);
    if (record_text(record, "reason", &reason) && reason.length)
        face->ops->reason(face, reason.data, reason.length);
    text_release(&reason);
    mortise_verdict verdict = verdict_of(replay, record);
    replay_use(replay, record);
    return verdict;
}

/* ---- compared ---- */

static void on_edit(void *self, const struct hook_edit *edit)
{
    struct replay *replay = self;
    record_write_edit(&replay->edits, edit);
}

static void compare(struct replay *replay, struct record *record, const struct hook *hook,
                    const char *event, const char *verdict, const char *reason)
{
    static const char *const names[] = {"verdict", "reason", "edits", NULL};
    struct text now = TEXT_INIT;
    char name[RECORD_HOOK_NAME_SIZE], what[256];
    record_hook_name(name, hook);
    snprintf(what, sizeof(what), "hook '%s' at %s (line %zu)", name, event, record->line);
    record_write_hook(&now, hook, event, 0, &replay->edits, verdict, reason);
    text_putc(&now, '}');
    replay_compare(replay, record, &now, names, what);
    text_release(&now);
    replay_use(replay, record);
}

static void on_answer(void *self, const struct hook *hook, const char *event, const char *verdict,
                      const char *reason)
{
    struct replay *replay = self;
    char name[RECORD_HOOK_NAME_SIZE];
    record_hook_name(name, hook);
    struct record *record = answer_of(replay, name, event);
    if (record)
        compare(replay, record, hook, event, verdict, reason);
    else if (replay->edits.length || strcmp(verdict, "continue") != 0)
        replay_miss(replay, "hook '%s' at %s changes or decides something that it did not: %s%s%s",
                    name, event, verdict, *reason ? ": " : "", reason);
    text_reset(&replay->edits);
}

void replay_init_hooks(struct replay *replay)
{
    replay->hook_tape =
        (struct hook_tape){.edited = on_edit, .answered = on_answer, .self = replay};
}

const struct hook_tape *replay_hook_tape(struct replay *replay)
{
    return replay->is_live ? &replay->hook_tape : NULL;
}

void replay_release_hooks(struct replay *replay)
{
    for (size_t i = 0; i < replay->places.count; i++)
        free(replay->places.items[i].hook);
    free(replay->places.items);
    text_release(&replay->edits);
}
