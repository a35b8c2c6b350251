/* The thread of a session: starts its server, looks after it, and starts it again. */
#include "session_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mortise/tool.h>

#include "cache.h"
#include "pause.h"
#include "thread.h"

enum {
    FAILURES_MAX = 5, /* in a row */
    BACKOFF_MAX_MS = 30000,
    LASTING_MS = 10000, /* a server that ran so long has not failed */
    EAR_MS = 1000,      /* before a stream of changes is opened again; doubled each time … */
    EAR_MAX_MS = 60000,
    CHANGES_MAX = 5, /* of a list, until it is read less and less often … */
    CHANGES_MAX_MS = 60000,
    CALM_MS = 120000 /* … and without a change for so long, often again */
};

static bool is_stopping(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    bool is_it = session->is_stopping;
    pthread_mutex_unlock(&session->lock);
    return is_it;
}

/* What was asked since then did not fail, and is asked again at once. */
static bool was_interrupted(struct session *session, unsigned before)
{
    pthread_mutex_lock(&session->lock);
    bool was = session->interruptions != before;
    pthread_mutex_unlock(&session->lock);
    return was;
}

/* ---- what changes, over HTTP: a stream of its own, and so a thread ---- */

/* False: there is no such stream, or none any more. */
static bool listen_once(struct session *session, struct link *link)
{
    struct buffer text = BUFFER_INIT;
    char problem[1024];
    pthread_mutex_lock(&session->lock);
    struct owner *owner = session_use_host_locked(session);
    struct link_message message = {.method = "subscriptions/listen",
                                   .version = session->version,
                                   .is_modern = session->is_modern,
                                   .is_request = session->is_modern,
                                   .host = owner ? owner->host : NULL,
                                   .stop_fd = session->stop,
                                   .timeout_ms = -1};
    int64_t id = ++session->last_id;
    pthread_mutex_unlock(&session->lock);
    rpc_write(&text,
              &(struct rpc_request){.id = id,
                                    .method = message.method,
                                    .members = "\"notifications\":{\"toolsListChanged\":true}",
                                    .is_modern = true});
    if (message.is_modern) {
        message.json = text.text;
        message.length = text.length;
    } else {
        message.method = NULL;
    }
    mortise_status status = MORTISE_FAILED;
    if (owner && !text.failed)
        status = link->face->send(link, &message, problem, sizeof(problem));
    buffer_release(&text);
    if (status == MORTISE_NOT_FOUND)
        session_lose(session, problem);
    pthread_mutex_lock(&session->lock);
    session_leave_host_locked(session, owner);
    pthread_mutex_unlock(&session->lock);
    return status != MORTISE_UNSUPPORTED && status != MORTISE_DENIED && status != MORTISE_NOT_FOUND;
}

static void *hear(void *data)
{
    struct session *session = data;
    int64_t pause_ms = EAR_MS;
    bool is_good = true;
    pthread_mutex_lock(&session->lock);
    while (is_good && !session->is_dead && !session->is_stopping && !session->is_closing) {
        struct link *link = session->link;
        int64_t began_ms = pause_now_ms();
        pthread_mutex_unlock(&session->lock);
        is_good = listen_once(session, link);
        pthread_mutex_lock(&session->lock);
        pause_ms = pause_now_ms() - began_ms > LASTING_MS ? EAR_MS : pause_ms;
        int64_t until_ms = pause_now_ms() + pause_ms;
        while (is_good && !session->is_dead && !session->is_stopping && !session->is_closing &&
               pause_now_ms() < until_ms)
            thread_sleep_locked(&session->news, &session->lock, until_ms);
        pause_ms = pause_ms * 2 < EAR_MAX_MS ? pause_ms * 2 : EAR_MAX_MS;
        if (is_good && !session->changed_ms)
            session->changed_ms = pause_now_ms(); /* who did not listen may have missed something */
        pthread_cond_broadcast(&session->news);
    }
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

/* Over pipes it is a request that is answered at the end of the server, so nobody waits for it. */
static void listen_there(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    bool waits = session->link->face->waits, is_modern = session->is_modern;
    bool is_wanted = session->tells_changes && (waits || is_modern);
    int64_t id = ++session->last_id;
    if (is_wanted && waits)
        session->has_ear = thread_start(&session->ear, hear, session) == 0;
    pthread_mutex_unlock(&session->lock);
    if (!is_wanted || waits)
        return;
    struct buffer text = BUFFER_INIT;
    rpc_write(&text,
              &(struct rpc_request){.id = id,
                                    .method = "subscriptions/listen",
                                    .members = "\"notifications\":{\"toolsListChanged\":true}",
                                    .is_modern = true});
    const struct link_message message = {
        .json = text.text, .length = text.length, .is_modern = true};
    if (!text.failed)
        session_post(session, &message);
    buffer_release(&text);
}

/* ---- the list ---- */

static bool is_other(const struct listing *a, const struct listing *b)
{
    return strcmp(a->tools, b->tools) != 0;
}

/* Each change has the host load the plugin anew: a server whose list is never the same twice, such
 * as one whose tools are those of this mortise, does not keep it busy. */
static void count_change_locked(struct session *session)
{
    int64_t now_ms = pause_now_ms();
    if (now_ms - session->last_change_ms > CALM_MS)
        session->changes = 0;
    session->changes++;
    session->last_change_ms = now_ms;
}

/* From the first word of a change until the list is read. */
static int64_t debounce_ms(const struct session *session)
{
    int64_t ms = session->config->limits.debounce_ms;
    for (unsigned i = CHANGES_MAX; i < session->changes && ms < CHANGES_MAX_MS; i++)
        ms *= 2;
    return ms < CHANGES_MAX_MS ? ms : CHANGES_MAX_MS;
}

/* Takes `listing`.  Hosts whose tools are made of another one are told. */
static void put_listing(struct session *session, struct listing *listing)
{
    cache_write(session->config->key, listing);
    pthread_mutex_lock(&session->lock);
    struct listing *before = session->listing;
    session->listing = listing;
    if (before && is_other(before, listing))
        count_change_locked(session);
    for (struct owner *owner = session->owners; owner; owner = owner->next) {
        bool has_changed = owner->has_shown && (!owner->shown || is_other(owner->shown, listing));
        if (has_changed && !owner->is_leaving)
            mortise_changed(owner->host);
    }
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
    listing_unref(before);
}

static void read_again(struct session *session)
{
    char problem[1024];
    pthread_mutex_lock(&session->lock);
    unsigned interruptions = session->interruptions;
    pthread_mutex_unlock(&session->lock);
    struct listing *listing = tools_list_read(session, problem, sizeof(problem));
    if (listing)
        put_listing(session, listing);
    else if (was_interrupted(session, interruptions))
        session_note_change(session);
    else if (!is_stopping(session))
        session_log(session, MORTISE_LOG_WARNING, "its tools have changed, and are not known: %s",
                    problem);
}

/* ---- opening and closing ---- */

static void signal_stop(struct session *session)
{
    const uint64_t one = 1;
    if (write(session->stop, &one, sizeof(one)) < 0)
        return; /* it is readable already */
}

static void clear_stop(struct session *session)
{
    uint64_t ignored;
    if (read(session->stop, &ignored, sizeof(ignored)) < 0)
        return;
}

static void free_letters(struct session *session)
{
    while (session->letters) {
        struct letter *letter = session->letters;
        session->letters = letter->next;
        free(letter->json);
        free(letter);
    }
    session->letter_count = 0;
}

/* After the last sender. */
static void close_link(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    struct link *link = session->link;
    session->is_dead = session->is_closing = true;
    for (struct pending *pending = session->pendings; pending; pending = pending->next) {
        pending->is_lost = true;
        pthread_cond_signal(&pending->news);
    }
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
    if (session->has_ear) {
        signal_stop(session);
        pthread_join(session->ear, NULL);
        session->has_ear = false;
    }
    pthread_mutex_lock(&session->lock);
    while (session->senders > 0)
        thread_sleep_locked(&session->news, &session->lock, -1);
    session->link = NULL;
    session->is_closing = false;
    free_letters(session);
    if (!session->is_stopping)
        clear_stop(session);
    /* Also of one that is leaving, which waits for it. */
    struct owner *owner = session->owners;
    if (owner)
        owner->uses++;
    pthread_mutex_unlock(&session->lock);
    if (link && (owner || !link->face->waits))
        link->face->close(link, owner ? owner->host : NULL);
    pthread_mutex_lock(&session->lock);
    session_leave_host_locked(session, owner);
    pthread_mutex_unlock(&session->lock);
}

static bool open_link(struct session *session, char *problem, size_t size)
{
    const struct link_listener listener = session_listener(session);
    pthread_mutex_lock(&session->lock);
    session->is_dead = false; /* it may be dead before this returns */
    session->version[0] = '\0';
    session->changed_ms = 0;
    pthread_mutex_unlock(&session->lock);
    struct link *link = session->config->is_http
                            ? link_http_open(session->config, &listener, problem, size)
                            : link_stdio_open(session->config, &listener, problem, size);
    pthread_mutex_lock(&session->lock);
    session->link = link;
    session->is_dead = session->is_dead || !link;
    pthread_mutex_unlock(&session->lock);
    return link != NULL;
}

/* What is known of its era before it is asked. */
static enum era_choice guess_era(struct session *session)
{
    enum era_choice era = session->config->era;
    pthread_mutex_lock(&session->lock);
    if (era == ERA_AUTO && session->listing)
        era = session->listing->is_modern ? ERA_MODERN : ERA_LEGACY;
    pthread_mutex_unlock(&session->lock);
    return era;
}

/* Opens a link and what is spoken over it; else there is none. */
static bool open_session(struct session *session, char *problem, size_t size)
{
    enum era_choice era = guess_era(session);
    bool is_guess = era != session->config->era;
    enum opened opened = OPEN_ANEW;
    for (int attempt = 0; opened == OPEN_ANEW && attempt < 3; attempt++) {
        if (!open_link(session, problem, size))
            return false;
        opened = era_open(session, &era, problem, size);
        if (opened == OPENED)
            return true;
        pthread_mutex_lock(&session->lock);
        bool has_died = session->is_dead;
        pthread_mutex_unlock(&session->lock);
        close_link(session);
        if (opened == OPEN_FAILED && is_guess && !has_died) { /* it may have become another */
            opened = OPEN_ANEW;
            era = session->config->era;
            is_guess = false;
        }
        if (is_stopping(session))
            return false;
    }
    return false;
}

static bool start_server(struct session *session, char *problem, size_t size)
{
    snprintf(problem, size, "it cannot be started");
    if (!open_session(session, problem, size))
        return false;
    struct listing *listing = tools_list_read(session, problem, size);
    if (!listing) {
        close_link(session);
        return false;
    }
    put_listing(session, listing);
    return true;
}

/* ---- the thread ---- */

/* False: it is to stop. */
static bool wait_until_wanted(struct session *session, unsigned *interruptions)
{
    pthread_mutex_lock(&session->lock);
    while (!session->is_stopping) {
        int64_t now_ms = pause_now_ms();
        if (session->state == STATE_DOWN && now_ms < session->retry_ms)
            thread_sleep_locked(&session->news, &session->lock, session->retry_ms);
        else if (session->state == STATE_GIVEN_UP || !session->is_wanted)
            thread_sleep_locked(&session->news, &session->lock, -1);
        else
            break;
    }
    bool goes_on = !session->is_stopping;
    if (goes_on) {
        session->state = STATE_STARTING;
        session->begin_ms = pause_now_ms();
    }
    *interruptions = session->interruptions;
    pthread_mutex_unlock(&session->lock);
    return goes_on;
}

static int64_t backoff_ms(const struct session *session)
{
    int64_t ms = session->config->limits.backoff_ms;
    for (unsigned i = 1; i < session->failures && ms < BACKOFF_MAX_MS; i++)
        ms *= 2;
    return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

static void note_failure(struct session *session, const char *problem, bool was_ready)
{
    pthread_mutex_lock(&session->lock);
    if (was_ready && pause_now_ms() - session->ready_ms > LASTING_MS)
        session->failures = 0;
    if (!was_ready)
        snprintf(session->reason, sizeof(session->reason), "%s", problem);
    session->failures++;
    session->attempts += !was_ready;
    bool is_last = session->failures > FAILURES_MAX;
    int64_t ms = is_last ? BACKOFF_MAX_MS : backoff_ms(session);
    session->state = is_last ? STATE_GIVEN_UP : STATE_DOWN;
    session->retry_ms = pause_now_ms() + ms;
    if (!session->is_stopping && is_last)
        session_log_locked(session, MORTISE_LOG_WARNING,
                           "it failed %d times in a row, and is left alone until it is called: %s",
                           FAILURES_MAX + 1, session->reason);
    else if (!session->is_stopping)
        session_log_locked(session, session->failures == 1 ? MORTISE_LOG_WARNING : MORTISE_LOG_NOTE,
                           "%s (it is started again in %" PRId64 " ms)", session->reason, ms);
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

static void note_ready(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->state = STATE_READY;
    session->ready_ms = pause_now_ms();
    session->attempts++;
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

static void send_first_letter(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    struct letter *letter = session->letters;
    session->letters = letter->next;
    session->letter_count--;
    bool is_modern = session->is_modern;
    pthread_mutex_unlock(&session->lock);
    const struct link_message message = {.json = letter->json,
                                         .length = strlen(letter->json),
                                         .method = letter->method,
                                         .is_modern = is_modern};
    session_post(session, &message);
    free(letter->json);
    free(letter);
}

/* Until the link is dead, or it is to stop. */
static void look_after(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    while (!session->is_dead && !session->is_stopping) {
        int64_t due_ms = session->changed_ms ? session->changed_ms + debounce_ms(session) : -1;
        bool has_letter = session->letters != NULL;
        bool is_due = due_ms >= 0 && pause_now_ms() >= due_ms;
        if (!has_letter && !is_due) {
            thread_sleep_locked(&session->news, &session->lock, due_ms);
            continue;
        }
        pthread_mutex_unlock(&session->lock);
        if (has_letter)
            send_first_letter(session);
        else
            read_again(session);
        pthread_mutex_lock(&session->lock);
    }
    pthread_mutex_unlock(&session->lock);
}

static void *keep(void *data)
{
    struct session *session = data;
    char problem[1024];
    unsigned interruptions;
    while (wait_until_wanted(session, &interruptions)) {
        bool is_ready = start_server(session, problem, sizeof(problem));
        if (is_ready) {
            listen_there(session);
            note_ready(session);
            look_after(session);
            close_link(session);
        }
        if (is_ready || !was_interrupted(session, interruptions))
            note_failure(session, problem, is_ready);
    }
    return NULL;
}

void keeper_start_locked(struct session *session)
{
    if (!session->has_keeper && !session->is_stopping)
        session->has_keeper = thread_start(&session->keeper, keep, session) == 0;
}

void keeper_stop(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->is_stopping = true;
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
    signal_stop(session);
}

void keeper_interrupt_locked(struct session *session)
{
    session->interruptions++;
    signal_stop(session);
}

void keeper_go_on_locked(struct session *session)
{
    if (!session->is_stopping && !session->is_closing)
        clear_stop(session);
}
