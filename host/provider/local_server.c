#include "provider/local_server.h"

#include <fnmatch.h>
#include <string.h>

#include "base/log.h"
#include "provider/http_host.h"
#include "provider/listener.h"

/* Where nobody listens the kernel says so at once; this is for one who does and is slow. */
enum { TRY_MS = 1000 };

/* Models that make vectors or sort texts, by how they are called. */
static const char *const not_for_talking[] = {"*embed*",  "*minilm*",  "*bge-*",
                                              "*rerank*", "*whisper*", NULL};

/* Without a connection, and without loading what is needed for one.  Who listens on a socket that
 * has a path is not known, so it is used when it is named only. */
static bool is_there(const char *url)
{
    unsigned port = http_is_here(url) ? http_port(url) : 0;
    return port && listener_is_trusted(port);
}

static bool ask(struct local_server *server, const char *url)
{
    struct error error;
    const struct http_get_settings settings = {
        .profile = server->profile, .base_url = url, .timeout_ms = TRY_MS};
    struct http_get *get = http_get_new(&settings, &error);
    bool answered = get && models_read(get, server->profile, &server->models, &error);
    if (answered)
        text_puts(&server->address, http_get_host(get));
    else
        log_debug("%s: %s", server->profile->name, error.message);
    http_get_free(get);
    return answered && !server->address.failed;
}

bool local_server_try(const struct profile *profile, struct local_server *server)
{
    struct text url = TEXT_INIT;
    struct error error;
    *server = (struct local_server){.profile = profile};
    bool found = profile_base_url(profile, NULL, &url, &error) && is_there(url.data) &&
                 ask(server, url.data);
    text_release(&url);
    if (found)
        return true;
    local_server_release(server);
    return false;
}

static bool talks(const char *id)
{
    for (size_t i = 0; not_for_talking[i]; i++)
        if (fnmatch(not_for_talking[i], id, FNM_CASEFOLD) == 0)
            return false;
    return true;
}

const char *local_server_model(const struct local_server *server)
{
    const struct model *best = NULL;
    for (size_t i = 0; i < server->models.count; i++) {
        const struct model *model = &server->models.items[i];
        if (talks(model->id) && (!best || model->created > best->created))
            best = model;
    }
    return best ? best->id : NULL;
}

bool local_server_find(const struct profiles *profiles, struct local_server *server)
{
    const struct profile *profile;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++) {
        if (!profile->is_tried || !local_server_try(profile, server))
            continue;
        if (local_server_model(server))
            return true;
        local_server_release(server);
    }
    return false;
}

void local_server_release(struct local_server *server)
{
    text_release(&server->address);
    model_list_release(&server->models);
}
