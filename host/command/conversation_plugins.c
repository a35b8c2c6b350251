#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "command/conversation.h"
#include "command/signals.h"

/* ---- loading ---- */

bool conversation_load_plugins(struct conversation *c, struct error *error)
{
    if (c->replay && !replay_is_live(c->replay))
        return true;
    bool watches = settings_flag(&c->app->settings, SETTING_WATCH);
    c->plugins = app_plugins(c->app, watches ? &c->watch : NULL, error);
    if (!c->plugins)
        return false;
    struct registry *registry = plugin_set_registry(c->plugins);
    app_check_globs(c->app, registry);
    registry_unref(registry);
    return true;
}

void conversation_release_plugins(struct conversation *c)
{
    if (c->wake_fd >= 0)
        close(c->wake_fd);
    plugin_watch_free(c->watch);
    plugin_set_free(c->plugins);
}

/* ---- a reload ---- */

/* The worker gets what it may have; between two requests that is the same as between runs. */
static void hand_over(struct conversation *c, plugin_reload_tell *tell, void *data)
{
    struct registry *registry = plugin_set_registry(c->plugins);
    struct error error;
    if (registry != worker_registry(c->worker) && !worker_set_registry(c->worker, registry, &error))
        tell(data,
             worker_state(c->worker) == WORKER_CACHE_LOCKED
                 ? "the session is locked: it keeps its tools until it is unlocked"
                 : error.message,
             false);
    registry_unref(registry);
}

/* Whether a change was told. */
static bool reload(struct conversation *c, bool repeats, plugin_reload_tell *tell, void *data)
{
    bool any;
    if (plugin_reload(c->app, c->plugins, repeats, tell, data, &any))
        hand_over(c, tell, data);
    return any;
}

void conversation_reload(struct conversation *c, plugin_reload_tell *tell, void *data)
{
    if (!reload(c, true, tell, data))
        tell(data, "nothing changed", false);
}

/* ---- a reload that nobody waits for ---- */

/* A front end shows status events, but not every one shows them always. */
static void tell_status(void *data, const char *line, bool is_failure)
{
    struct conversation *c = data;
    struct text text = TEXT_INIT;
    text_printf(&text, "reload: %s", line);
    if (is_failure)
        log_warning("%s", text_cstr(&text));
    if (!is_failure || c->app->json)
        timeline_emit(worker_timeline(c->worker),
                      &(struct event){.kind = EVENT_STATUS,
                                      .as.status.text = {text_cstr(&text), text.length}});
    text_release(&text);
}

bool conversation_reload_is_due(void *conversation)
{
    struct conversation *c = conversation;
    bool asked = signals_reload_asked();
    c->reload_asked |= asked;
    bool is_due = c->watch && plugin_watch_due(c->watch);
    return is_due || asked || (c->plugins && plugin_set_is_asked(c->plugins));
}

void conversation_reload_due(void *conversation)
{
    struct conversation *c = conversation;
    if (!reload(c, c->reload_asked, tell_status, c) && c->reload_asked)
        tell_status(c, "nothing changed", false);
    c->reload_asked = false;
}

int conversation_wake_fd(struct conversation *c)
{
    const int fds[] = {signals_reload_fd(), c->watch ? plugin_watch_fd(c->watch) : -1,
                       c->plugins ? plugin_set_wake_fd(c->plugins) : -1};
    if (c->wake_fd >= 0)
        return c->wake_fd;
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
        struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fds[i]}};
        if (fds[i] >= 0 && c->wake_fd < 0)
            c->wake_fd = epoll_create1(EPOLL_CLOEXEC);
        if (fds[i] >= 0)
            epoll_ctl(c->wake_fd, EPOLL_CTL_ADD, fds[i], &event);
    }
    return c->wake_fd;
}

struct registry *conversation_latest(void *conversation)
{
    struct conversation *c = conversation;
    if (!c->plugins)
        return replay_registry(c->replay);
    if (conversation_reload_is_due(c) || (c->watch && plugin_watch_changed(c->watch)))
        conversation_reload_due(c);
    return plugin_set_registry(c->plugins);
}
