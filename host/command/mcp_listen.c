#include "command/mcp_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/file.h"
#include "base/secret.h"
#include "mcp/http_check.h"

#define TOKEN_VARIABLE "MORTISE_MCP_TOKEN"
#define TOKEN_MAX      4096

/* For calls to end by themselves, and for what is left to be sent. */
enum { END_GRACE_MS = 500, LAST_GRACE_MS = 400 };

enum { THREAD_MAX = 256, PATIENCE_MIN_MS = 100 };

/* ---- the token ---- */

/* What others can read is no secret. */
static bool read_token_file(const char *path, struct text *token, struct error *error)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        error_set(error, ERROR_CONFIG, "cannot read '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool read = !(status.st_mode & (S_IRWXG | S_IRWXO));
    if (read)
        read = file_read_fd(fd, path, TOKEN_MAX, token, error);
    else
        error_set(error, ERROR_CONFIG, "'%s' can be read by others; say 'chmod 600 %s'", path,
                  path);
    close(fd);
    while (token->length && strchr(" \r\n", token->data[token->length - 1]))
        token->data[--token->length] = '\0';
    return read;
}

bool mcp_listen_prepare(struct mcp_listen *listen, struct app *app, struct error *error)
{
    const char *path = settings_text(&app->settings, SETTING_TOKEN_FILE);
    const char *value = environment_get(TOKEN_VARIABLE);
    struct text *token = &listen->token;
    if (!settings_text(&app->settings, SETTING_HTTP))
        return true;
    if (path && !read_token_file(path, token, error))
        return false;
    if (!path && value)
        text_puts(token, value);
    unsetenv(TOKEN_VARIABLE);
    if (!path && !value)
        return true;
    if (!http_token_check(text_cstr(token), token->length, path ? path : TOKEN_VARIABLE, error))
        return false;
    return (!token->failed && secret_add(token->data, token->length)) || error_memory(error);
}

void mcp_listen_release(struct mcp_listen *listen)
{
    text_wipe(&listen->token);
}

/* ---- listening ---- */

bool mcp_listen_start(struct mcp_listen *listen, struct app *app, struct mcp_server *server,
                      struct error *error)
{
    int64_t patience_ms = app_milliseconds(app, SETTING_HTTP_TIMEOUT, 30000);
    const struct mcp_http_setting setting = {
        .server = server,
        .address = settings_text(&app->settings, SETTING_HTTP),
        .token = listen->token.length ? listen->token.data : NULL,
        .is_public = settings_flag(&app->settings, SETTING_HTTP_PUBLIC),
        .body_max = (size_t)settings_whole(&app->settings, SETTING_MESSAGE_LIMIT, 0),
        .patience_ms = patience_ms > PATIENCE_MIN_MS ? patience_ms : PATIENCE_MIN_MS,
        .thread_max = THREAD_MAX,
    };
    listen->http = mcp_http_start(&setting, error);
    if (listen->http && !settings_flag(&app->settings, SETTING_QUIET))
        dprintf(STDERR_FILENO, "mortise: listening on %s\n", mcp_http_url(listen->http));
    return listen->http;
}

bool mcp_listen_end(struct mcp_listen *listen, struct mcp_server *server)
{
    if (!listen->http)
        return true;
    mcp_http_close(listen->http, END_GRACE_MS);
    mcp_server_stop(server);
    return mcp_http_free(listen->http, LAST_GRACE_MS) == 0;
}
