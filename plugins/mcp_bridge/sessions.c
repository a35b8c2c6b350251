/*
 * Which sessions there are, and who has them.  The table is this object's, not that of one load of
 * the plugin: a load that follows another finds the servers that run.
 */
#include "session_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mortise/tool.h>

#include "cache.h"
#include "pause.h"
#include "thread.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *table;

/* ---- life of one ---- */

static struct session *make(struct server_config *config)
{
    struct session *session = calloc(1, sizeof(*session));
    int stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!session || stop < 0) {
        free(session);
        if (stop >= 0)
            close(stop);
        return NULL;
    }
    session->config = config_ref(config);
    session->stop = stop;
    session->listing = cache_read(config->key);
    pthread_mutex_init(&session->lock, NULL);
    thread_news_init(&session->news);
    return session;
}

static void end(struct session *session)
{
    if (session->has_keeper)
        pthread_join(session->keeper, NULL);
    while (session->owners) {
        struct owner *owner = session->owners;
        session->owners = owner->next;
        listing_unref(owner->shown);
        free(owner);
    }
    close(session->stop);
    listing_unref(session->listing);
    free(session->server);
    config_unref(session->config);
    pthread_cond_destroy(&session->news);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

/* ---- the table ---- */

static struct session *find_or_make_locked(struct server_config *config)
{
    struct session *session = table;
    while (session && strcmp(session->config->key, config->key) != 0)
        session = session->next;
    if (!session && (session = make(config))) {
        session->next = table;
        table = session;
    }
    return session;
}

static void remove_locked(struct session *session)
{
    struct session **place = &table;
    while (*place != session)
        place = &(*place)->next;
    *place = session->next;
}

struct session *session_take(struct server_config *config, const mortise_host *host)
{
    struct owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return NULL;
    pthread_mutex_lock(&table_lock);
    struct session *session = find_or_make_locked(config);
    if (session) {
        session->refs++;
        owner->host = host;
        pthread_mutex_lock(&session->lock);
        owner->next = session->owners;
        session->owners = owner;
        pthread_mutex_unlock(&session->lock);
    } else {
        free(owner);
    }
    pthread_mutex_unlock(&table_lock);
    return session;
}

/* Takes the host out of use: whoever uses it is interrupted, and waited for. */
static void leave(struct session *session, const mortise_host *host)
{
    struct owner **place = &session->owners;
    pthread_mutex_lock(&session->lock);
    while (*place && (*place)->host != host)
        place = &(*place)->next;
    struct owner *owner = *place;
    if (owner) {
        owner->is_leaving = true;
        if (owner->uses > 0)
            keeper_interrupt_locked(session);
        while (owner->uses > 0)
            pthread_cond_wait(&session->news, &session->lock);
        keeper_go_on_locked(session);
        for (place = &session->owners; *place != owner;)
            place = &(*place)->next; /* others may have come */
        *place = owner->next;
        listing_unref(owner->shown);
        free(owner);
    }
    pthread_mutex_unlock(&session->lock);
}

/* True: it was the last who has it, and the session is out of the table. */
static bool is_last(struct session *session)
{
    pthread_mutex_lock(&table_lock);
    bool is_it = --session->refs == 0;
    if (is_it)
        remove_locked(session);
    pthread_mutex_unlock(&table_lock);
    return is_it;
}

void sessions_give(struct session **sessions, size_t count, const mortise_host *host)
{
    for (size_t i = 0; i < count; i++) {
        if (is_last(sessions[i])) {
            keeper_stop(sessions[i]);
        } else {
            leave(sessions[i], host);
            sessions[i] = NULL;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (sessions[i])
            end(sessions[i]);
}

/* ---- starting ---- */

void session_start(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->is_wanted = true;
    keeper_start_locked(session);
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

void session_wait(struct session *session, int64_t began_ms, mortise_call *call)
{
    int64_t until_ms = began_ms + session->config->limits.connect_ms;
    pthread_mutex_lock(&session->lock);
    unsigned attempts = session->attempts;
    while ((session->state == STATE_IDLE || session->state == STATE_STARTING ||
            (session->state == STATE_DOWN && session->attempts == attempts)) &&
           session->has_keeper && pause_now_ms() < until_ms && !(call && mortise_cancelled(call)))
        thread_sleep_locked(&session->news, &session->lock, until_ms);
    pthread_mutex_unlock(&session->lock);
}

/* ---- what is known ---- */

struct listing *session_peek(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    struct listing *listing = session->listing ? listing_ref(session->listing) : NULL;
    pthread_mutex_unlock(&session->lock);
    return listing;
}

struct listing *session_listing(struct session *session, const mortise_host *host)
{
    struct listing *listing = NULL;
    pthread_mutex_lock(&session->lock);
    struct owner *owner = session->owners;
    while (owner && owner->host != host)
        owner = owner->next;
    if (session->listing)
        listing = listing_ref(session->listing);
    if (owner) {
        listing_unref(owner->shown);
        owner->shown = listing ? listing_ref(listing) : NULL;
        owner->has_shown = true;
    }
    pthread_mutex_unlock(&session->lock);
    return listing;
}

static const char *name_of(enum session_state state)
{
    static const char *const names[] = {"idle", "starting", "ready", "down", "given up"};
    return names[state];
}

void session_describe(struct session *session, struct buffer *out)
{
    pthread_mutex_lock(&session->lock);
    const struct listing *listing = session->listing;
    bool is_open = session->state == STATE_READY && !session->is_dead;
    bool is_known = is_open || listing != NULL;
    bool is_modern = is_open ? session->is_modern : listing && listing->is_modern;
    const char *version = is_open ? session->version : listing ? listing->version : "";
    const char *server = is_open ? session->server : listing ? listing->server : NULL;
    buffer_puts(out, "\"name\":");
    buffer_quote(out, session->config->name, strlen(session->config->name));
    buffer_printf(out, ",\"transport\":\"%s\",\"state\":\"%s\"",
                  session->config->is_http ? "http" : "stdio",
                  session->state == STATE_READY && !is_open ? "down" : name_of(session->state));
    if (is_known) {
        buffer_printf(out, ",\"era\":\"%s\",\"version\":", is_modern ? "modern" : "legacy");
        buffer_quote(out, version, strlen(version));
    }
    if (server)
        buffer_printf(out, ",\"server\":%s", server);
    if (is_open)
        buffer_printf(out, ",\"ms\":%" PRId64, session->ready_ms - session->begin_ms);
    if (!is_open && session->reason[0]) {
        buffer_puts(out, ",\"problem\":");
        buffer_quote(out, session->reason, strlen(session->reason));
    }
    pthread_mutex_unlock(&session->lock);
}
