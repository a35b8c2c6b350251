#include "provider/provider.h"

#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "provider/http.h"
#include "provider/offline.h"
#include "provider/profile_pairs.h"
#include "provider/profiles.h"
#include "provider/script.h"

#define BACKOFF_FIRST_MS 500
#define BACKOFF_MOST_MS  10000
/* The longest wait before an attempt, and the longest of all waits of a request together. */
#define WAIT_MOST_MS     60000

/* ---- attempts (D11) ---- */

/* Full jitter: anything up to a limit that doubles with every attempt, so that clients which
 * failed together do not come back together. */
static int64_t backoff_ms(unsigned attempt)
{
    int64_t limit = BACKOFF_FIRST_MS;
    while (--attempt && limit < BACKOFF_MOST_MS)
        limit *= 2;
    if (limit > BACKOFF_MOST_MS)
        limit = BACKOFF_MOST_MS;
    uint32_t dice = 0;
    if (getrandom(&dice, sizeof(dice), GRND_NONBLOCK) != sizeof(dice))
        dice = (uint32_t)clock_ns();
    return (int64_t)dice % (limit + 1);
}

static int64_t wait_before_next(const struct error *error, unsigned attempt)
{
    int64_t wait_ms = error->retry_after_ms >= 0 ? error->retry_after_ms : backoff_ms(attempt);
    return wait_ms < WAIT_MOST_MS ? wait_ms : WAIT_MOST_MS;
}

/* What was shown cannot be taken back, so an attempt that opened a block is final. */
static bool may_retry(const struct client *client, const struct stream *stream, unsigned attempt)
{
    return stream->error.retryable && attempt < client->max_attempts && !stream_has_shown(stream);
}

static void announce(const struct stream *stream, unsigned attempt, int64_t wait_ms)
{
    struct event retry = {
        .kind = EVENT_RETRY,
        .as.retry = {.attempt = attempt, .wait_ms = wait_ms, .reason = &stream->error}};
    timeline_emit(stream->timeline, &retry);
    if (!stream->event_count)
        return;
    struct event reset = {.kind = EVENT_RESET, .as.reset = {.reason = "retry"}};
    timeline_emit(stream->timeline, &reset);
}

/* False when it was cancelled before the time was over. */
static bool wait_for(struct cancel *cancel, int64_t wait_ms)
{
    int64_t until = clock_ms() + wait_ms;
    for (int64_t left = wait_ms; left > 0; left = until - clock_ms()) {
        struct pollfd fd = {.fd = cancel_fd(cancel), .events = POLLIN};
        if (poll(&fd, 1, (int)left) > 0)
            break;
    }
    return !cancel_requested(cancel);
}

static bool cancelled(struct stream *stream)
{
    return error_set(&stream->error, ERROR_CANCELLED, "cancelled");
}

bool client_complete(struct client *client, const struct request *request, struct stream *stream,
                     struct cancel *cancel, int64_t deadline_ms)
{
    int64_t waited_ms = 0;
    for (unsigned attempt = 1;; attempt++) {
        stream_begin(stream);
        if (cancel_requested(cancel))
            return cancelled(stream);
        client->ops->attempt(client, request, stream, cancel, deadline_ms);
        if (stream->error.kind == ERROR_NONE)
            return true;
        if (!may_retry(client, stream, attempt))
            return false;
        int64_t wait_ms = wait_before_next(&stream->error, attempt);
        waited_ms += wait_ms;
        if (waited_ms > WAIT_MOST_MS)
            return false;
        if (deadline_ms >= 0 && clock_ms() + wait_ms >= deadline_ms)
            return false;
        announce(stream, attempt, wait_ms);
        if (!wait_for(cancel, wait_ms))
            return cancelled(stream);
    }
}

/* ---- what cannot be said ---- */

static bool is_set(const struct request_config *config, const char *setting)
{
    const struct {
        const char *name;
        bool set;
    } settings[] = {
        {"max_tokens", config->max_tokens >= 0},
        {"temperature", !isnan(config->temperature)},
        {"top_p", !isnan(config->top_p)},
        {"top_k", config->top_k >= 0},
        {"stop", config->stop && config->stop[0]},
        {"reasoning", config->reasoning != NULL},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        if (strcmp(settings[i].name, setting) == 0)
            return settings[i].set;
    return false;
}

void client_check(const struct client *client, const struct request_config *config,
                  void (*warn)(void *data, const char *line), void *data)
{
    for (size_t i = 0; client->unsupported && client->unsupported[i]; i++) {
        char line[128];
        if (!is_set(config, client->unsupported[i]))
            continue;
        snprintf(line, sizeof(line), "'%s' is not supported by %s and will be ignored",
                 client->unsupported[i], client->provider);
        warn(data, line);
    }
}

void client_prepare(struct client *client, const struct request *request)
{
    if (client->ops->prepare)
        client->ops->prepare(client, request);
}

void client_free(struct client *client)
{
    if (client)
        client->ops->free(client);
}

void toolset_release(struct toolset *tools)
{
    free(tools->items);
    for (size_t i = 0; i < WIRE_COUNT; i++)
        free(tools->wire[i].data);
    *tools = (struct toolset){0};
}

/* ---- making one ---- */

static bool unknown_provider(const struct profiles *profiles, const char *model,
                             struct error *error)
{
    struct text names = TEXT_INIT;
    const struct profile *profile;
    for (size_t i = 0; (profile = profiles_at(profiles, i)); i++)
        text_printf(&names, "%s%s", i ? ", " : "", profile->name);
    error_set(error, ERROR_USAGE,
              "no provider is named in the model '%s'; write PROVIDER/MODEL with one of: %s", model,
              text_cstr(&names));
    text_release(&names);
    return false;
}

/* Splits "PROVIDER/MODEL"; *name becomes NULL for the provider's default. */
static const struct profile *parse_model(const struct client_settings *settings, const char **name,
                                         struct error *error)
{
    const char *model = settings->model;
    if (!model || !*model) {
        error_set(error, ERROR_CONFIG,
                  "no model is named; use -m PROVIDER/MODEL, or -m offline to try without one");
        return NULL;
    }
    size_t length = strcspn(model, "/");
    const struct profile *profile = profiles_find(settings->profiles, model, length);
    if (!profile) {
        unknown_provider(settings->profiles, model, error);
        return NULL;
    }
    *name = model[length] && model[length + 1] ? model + length + 1 : profile->default_model;
    return profile;
}

/* Another server than the usual one; it may need no key. */
static bool is_named_by_hand(const struct client_settings *settings, const struct profile *profile)
{
    const char *named = profile->base_url_env ? getenv(profile->base_url_env) : NULL;
    return settings->base_url || (profile->base_url && named && *named);
}

static bool find_key(const struct client_settings *settings, const struct profile *profile,
                     const char **key, const char **from, struct error *error)
{
    if (!profile_take_key(profile, settings->key, key, from, error))
        return false;
    if (*key && settings->key && settings->key_from)
        *from = settings->key_from;
    else if (!*key)
        *from = profile->key_env;
    if (*key || !profile->key_env || profile->key_is_optional || profile->aws_service ||
        is_named_by_hand(settings, profile))
        return true;
    return error_set(error, ERROR_CONFIG,
                     "no key for '%s'; set %s, or use -m offline to try without a model",
                     profile->name, profile->key_env);
}

static unsigned attempts_of(const struct client_settings *settings)
{
    return settings->retries == UINT_MAX ? UINT_MAX : settings->retries + 1;
}

static struct client *server_client(const struct client_settings *settings,
                                    const struct profile *profile, const char *model,
                                    struct error *error)
{
    struct text base_url = TEXT_INIT;
    struct profile_pairs pairs = {0};
    struct client *client = NULL;
    const char *key, *from;
    if (find_key(settings, profile, &key, &from, error) &&
        profile_base_url(profile, settings->base_url, &base_url, error) &&
        profile_pairs_read(profile, &pairs, error))
        client = http_client_new(
            &(struct http_settings){
                .profile = profile,
                .model = model,
                .base_url = base_url.data,
                .query = pairs.query.data,
                .headers = (const char *const *)pairs.headers,
                .key = key,
                .key_from = from,
                .connect_timeout_ms = settings->connect_timeout_ms,
                .first_byte_timeout_ms = settings->first_byte_timeout_ms,
                .idle_timeout_ms = settings->idle_timeout_ms,
                .response_limit = settings->response_limit,
                .network = settings->network,
                .max_attempts = attempts_of(settings),
            },
            error);
    profile_pairs_release(&pairs);
    text_release(&base_url);
    return client;
}

struct client *client_new(const struct client_settings *settings, struct error *error)
{
    const char *model = NULL;
    const struct profile *profile = parse_model(settings, &model, error);
    if (!profile)
        return NULL;
    if (strcmp(profile->name, "offline") == 0)
        return offline_client_new(error);
    if (!model) {
        error_set(error, ERROR_USAGE, "'%s' names no model; write %s/%s", settings->model,
                  profile->name, strcmp(profile->name, "script") == 0 ? "FILE" : "MODEL");
        return NULL;
    }
    struct client *client = strcmp(profile->name, "script") == 0
                                ? script_client_new(model, error)
                                : server_client(settings, profile, model, error);
    if (client) {
        client->max_attempts = attempts_of(settings);
        client->parts = profile_part_rules(profile, model, settings->images);
    }
    return client;
}
