/* A call of a tool: waits until its server is ready, asks it, and says what became of it. */
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

enum { PATIENCE_MS = 2500 /* it waits so long for a restart, and not longer */ };

void session_wake(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    for (struct pending *pending = session->pendings; pending; pending = pending->next)
        pthread_cond_signal(&pending->news);
    pthread_cond_broadcast(&session->news);
    pthread_mutex_unlock(&session->lock);
}

/* A call that is cancelled looks at once. */
static void on_cancel(void *data)
{
    session_wake(data);
}

__attribute__((format(printf, 4, 5))) static bool fail(struct answer *answer, mortise_status status,
                                                       mortise_category category,
                                                       const char *format, ...)
{
    va_list args;
    answer->status = status;
    answer->category = category;
    va_start(args, format);
    vsnprintf(answer->problem, sizeof(answer->problem), format, args);
    va_end(args);
    answer->problem[mortise_cut(answer->problem, strlen(answer->problem))] = '\0';
    return false;
}

/* Whether there is no use in waiting for it: it failed since the call began, or will not be tried
 * soon. */
static bool is_hopeless_locked(struct session *session, unsigned attempts, int64_t now_ms,
                               struct answer *answer)
{
    bool is_down = session->state == STATE_DOWN || session->state == STATE_GIVEN_UP;
    if (!is_down)
        return false;
    int64_t left_ms = session->retry_ms - now_ms;
    if (session->state == STATE_GIVEN_UP && left_ms <= 0) {
        session->state = STATE_DOWN;
        session->failures = 0;
        pthread_cond_broadcast(&session->news);
        return false;
    }
    if (session->attempts == attempts && session->state == STATE_DOWN && left_ms <= PATIENCE_MS)
        return false;
    answer->retry_ms = left_ms > 0 ? left_ms : 0;
    fail(answer, MORTISE_FAILED, MORTISE_UNAVAILABLE, "MCP server '%s' does not run: %s",
         session->config->name, session->reason);
    return true;
}

/* Until the server can be asked. */
static bool wait_until_ready(struct session *session, mortise_call *call, struct answer *answer)
{
    const struct limits *limits = &session->config->limits;
    int64_t until_ms = pause_now_ms() + limits->connect_ms + PATIENCE_MS, now_ms;
    bool is_good = true;
    pthread_mutex_lock(&session->lock);
    unsigned attempts = session->attempts;
    session->is_wanted = true;
    keeper_start_locked(session);
    pthread_cond_broadcast(&session->news);
    while (is_good && (session->state != STATE_READY || session->is_dead)) {
        now_ms = pause_now_ms();
        if (mortise_cancelled(call))
            is_good = fail(answer, MORTISE_CANCELLED, MORTISE_ABORTED, "cancelled");
        else if (now_ms >= until_ms || session->is_stopping)
            is_good = fail(answer, MORTISE_FAILED, MORTISE_TIMEOUT,
                           "MCP server '%s' has not started within %" PRId64 " ms",
                           session->config->name, limits->connect_ms);
        else if (is_hopeless_locked(session, attempts, now_ms, answer))
            is_good = false;
        else
            thread_sleep_locked(&session->news, &session->lock, until_ms);
    }
    pthread_mutex_unlock(&session->lock);
    return is_good;
}

static bool write_members(struct buffer *out, const struct request *request)
{
    buffer_puts(out, "\"name\":");
    buffer_quote(out, request->name, strlen(request->name));
    buffer_puts(out, ",\"arguments\":");
    buffer_puts(out, request->arguments);
    if (request->more)
        buffer_puts(out, request->more);
    return !out->failed;
}

/* What became of it, for the model. */
static void explain(struct session *session, const struct reply *reply, struct answer *answer)
{
    const char *name = session->config->name;
    if (reply->status == MORTISE_CANCELLED)
        fail(answer, MORTISE_CANCELLED, MORTISE_ABORTED, "cancelled");
    else if (reply->status == MORTISE_NO_MEMORY)
        fail(answer, MORTISE_NO_MEMORY, MORTISE_INTERNAL, "out of memory");
    else if (reply->is_late)
        fail(answer, MORTISE_FAILED, MORTISE_TIMEOUT,
             "MCP server '%s' did not answer within %" PRId64
             " ms (\"timeout\" in its configuration "
             "sets that); it was told to stop",
             name, session->config->limits.timeout_ms);
    else if (reply->is_lost)
        fail(answer, MORTISE_FAILED, MORTISE_UNAVAILABLE,
             "MCP server '%s' ended during the call, which may have done something or nothing: %s",
             name, reply->problem);
    else
        fail(answer, MORTISE_FAILED,
             reply->status == MORTISE_DENIED ? MORTISE_UNAUTHORIZED : MORTISE_UNAVAILABLE,
             "MCP server '%s': %s", name, reply->problem);
}

/* A tool wants other arguments in the head of its calls than when its list was read. */
static bool is_mismatch(const char *error)
{
    int64_t code = 0;
    return error && mortise_json_integer(error, "code", &code) == MORTISE_OK &&
           code == RPC_HEADER_MISMATCH;
}

/* Asks once.  True: it may be asked again. */
static bool call_once(struct session *session, mortise_call *call, const struct request *request,
                      const char *members, struct answer *answer)
{
    struct reply reply;
    const struct ask ask = {
        .method = "tools/call",
        .members = members,
        .timeout_ms = session->config->limits.timeout_ms,
        .max_ms = session->config->limits.max_ms,
        .call = call,
        .host = request->host,
        .name = request->name,
        .arguments = request->arguments,
        .schema = request->schema,
    };
    session_ask(session, &ask, &reply);
    /* Where the session was over it did not even look at the call. */
    bool may_repeat = (reply.is_lost && (request->may_repeat || !reply.was_sent)) ||
                      reply.status == MORTISE_NOT_FOUND;
    answer->status = reply.status;
    if (reply.status == MORTISE_OK) {
        answer->result = reply.result;
        answer->error = reply.error;
        reply.result = reply.error = NULL;
        if (is_mismatch(answer->error))
            session_note_change(session);
    } else {
        explain(session, &reply, answer);
    }
    reply_release(&reply);
    return may_repeat;
}

void session_call(struct session *session, mortise_call *call, const struct request *request,
                  struct answer *answer)
{
    struct buffer members = BUFFER_INIT;
    *answer = (struct answer){.status = MORTISE_OK};
    mortise_on_cancel(call, on_cancel, session); /* one for all requests of a call */
    if (!write_members(&members, request)) {
        fail(answer, MORTISE_NO_MEMORY, MORTISE_INTERNAL, "out of memory");
    } else if (wait_until_ready(session, call, answer) &&
               call_once(session, call, request, members.text, answer) &&
               wait_until_ready(session, call, answer)) {
        call_once(session, call, request, members.text, answer);
    }
    buffer_release(&members);
}

void answer_release(struct answer *answer)
{
    free(answer->result);
    free(answer->error);
    answer->result = answer->error = NULL;
}
