/*
 * mcp serve: the loaded tools, for clients of the Model Context Protocol on standard input and
 * output, or over HTTP.
 *
 * The streams of the protocol are moved away before anything else happens: what a plugin prints
 * goes to standard error, and what it reads from standard input is empty.  This thread keeps house
 * (signals, the end of the input, plugins that change) while others serve.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "command/account.h"
#include "command/app_context.h"
#include "command/command.h"
#include "command/mcp.h"
#include "command/mcp_listen.h"
#include "command/plugin_reload.h"
#include "command/signals.h"
#include "mcp/stdio.h"

/* How long calls may go on: after the end of the input, once they were cancelled, and at last. */
enum { END_GRACE_MS = 1000, STOP_GRACE_MS = 400, LAST_GRACE_MS = 100 };
enum { PAGE_SIZE = 500 };

struct serve {
    struct app *app;
    int in, out; /* the protocol's */
    struct plugin_set *plugins;
    struct plugin_watch *watch; /* or NULL */
    struct app_context caller;
    struct cancel *cancel; /* SIGINT and SIGTERM trigger it */
    struct mcp_server *server;
    struct mcp_stdio *stdio;  /* or NULL, and … */
    struct mcp_listen listen; /* … the other way */
};

/* ---- the streams ---- */

/* Nobody who does not read may hold up the server: what is full says so.  Where a pipe can be
 * opened once more that is true of this process alone. */
static void never_wait_for(int fd, int flags)
{
    struct stat status;
    char path[32];
    if (fstat(fd, &status) != 0)
        return;
    if (S_ISFIFO(status.st_mode)) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        int again = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (again >= 0) {
            dup3(again, fd, flags);
            close(again);
        }
    } else if (S_ISSOCK(status.st_mode)) {
        int now = fcntl(fd, F_GETFL);
        if (now >= 0)
            fcntl(fd, F_SETFL, now | O_NONBLOCK);
    }
}

static bool move_streams(struct serve *serve, struct error *error)
{
    serve->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    serve->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    never_wait_for(STDERR_FILENO, 0);
    if (serve->out >= 0)
        never_wait_for(serve->out, O_CLOEXEC);
    bool moved = serve->in >= 0 && serve->out >= 0 && nothing >= 0 &&
                 dup2(nothing, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    int reason = errno;
    if (nothing >= 0)
        close(nothing);
    return moved || error_set(error, ERROR_INTERNAL, "cannot move standard input and output: %s",
                              strerror(reason));
}

/* ---- beginning ---- */

/* A large message is to take memory only while it is there: without this, blocks as large as one that
 * was freed come from the heap from then on, and that never shrinks. */
static void give_back_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
}

/* Plugins are watched unless somebody said no. */
static bool watches(const struct app *app)
{
    return app->settings.values[SETTING_WATCH].source <= SOURCE_DEFAULT ||
           settings_flag(&app->settings, SETTING_WATCH);
}

static bool load_plugins(struct serve *serve, struct error *error)
{
    struct app *app = serve->app;
    serve->plugins = app_plugins(app, watches(app) ? &serve->watch : NULL, error);
    if (!serve->plugins)
        return false;
    struct registry *registry = plugin_set_registry(serve->plugins);
    app_check_globs(app, registry);
    registry_unref(registry);
    return true;
}

static bool start(struct serve *serve, struct error *error)
{
    struct app *app = serve->app;
    if (settings_text(&app->settings, SETTING_HTTP))
        return mcp_listen_start(&serve->listen, app, serve->server, error);
    const struct mcp_stdio_setting setting = {
        .server = serve->server,
        .in = serve->in,
        .out = serve->out,
        .hurry_fd = cancel_fd(serve->cancel),
        .line_max = (size_t)settings_whole(&app->settings, SETTING_MESSAGE_LIMIT, 0),
    };
    serve->stdio = mcp_stdio_new(&setting, error);
    return serve->stdio;
}

static bool begin(struct serve *serve, struct error *error)
{
    struct app *app = serve->app;
    give_back_large_blocks();
    if (!move_streams(serve, error) || !mcp_listen_prepare(&serve->listen, app, error))
        return false;
    serve->cancel = cancel_new();
    if (!serve->cancel)
        return error_memory(error);
    signals_watch(serve->cancel);
    signals_take_hangup();
    if (!load_plugins(serve, error) || !app_context_init(&serve->caller, app, error))
        return false;
    serve->caller.context.session = settings_text(&app->settings, SETTING_SESSION);
    const struct mcp_setting setting = {
        .plugins = serve->plugins,
        .context = &serve->caller.context,
        .offered = app_offers,
        .offered_data = app,
        .timeout_ms = app_milliseconds(app, SETTING_TIMEOUT, -1),
        .page_size = PAGE_SIZE,
    };
    serve->server = mcp_server_new(&setting, error);
    return serve->server && start(serve, error);
}

/* ---- keeping house ---- */

static void tell(void *data, const char *line, bool is_failure)
{
    (void)data;
    log_line(is_failure ? LOG_WARNING : LOG_NOTE, "reload: %s", line);
}

static void reload(struct serve *serve)
{
    bool any;
    plugin_reload(serve->app, serve->plugins, false, tell, NULL, &any);
    mcp_server_reloaded(serve->server);
}

static void keep_house(struct serve *serve)
{
    struct pollfd fds[] = {
        {serve->stdio ? mcp_stdio_end_fd(serve->stdio) : -1, POLLIN, 0},
        {cancel_fd(serve->cancel), POLLIN, 0},
        {signals_reload_fd(), POLLIN, 0},
        {serve->watch ? plugin_watch_fd(serve->watch) : -1, POLLIN, 0},
        {plugin_set_wake_fd(serve->plugins), POLLIN, 0},
    };
    for (;;) {
        poll(fds, sizeof(fds) / sizeof(*fds), mcp_server_tend(serve->server));
        if (cancel_requested(serve->cancel) || fds[0].revents)
            return;
        bool is_due = serve->watch && plugin_watch_due(serve->watch);
        if (signals_reload_asked() || is_due || plugin_set_is_asked(serve->plugins))
            reload(serve);
    }
}

/* ---- ending ---- */

static void keep_account(const struct serve *serve)
{
    struct account_news news;
    struct registry *registry = plugin_set_registry(serve->plugins);
    account_news_take(&news, registry);
    account_news_keep(&news, serve->app);
    account_news_release(&news);
    registry_unref(registry);
}

/* False: calls go on, with all that they use. */
static bool end_serving(struct serve *serve)
{
    bool is_asked = cancel_requested(serve->cancel);
    if (!serve->stdio)
        return mcp_listen_end(&serve->listen, serve->server);
    if (is_asked || !mcp_stdio_finish(serve->stdio, END_GRACE_MS)) {
        mcp_server_stop(serve->server);
        mcp_stdio_finish(serve->stdio, STOP_GRACE_MS);
    } else {
        mcp_server_stop(serve->server);
    }
    return mcp_stdio_free(serve->stdio, LAST_GRACE_MS);
}

static void release(struct serve *serve)
{
    bool is_free = end_serving(serve);
    if (serve->plugins)
        keep_account(serve);
    signals_forget(serve->cancel);
    if (!is_free)
        return;
    mcp_server_free(serve->server);
    plugin_watch_free(serve->watch);
    plugin_set_free(serve->plugins);
    app_context_release(&serve->caller);
    mcp_listen_release(&serve->listen);
    cancel_unref(serve->cancel);
    if (serve->in >= 0)
        close(serve->in);
    if (serve->out >= 0)
        close(serve->out);
}

int mcp_serve_command(struct app *app, int count, char **operands)
{
    static struct serve serve; /* outlives calls that are left behind */
    struct error error;
    serve = (struct serve){.app = app, .in = -1, .out = -1};
    (void)operands;
    if (count > 0)
        return command_usage(app, "mcp", "'mcp serve' takes no words");
    int code = EXIT_FINISHED;
    if (begin(&serve, &error))
        keep_house(&serve);
    else
        code = app_fail(app, &error);
    release(&serve);
    return signals_received() ? 128 + signals_received() : code;
}
