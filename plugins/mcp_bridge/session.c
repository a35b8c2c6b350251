/* What is asked of a server, and what it says. */
#include "session_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>
#include <mortise/tool.h>

#include "pause.h"
#include "thread.h"

enum {
    LETTERS_MAX = 64, /* then a server asks too much */
    LETTER_MS = 10000
};

/* ---- lines for the operator ---- */

__attribute__((format(printf, 3, 0))) static void
write_log_locked(struct session *session, uint32_t level, const char *format, va_list args)
{
    char line[1400];
    struct owner *owner = session->owners;
    while (owner && owner->is_leaving)
        owner = owner->next;
    if (!owner)
        owner = session->owners;
    vsnprintf(line, sizeof(line), format, args);
    line[mortise_cut(line, strlen(line))] = '\0';
    if (owner)
        mortise_log(owner->host, level, "MCP server '%s': %s", session->config->name, line);
}

void session_log_locked(struct session *session, uint32_t level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_log_locked(session, level, format, args);
    va_end(args);
}

void session_log(struct session *session, uint32_t level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&session->lock);
    write_log_locked(session, level, format, args);
    pthread_mutex_unlock(&session->lock);
    va_end(args);
}

/* ---- hosts ---- */

struct owner *session_use_host_locked(struct session *session)
{
    struct owner *owner = session->owners;
    while (owner && owner->is_leaving)
        owner = owner->next;
    if (owner)
        owner->uses++;
    return owner;
}

void session_leave_host_locked(struct session *session, struct owner *owner)
{
    if (owner && --owner->uses == 0)
        pthread_cond_broadcast(&session->news);
}

/* ---- the end of a link ---- */

/* Also when the session on the server is over (MORTISE_NOT_FOUND): by whoever is still counted
 * among the senders, so that the link that is lost is no later one. */
static void lose_locked(struct session *session, const char *reason)
{
    if (!session->is_dead) {
        session->is_dead = true;
        snprintf(session->reason, sizeof(session->reason), "%s", reason);
        session->reason[mortise_cut(session->reason, strlen(session->reason))] = '\0';
    }
    for (struct pending *pending = session->pendings; pending; pending = pending->next) {
        pending->is_lost = true;
        pthread_cond_signal(&pending->news);
    }
    pthread_cond_broadcast(&session->news);
}

void session_lose(struct session *session, const char *reason)
{
    pthread_mutex_lock(&session->lock);
    lose_locked(session, reason);
    pthread_mutex_unlock(&session->lock);
}

/* ---- messages without an answer ---- */

void session_post(struct session *session, const struct link_message *message)
{
    struct link_message letter = *message;
    char problem[1024], version[sizeof(session->version)];
    pthread_mutex_lock(&session->lock);
    struct link *link = session->is_dead ? NULL : session->link;
    struct owner *owner = session_use_host_locked(session);
    memcpy(version, session->version, sizeof(version));
    letter.version = version[0] ? version : NULL;
    letter.host = owner ? owner->host : NULL;
    letter.stop_fd = session->stop;
    letter.timeout_ms = LETTER_MS;
    bool is_sent = link && (owner || !link->face->waits);
    session->senders += is_sent;
    pthread_mutex_unlock(&session->lock);
    mortise_status status = MORTISE_OK;
    if (is_sent)
        status = link->face->send(link, &letter, problem, sizeof(problem));
    pthread_mutex_lock(&session->lock);
    if (status == MORTISE_NOT_FOUND)
        lose_locked(session, problem);
    session->senders -= is_sent;
    session_leave_host_locked(session, owner);
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

/* Takes `json`. */
static void put_letter_locked(struct session *session, const char *method, char *json)
{
    struct letter *letter = calloc(1, sizeof(*letter)), **end = &session->letters;
    if (!letter || session->letter_count == LETTERS_MAX) {
        free(letter);
        free(json);
        return;
    }
    *letter = (struct letter){.method = method, .json = json};
    while (*end)
        end = &(*end)->next;
    *end = letter;
    session->letter_count++;
    pthread_cond_broadcast(&session->news);
}

/* Sends what is in `text`, now or once the keeper has time. */
static void send_letter(struct session *session, const char *method, bool is_modern,
                        struct buffer *text, bool at_once)
{
    pthread_mutex_lock(&session->lock);
    bool waits = session->link && session->link->face->waits;
    pthread_mutex_unlock(&session->lock);
    size_t length = text->length;
    char *json = buffer_take(text);
    if (!json)
        return;
    if (waits && !at_once) {
        pthread_mutex_lock(&session->lock);
        put_letter_locked(session, method, json);
        pthread_mutex_unlock(&session->lock);
        return;
    }
    const struct link_message message = {
        .json = json, .length = length, .method = method, .is_modern = is_modern};
    session_post(session, &message);
    free(json);
}

void session_tell(struct session *session, const char *method, const char *members, bool is_modern,
                  bool at_once)
{
    struct buffer text = BUFFER_INIT;
    rpc_write(&text,
              &(struct rpc_request){.method = method, .members = members, .is_modern = is_modern});
    send_letter(session, method, is_modern, &text, at_once);
}

/* ---- what comes ---- */

static struct pending *find_pending_locked(struct session *session, int64_t id)
{
    struct pending *pending = session->pendings;
    while (pending && pending->id != id)
        pending = pending->next;
    return pending;
}

static char *copy_value(const char *json)
{
    return json ? strndup(json, mortise_json_length(json)) : NULL;
}

/* What has no id of ours, or is for nobody any more, is passed over. */
static void take_answer(struct session *session, const struct rpc *rpc)
{
    pthread_mutex_lock(&session->lock);
    struct pending *pending = rpc->has_number ? find_pending_locked(session, rpc->number) : NULL;
    if (pending && !pending->is_done) {
        pending->error = copy_value(rpc->error);
        pending->result = rpc->error ? NULL : copy_value(rpc->result);
        pending->has_no_memory = !pending->error && !pending->result;
        pending->is_done = true;
        pthread_cond_signal(&pending->news);
    }
    pthread_mutex_unlock(&session->lock);
}

/* Progress only ever grows; what is late, or of another, is none. */
static struct pending *take_progress_locked(struct session *session, const char *params,
                                            double *progress)
{
    int64_t token;
    if (mortise_json_integer(params, "progressToken", &token) != MORTISE_OK ||
        mortise_json_number(params, "progress", progress) != MORTISE_OK)
        return NULL;
    struct pending *pending = find_pending_locked(session, token);
    if (!pending || !pending->call || pending->is_done ||
        (pending->has_progress && *progress <= pending->progress))
        return NULL;
    pending->has_progress = true;
    pending->progress = *progress;
    pending->progressed_ms = pause_now_ms();
    return pending;
}

/* The host is told without the lock, since whoever watches may take time; the call waits for it. */
static void show_progress(struct session *session, const char *params)
{
    double progress, total = 0;
    char *text = NULL;
    pthread_mutex_lock(&session->lock);
    struct pending *pending = take_progress_locked(session, params, &progress);
    if (pending)
        pending->busy++;
    pthread_mutex_unlock(&session->lock);
    if (!pending)
        return;
    mortise_json_number(params, "total", &total);
    mortise_json_copy(params, "message", &text);
    mortise_progress(pending->call, progress, total, text);
    free(text);
    pthread_mutex_lock(&session->lock);
    pending->busy--;
    pthread_cond_signal(&pending->news);
    pthread_mutex_unlock(&session->lock);
}

/* The keeper will read the list of tools again. */
void session_note_change(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    if (!session->changed_ms)
        session->changed_ms = pause_now_ms();
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

static void take_notification(struct session *session, const struct rpc *rpc)
{
    if (strcmp(rpc->method, "notifications/progress") == 0 && rpc->params) {
        show_progress(session, rpc->params);
    } else if (strcmp(rpc->method, "notifications/tools/list_changed") == 0) {
        session_note_change(session);
    } else if (session->config->is_http &&
               strcmp(rpc->method, "notifications/subscriptions/acknowledged") == 0) {
        session_note_change(session); /* between the list and this nobody listened */
    }
}

static void on_message(void *self, const char *json, size_t length)
{
    struct session *session = self;
    struct rpc rpc;
    (void)length;
    rpc_read(&rpc, json);
    if (rpc.has_method && rpc.id) {
        struct buffer text = BUFFER_INIT;
        rpc_answer(&text, &rpc);
        send_letter(session, NULL, false, &text, false);
    } else if (rpc.has_method) {
        take_notification(session, &rpc);
    } else if (rpc.result || rpc.error) {
        take_answer(session, &rpc);
    }
}

static void on_closed(void *self, const char *reason)
{
    session_lose(self, reason);
}

/* What every start of the server says again is told once. */
static void on_note(void *self, uint32_t level, const char *text)
{
    struct session *session = self;
    pthread_mutex_lock(&session->lock);
    bool is_known = strncmp(session->noted, text, sizeof(session->noted) - 1) == 0;
    snprintf(session->noted, sizeof(session->noted), "%s", text);
    session_log_locked(session, is_known ? MORTISE_LOG_DEBUG : level, "%s", text);
    pthread_mutex_unlock(&session->lock);
}

struct link_listener session_listener(struct session *session)
{
    return (struct link_listener){
        .message = on_message, .closed = on_closed, .note = on_note, .self = session};
}

/* ---- asking ---- */

/* Until there is an answer, or there will be none. */
static void wait_locked(struct session *session, const struct ask *ask, struct pending *pending,
                        struct reply *reply)
{
    int64_t began_ms = pause_now_ms();
    while (!pending->is_done && !pending->is_lost) {
        int64_t from_ms = pending->has_progress ? pending->progressed_ms : began_ms;
        int64_t until_ms = from_ms + ask->timeout_ms, last_ms = began_ms + ask->max_ms;
        if (until_ms > last_ms)
            until_ms = last_ms;
        reply->is_late = pause_now_ms() >= until_ms;
        bool is_cancelled =
            (ask->call && mortise_cancelled(ask->call)) || (!ask->call && session->is_stopping);
        if (is_cancelled)
            reply->status = MORTISE_CANCELLED;
        if (reply->is_late || is_cancelled)
            return;
        thread_sleep_locked(&pending->news, &session->lock, until_ms);
    }
}

static void put_pending_locked(struct session *session, struct pending *pending)
{
    pending->id = ++session->last_id;
    pending->next = session->pendings;
    session->pendings = pending;
}

static void remove_pending_locked(struct session *session, struct pending *pending)
{
    struct pending **place = &session->pendings;
    while (*place != pending)
        place = &(*place)->next;
    *place = pending->next;
    while (pending->busy > 0)
        pthread_cond_wait(&pending->news, &session->lock);
}

/* Hands over what came, or says why nothing did. */
static void settle_locked(struct session *session, struct pending *pending, struct reply *reply)
{
    if (pending->is_done) {
        reply->result = pending->result;
        reply->error = pending->error;
        reply->is_late = false;
        reply->status = pending->has_no_memory ? MORTISE_NO_MEMORY : MORTISE_OK;
    } else if (pending->is_lost && reply->status != MORTISE_NOT_FOUND) {
        reply->is_lost = true;
        snprintf(reply->problem, sizeof(reply->problem), "%s", session->reason);
    } else if (reply->is_late) {
        snprintf(reply->problem, sizeof(reply->problem), "it did not answer in time");
    }
    if (reply->status == MORTISE_OK && !reply->result && !reply->error)
        reply->status = MORTISE_FAILED;
}

/* A call that is given up is cancelled there too; in the modern era over HTTP the end of its stream
 * has done that. */
static void cancel_there(struct session *session, const struct ask *ask, bool is_modern, int64_t id)
{
    char members[96];
    pthread_mutex_lock(&session->lock);
    bool is_told = session->link && !session->is_dead && !(session->link->face->waits && is_modern);
    pthread_mutex_unlock(&session->lock);
    snprintf(members, sizeof(members), "\"requestId\":%" PRId64 ",\"reason\":\"%s\"", id,
             ask->call && mortise_cancelled(ask->call) ? "cancelled" : "timed out");
    if (is_told)
        session_tell(session, "notifications/cancelled", members, is_modern, false);
}

/* What is known of a session while its link lives. */
struct sending {
    struct link *link;
    const mortise_host *host;
    bool is_modern;
    char version[32];
    int stop;
};

static mortise_status send_ask(const struct sending *sending, const struct ask *ask, int64_t id,
                               struct reply *reply)
{
    struct buffer text = BUFFER_INIT;
    const struct rpc_request request = {.id = id,
                                        .method = ask->method,
                                        .members = ask->members,
                                        .is_modern = sending->is_modern,
                                        .has_token = ask->call != NULL};
    rpc_write(&text, &request);
    struct link_message message = {
        .json = text.text,
        .length = text.length,
        .method = ask->method,
        .name = ask->name,
        .version = *sending->version ? sending->version : NULL,
        .is_modern = sending->is_modern,
        .is_request = true,
        .arguments = ask->arguments,
        .schema = ask->schema,
        .call = ask->call,
        .host = sending->host,
        .stop_fd = ask->call ? -1 : sending->stop,
        .timeout_ms = ask->max_ms,
        .idle_ms = ask->timeout_ms,
    };
    mortise_status status = MORTISE_NO_MEMORY;
    if (!text.failed)
        status = sending->link->face->send(sending->link, &message, reply->problem,
                                           sizeof(reply->problem));
    buffer_release(&text);
    return status;
}

void session_ask(struct session *session, const struct ask *ask, struct reply *reply)
{
    struct pending pending = {.call = ask->call};
    *reply = (struct reply){.status = MORTISE_OK};
    thread_news_init(&pending.news);

    pthread_mutex_lock(&session->lock);
    struct owner *owner = ask->host ? NULL : session_use_host_locked(session);
    /* Another link may be there by now, over which nothing was begun yet. */
    bool is_usable = !session->is_dead && (!ask->call || session->state == STATE_READY);
    struct sending sending = {.link = is_usable ? session->link : NULL,
                              .host = owner ? owner->host : ask->host,
                              .is_modern = ask->call ? session->is_modern : ask->is_modern,
                              .stop = session->stop};
    snprintf(sending.version, sizeof(sending.version), "%s",
             sending.is_modern ? RPC_MODERN : session->version);
    bool waits = sending.link && sending.link->face->waits;
    reply->was_sent = sending.link && (sending.host || !waits);
    if (reply->was_sent) {
        put_pending_locked(session, &pending);
        session->senders++;
        pthread_mutex_unlock(&session->lock);
        reply->status = send_ask(&sending, ask, pending.id, reply);
        pthread_mutex_lock(&session->lock);
        if (reply->status == MORTISE_NOT_FOUND)
            lose_locked(session, reply->problem);
        session->senders--;
        pthread_cond_broadcast(&session->news);
        if (reply->status == MORTISE_OK && !waits)
            wait_locked(session, ask, &pending, reply);
        remove_pending_locked(session, &pending);
        reply->is_late = reply->is_late || reply->status == MORTISE_CONFLICT;
        settle_locked(session, &pending, reply);
    } else {
        reply->status = MORTISE_FAILED;
        reply->is_lost = sending.link == NULL;
        snprintf(reply->problem, sizeof(reply->problem), "%s",
                 sending.link ? "nobody is there to ask" : session->reason);
    }
    session_leave_host_locked(session, owner);
    pthread_mutex_unlock(&session->lock);
    pthread_cond_destroy(&pending.news);
    bool is_given_up = reply->is_late || (reply->was_sent && reply->status == MORTISE_CANCELLED);
    if (is_given_up && !reply->is_lost && !ask->is_never_cancelled)
        cancel_there(session, ask, sending.is_modern, pending.id);
}

void reply_release(struct reply *reply)
{
    free(reply->result);
    free(reply->error);
    *reply = (struct reply){.status = MORTISE_FAILED};
}
