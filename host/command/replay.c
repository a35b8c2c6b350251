/* replay: runs that were recorded, again. */
#include "record/replay.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "command/command.h"
#include "command/conversation.h"
#include "command/signals.h"

/* What the client is called like, as `-m` has it. */
static bool name_model(const struct client *client, struct text *name, struct error *error)
{
    text_reset(name);
    text_printf(name, "%s/%s", client->provider, client->model);
    return !name->failed || error_memory(error);
}

static bool change_model(struct conversation *c, struct error *error)
{
    struct text name = TEXT_INIT;
    struct client *client = replay_client(c->replay, error);
    bool named = client && name_model(client, &name, error);
    if (client && !named)
        client_free(client);
    bool changed = named && conversation_change_client(c, client, name.data, error);
    text_release(&name);
    return changed;
}

/* The first time it is restored, with what an earlier process had started. */
static bool set_history(struct worker *worker, const struct replay_run *run, bool is_first,
                        struct error *error)
{
    if (is_first)
        return worker_restore(worker, run->items, run->item_count, run->started, run->started_count,
                              error);
    for (size_t i = 0; i < run->item_count; i++)
        item_ref(run->items[i]);
    return worker_set_history(worker, run->items, run->item_count, error);
}

/* Between two runs of a chat its user may have changed all this. */
static bool set_state(struct conversation *c, const struct replay_run *run, bool is_first,
                      struct error *error)
{
    struct worker *worker = c->worker;
    const char *system = run->has_system ? text_cstr(&run->system) : NULL;
    const char *now = worker_system(worker);
    bool other_system = system && now ? strcmp(system, now) != 0 : system != now;
    bool is_locked = worker_state(worker) == WORKER_CACHE_LOCKED;
    if (is_locked && (other_system || run->has_history || run->locked < 0 ||
                      (size_t)run->locked != worker_locked_prefix(worker)))
        worker_unlock(worker);
    if (other_system && !worker_set_system(worker, system, error))
        return false;
    if (run->has_history && !set_history(worker, run, is_first, error))
        return false;
    if (run->locked >= 0)
        worker_lock(worker);
    return true;
}

/* False: the recording cannot be used. */
static bool replay_one(struct conversation *c, const struct replay_run *run, struct error *error)
{
    bool is_first = !c->worker;
    bool ready = is_first              ? conversation_prepare(c, error)
                 : run->has_new_client ? change_model(c, error)
                                       : true;
    if (ready && is_first)
        ready = name_model(c->client, &c->model, error);
    if (!ready || !set_state(c, run, is_first, error))
        return false;
    conversation_run(c, run->has_prompt ? text_cstr(&run->prompt) : NULL, run->prompt.length);
    return true;
}

static int tell(struct app *app, const struct replay *replay)
{
    struct text summary = TEXT_INIT;
    struct error error;
    bool is_told = false;
    bool differs = replay_differs(replay, &error, &is_told);
    replay_summary(replay, &summary);
    if (differs && !is_told)
        log_error("%s", error.message);
    output_end_line(&app->out);
    output_flush(&app->out);
    output_foreign(&app->notes, text_cstr(&summary), summary.length);
    output_own(&app->notes, "\n");
    output_flush(&app->notes);
    bool is_said = !summary.failed && !app->notes.failed;
    text_release(&summary);
    if (!is_said)
        log_error("how the replay ended cannot be told: %s", strerror(ENOMEM));
    int flushed = app_flush(app);
    return differs ? (int)exit_code_of(error.kind) : is_said ? flushed : EXIT_FAILED;
}

/* How a run ended is no matter here: it is one of the things that are compared. */
static int replay_all(struct app *app, struct replay *replay)
{
    struct conversation conversation = {.app = app, .replay = replay, .wake_fd = -1};
    const struct replay_run *run;
    struct error error;
    bool good = true;
    while (good && replay_next(replay, &run, &error))
        good = replay_one(&conversation, run, &error);
    int code;
    if (!good || error.kind != ERROR_NONE)
        code = conversation_failed(&conversation, &error);
    else if (signals_received() || app->out.failed) /* that is why it ended, and no difference */
        code = signals_received() ? 128 + signals_received() : app_flush(app);
    else
        code = tell(app, replay);
    conversation_release(&conversation);
    return code;
}

int command_replay(struct app *app, int count, char **operands)
{
    struct error error;
    if (count != 1)
        return command_usage(app, "replay", "'replay' takes one recording");
    if (settings_text(&app->settings, SETTING_RECORD)) {
        error_set(&error, ERROR_USAGE, "option '--record': a replay is not recorded");
        return app_fail(app, &error);
    }
    struct replay *replay =
        replay_open(operands[0], settings_flag(&app->settings, SETTING_LIVE_TOOLS), &error);
    int code = replay && replay_apply_settings(replay, &app->settings, &error)
                   ? replay_all(app, replay)
                   : app_fail(app, &error);
    replay_free(replay);
    return code;
}
