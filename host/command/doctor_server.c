/* doctor_server - the model, and everything between here and its server. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/suggest.h"
#include "command/doctor.h"
#include "command/model.h"
#include "command/server.h"
#include "provider/http_host.h"

/* Beyond this a signed request is refused, and soon a certificate is not valid yet, or any more. */
enum { MAX_SKEW_SECONDS = 60 };

/* ---- on the way ---- */

static void check_proxy(struct doctor *doctor, const struct http_network *network, const char *url)
{
    struct http_proxy proxy;
    http_proxy_find(&proxy, network, url);
    if (!proxy.from || http_is_here(url))
        doctor_tell(doctor, FINDING_OK, "proxy", NULL, "none%s",
                    proxy.from ? ": the server is on this machine" : "");
    else
        doctor_tell(doctor, FINDING_OK, "proxy", NULL, "%s: %s, but not for %s", proxy.from,
                    text_cstr(&proxy.name), text_cstr(&network->no_proxy));
    http_proxy_release(&proxy);
}

static void check_certificates(struct doctor *doctor, const struct http_network *network)
{
    const char *file = text_cstr(&network->ca_file);
    const char *directory = text_cstr(&network->ca_directory);
    const char *bad = *file && access(file, R_OK) != 0             ? file
                      : *directory && access(directory, R_OK) != 0 ? directory
                                                                   : NULL;
    char advice[64];
    snprintf(advice, sizeof(advice), "check %s",
             network->ca_from ? network->ca_from : "its rights");
    if (bad)
        doctor_tell(doctor, FINDING_PROBLEM, "certificates", advice, "'%s' cannot be read", bad);
    else if (*file || *directory)
        doctor_tell(doctor, FINDING_OK, "certificates", NULL, "those of '%s'%s%s%s",
                    *file ? file : directory, *file && *directory ? " and '" : "",
                    *file && *directory ? directory : "", *file && *directory ? "'" : "");
    else
        doctor_tell(doctor, FINDING_WARNING, "certificates", "install ca-certificates",
                    "none found in the usual places; libcurl looks where it was built to");
}

static void check_network(struct doctor *doctor, const char *url)
{
    const struct network_settings settings = app_network(&doctor->app->settings);
    struct http_network network = {0};
    struct error error;
    const struct curl_api *api = curl_api(&error);
    if (!api || !http_network_init(&network, api, &settings, &error)) {
        doctor_fail(doctor, "network", &error, "correct the configuration");
    } else {
        check_proxy(doctor, &network, url);
        if (strncasecmp(url, "https:", 6) == 0)
            check_certificates(doctor, &network);
    }
    http_network_release(&network);
}

/* On this machine nobody is on the way. */
static void check_secrecy(struct doctor *doctor, const struct server *server)
{
    const char *url = text_cstr(&server->base_url);
    if (server->key && strncasecmp(url, "http:", 5) == 0 && !http_is_here(url))
        doctor_tell(doctor, FINDING_WARNING, "key", "use an https base URL if the server has one",
                    "the key in %s is sent without TLS, so whoever is on the way can read it",
                    server->key_from);
}

static void check_clock(struct doctor *doctor, time_t date)
{
    if (date == -1)
        return;
    long long ahead = (long long)(time(NULL) - date);
    if (llabs(ahead) > MAX_SKEW_SECONDS)
        doctor_tell(doctor, FINDING_WARNING, "clock", "set it, or let NTP do that",
                    "this machine's is %lld s %s the server's", llabs(ahead),
                    ahead > 0 ? "ahead of" : "behind");
    else
        doctor_tell(doctor, FINDING_OK, "clock", NULL, "as the server's, to %lld s", llabs(ahead));
}

/* ---- at the server ---- */

/* Many servers know a model by a shorter name too: "llama3.2" is "llama3.2:latest". */
static bool is_listed(const struct model_list *list, const char *model)
{
    size_t length = strlen(model);
    for (size_t i = 0; i < list->count; i++) {
        const char *id = list->items[i].id;
        if (strncmp(id, model, length) == 0 && (!id[length] || strchr(":-@", id[length])))
            return true;
    }
    return false;
}

static void check_listed(struct doctor *doctor, const struct model_list *list,
                         const struct profile *profile, const char *model)
{
    struct suggestion suggestion;
    char advice[400];
    if (list->count == 0 || is_listed(list, model))
        return;
    suggestion_begin(&suggestion, model);
    for (size_t i = 0; i < list->count; i++)
        suggestion_consider(&suggestion, list->items[i].id);
    if (suggestion.best)
        snprintf(advice, sizeof(advice), "did you mean '%s/%s'?", profile->name, suggestion.best);
    else
        snprintf(advice, sizeof(advice), "`mortise models %s` lists them", profile->name);
    doctor_tell(doctor, FINDING_WARNING, "model", advice, "'%s' is not among the server's models",
                model);
}

static void tell_refusal(struct doctor *doctor, const struct error *error)
{
    const char *advice = error->kind == ERROR_AUTH     ? "put a key there that is good"
                         : error->kind == ERROR_CONFIG ? "correct the base URL"
                                                       : "try again later, or name another model";
    if (error->status == 404 || error->status == 405 || error->status == 501)
        doctor_tell(doctor, FINDING_WARNING, "server", "check the base URL if a run fails",
                    "it answers, but lists no models (HTTP %d)", error->status);
    else
        doctor_fail(doctor, "server", error, advice);
}

static void check_server(struct doctor *doctor, const struct server *server, const char *model)
{
    struct model_list list = {0};
    struct http_get *get = NULL;
    struct error error;
    if (!server->profile->wire->models) {
        doctor_tell(doctor, FINDING_OK, "server", NULL, "%s is not asked: it has no list of models",
                    server->profile->name);
        return;
    }
    int64_t start_ms = clock_ms();
    bool ok = server_models(server, doctor->app, &list, &get, &error);
    if (ok)
        doctor_tell(doctor, FINDING_OK, "server", NULL,
                    "'%s' answers within %lld ms and lists %zu model%s", http_get_host(get),
                    (long long)(clock_ms() - start_ms), list.count, list.count == 1 ? "" : "s");
    else
        tell_refusal(doctor, &error);
    if (ok)
        check_listed(doctor, &list, server->profile, model);
    if (get)
        check_clock(doctor, http_get_date(get));
    http_get_free(get);
    model_list_release(&list);
}

static void check_way(struct doctor *doctor, const struct profile *profile, const char *model)
{
    struct server server;
    struct error error;
    if (!server_init(&server, doctor->app, profile, &error)) {
        doctor_fail(doctor, "server", &error, "correct the configuration");
        return;
    }
    const char *url = text_cstr(&server.base_url);
    check_network(doctor, url);
    check_secrecy(doctor, &server);
    check_server(doctor, &server, model);
    server_release(&server);
}

/* ---- the model ---- */

/* Everything that a run would say before it sends anything. */
static bool is_usable(struct doctor *doctor, const char *model)
{
    struct error error;
    struct client *client = model_client(doctor->app, model, &error);
    bool usable = client != NULL;
    if (!usable)
        doctor_fail(doctor, "model", &error, "name another one with -m");
    client_free(client);
    return usable;
}

static void tell_model(struct doctor *doctor, const char *model, const char *where)
{
    const char *named = settings_text(&doctor->app->settings, SETTING_MODEL);
    enum setting_source source = doctor->app->settings.values[SETTING_MODEL].source;
    if (named)
        doctor_tell(doctor, FINDING_OK, "model", NULL, "'%s' (%s)", model,
                    setting_source_name(source));
    else if (*where)
        doctor_tell(doctor, FINDING_OK, "model", NULL,
                    "'%s' on %s, because none is named and no key is set", model, where);
    else
        doctor_tell(doctor, FINDING_OK, "model", NULL,
                    "'%s', because none is named and its key is set", model);
}

void doctor_server(struct doctor *doctor)
{
    struct text model = TEXT_INIT;
    struct text where = TEXT_INIT;
    struct error error;
    if (!model_find(doctor->app, &model, &where, &error)) {
        doctor_fail(doctor, "model", &error, "name another one with -m");
    } else if (is_usable(doctor, model.data)) {
        const struct profile *profile =
            profiles_find(doctor->app->profiles, model.data, strcspn(model.data, "/"));
        const char *slash = strchr(model.data, '/');
        tell_model(doctor, model.data, text_cstr(&where));
        if (profile && profile->wire)
            check_way(doctor, profile, slash && slash[1] ? slash + 1 : profile->default_model);
    }
    text_release(&model);
    text_release(&where);
}
