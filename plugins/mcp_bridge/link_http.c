/*
 * link_http - a link over HTTP: each message is a request of its own, whose answer is one message
 * or a stream of them.
 *
 * In the legacy era a server may keep a session, which every request names, and a stream that broke
 * off is picked up behind its last event.  In the modern era there is neither: a stream that is
 * closed is a call that is cancelled.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mortise/tool.h>

#include "exchange.h"
#include "http_config.h"
#include "origin.h"
#include "pause.h"

enum {
    ATTEMPTS = 5,       /* of a request that a busy server does not take */
    REDIRECTS = 3,      /* of one request */
    RESUMPTIONS = 5,    /* in a row without an event */
    RESUME_MS = 1000,   /* before a stream is picked up, unless the server says */
    LASTING_MS = 10000, /* a stream that was open so long has not failed */
    FAREWELL_MS = 1000, /* for the end of a session */
    EXCERPT_BYTES = 160
};

struct link_http {
    struct link base;
    const struct server_config *config;
    struct link_listener listener;
    char host[300]; /* for messages */
    pthread_mutex_t lock;
    char session[1024];            /* "": none */
    char version[32];              /* of the protocol in it */
    char last_event[SSE_ID_BYTES]; /* of the stream that belongs to no request */
};

/* A message on its way. */
struct sending {
    struct link_http *link;
    const struct link_message *message;
    struct exchange exchange;
    char session[1024]; /* that it names */
    char url[ORIGIN_URL_BYTES];
    char *problem;
    size_t size;
};

static void tell(const struct sending *sending, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(const struct sending *sending, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(sending->problem, sending->size, format, args);
    va_end(args);
}

/* ---- the session on the server ---- */

static bool is_initialize(const struct link_message *message)
{
    return message->method && strcmp(message->method, "initialize") == 0;
}

static void read_session(struct sending *sending)
{
    struct link_http *link = sending->link;
    pthread_mutex_lock(&link->lock);
    if (is_initialize(sending->message) || sending->message->is_modern)
        link->session[0] = link->last_event[0] = '\0';
    memcpy(sending->session, link->session, sizeof(sending->session));
    if (sending->message->version)
        snprintf(link->version, sizeof(link->version), "%s", sending->message->version);
    pthread_mutex_unlock(&link->lock);
}

static void set_session(struct link_http *link, const char *session)
{
    pthread_mutex_lock(&link->lock);
    snprintf(link->session, sizeof(link->session), "%s", session);
    pthread_mutex_unlock(&link->lock);
}

/* Unless another one has begun meanwhile. */
static void forget_session(struct sending *sending)
{
    struct link_http *link = sending->link;
    pthread_mutex_lock(&link->lock);
    if (strcmp(link->session, sending->session) == 0)
        link->session[0] = link->last_event[0] = '\0';
    pthread_mutex_unlock(&link->lock);
}

/* ---- one request ---- */

static void add_configured(struct head *head, const struct server_config *config)
{
    for (size_t i = 0; i < config->header_count; i++)
        if (!head_is_reserved(config->headers[i].name))
            head_add(head, config->headers[i].name, config->headers[i].value);
}

/* `last_event` NULL: the message itself goes. */
static mortise_status run(struct sending *sending, const char *method, const char *last_event)
{
    struct head head = HEAD_INIT;
    bool is_post = strcmp(method, "POST") == 0;
    add_configured(&head, sending->link->config);
    head_add(&head, "Accept",
             is_post ? "application/json, text/event-stream" : "text/event-stream");
    if (is_post)
        head_add(&head, "Content-Type", "application/json");
    if (sending->session[0])
        head_add(&head, "Mcp-Session-Id", sending->session);
    if (last_event && *last_event)
        head_add(&head, "Last-Event-ID", last_event);
    head_add_message(&head, sending->message);
    mortise_status status = MORTISE_NO_MEMORY;
    if (head_finish(&head))
        status = exchange_run(&sending->exchange, method, sending->url, &head);
    else
        tell(sending, "there is no memory for a request");
    head_release(&head);
    return status;
}

/* What a server said in place of an answer, in one line. */
static void write_excerpt(const struct buffer *body, char out[EXCERPT_BYTES])
{
    size_t used = 0;
    const char *text = body->text ? body->text : "";
    for (size_t i = 0; i < body->length && used < EXCERPT_BYTES - 1; i++) {
        bool is_space = (unsigned char)text[i] <= ' ' || text[i] == 0x7f;
        if (!is_space || (used && out[used - 1] != ' '))
            out[used++] = is_space ? ' ' : text[i];
    }
    out[mortise_cut(out, used)] = '\0';
}

static mortise_status fail_request(const struct sending *sending)
{
    const struct exchange *exchange = &sending->exchange;
    if (exchange->reason[0])
        tell(sending, "%s", exchange->reason);
    return MORTISE_FAILED;
}

static mortise_status stopped(const struct sending *sending)
{
    bool is_late = exchange_is_late(&sending->exchange);
    if (is_late)
        tell(sending, "'%s' did not answer in time", sending->link->host);
    else
        tell(sending, "the request to '%s' was cancelled", sending->link->host);
    return is_late ? MORTISE_CONFLICT : MORTISE_CANCELLED;
}

/* ---- answers that are none ---- */

static mortise_status deny(const struct sending *sending)
{
    const struct exchange *exchange = &sending->exchange;
    char excerpt[EXCERPT_BYTES];
    write_excerpt(&exchange->body, excerpt);
    bool is_unknown = exchange->status == 401;
    const char *challenge = exchange->challenge;
    tell(sending, "'%s' %s (%u%s%s)%s%s; %s \"headers\" of the server in '%s'", sending->link->host,
         is_unknown ? "needs authentication" : "does not allow this", exchange->status,
         *challenge ? ", WWW-Authenticate: " : "", challenge, *excerpt ? ": " : "", excerpt,
         is_unknown ? "give it a token, such as Authorization, in the" : "check the",
         sending->link->config->where);
    return MORTISE_DENIED;
}

static mortise_status refuse_redirect(const struct sending *sending, const char *to)
{
    char host[300] = "";
    origin_host(to, host, sizeof(host));
    tell(sending,
         "'%s' redirects to '%s', which is not followed to another place; if it is right, write "
         "that into the \"url\" of the server in '%s'",
         sending->link->host, *host ? to : "nowhere", sending->link->config->where);
    return MORTISE_FAILED;
}

/* MORTISE_OK: once more, to `url`. */
static mortise_status follow(struct sending *sending, unsigned *redirects)
{
    char to[ORIGIN_URL_BYTES] = "";
    const struct exchange *exchange = &sending->exchange;
    bool is_known = origin_resolve(sending->url, exchange->location, to, sizeof(to));
    if (!is_known || exchange->status == 303 || !origin_is_same(sending->url, to) ||
        ++*redirects > REDIRECTS)
        return refuse_redirect(sending, to);
    memcpy(sending->url, to, sizeof(to));
    return MORTISE_OK;
}

/* A server that is busy has not begun.  MORTISE_OK: once more. */
static mortise_status be_patient(struct sending *sending, unsigned *attempt, int64_t *waited_ms)
{
    struct exchange *exchange = &sending->exchange;
    int64_t asked_ms = exchange->retry_after_ms;
    int64_t wait_ms = asked_ms >= 0 ? asked_ms : pause_before(*attempt);
    int64_t left_ms = exchange_left_ms(exchange);
    char excerpt[EXCERPT_BYTES];
    write_excerpt(&exchange->body, excerpt);
    *waited_ms += wait_ms < PAUSE_MOST_MS ? wait_ms : PAUSE_MOST_MS + 1;
    bool is_late = left_ms >= 0 && wait_ms >= left_ms;
    if (++*attempt > ATTEMPTS || *waited_ms > PAUSE_MOST_MS || is_late) {
        char when[64] = "";
        if (asked_ms >= 0)
            snprintf(when, sizeof(when), "; it can be asked again in %lld s",
                     (long long)((asked_ms + 999) / 1000));
        tell(sending, "'%s' %s (%u)%s%s%s", sending->link->host,
             exchange->status == 429 ? "takes no more requests for now" : "is not available",
             exchange->status, *excerpt ? ": " : "", excerpt, when);
        return MORTISE_FAILED;
    }
    return exchange_wait(exchange, wait_ms) ? MORTISE_OK : stopped(sending);
}

/* It is not known there any more.  Some say 400 where the protocol has 404.  Where a stream is
 * asked for, that may be what is not there; and a request that was begun must not be asked anew. */
static bool is_of_session(const struct sending *sending)
{
    const struct exchange *exchange = &sending->exchange;
    bool is_certain = sending->message->json ? !exchange->is_resumed : exchange->had_stream;
    return is_certain && sending->session[0] &&
           (exchange->status == 404 || (exchange->status == 400 && exchange->body.text &&
                                        strcasestr(exchange->body.text, "session")));
}

/* There is an answer in the words of HTTP alone. */
static mortise_status give_up(struct sending *sending)
{
    const struct exchange *exchange = &sending->exchange;
    uint32_t status = exchange->status;
    char excerpt[EXCERPT_BYTES];
    if (status == 401 || status == 403)
        return deny(sending);
    if (is_of_session(sending)) {
        forget_session(sending);
        tell(sending, "'%s' has ended the session", sending->link->host);
        return MORTISE_NOT_FOUND;
    }
    write_excerpt(&exchange->body, excerpt);
    tell(sending, "'%s' answered %u%s%s%s%s, which is nothing of MCP", sending->link->host, status,
         *exchange->type ? " with " : "", exchange->type, *excerpt ? ": " : "", excerpt);
    return status >= 500 && status != 501 ? MORTISE_FAILED : MORTISE_UNSUPPORTED;
}

/* ---- streams that broke off ---- */

/* Reads on behind the last event, until the answer comes, or for a stream of its own until there is
 * none any more. */
static mortise_status read_on(struct sending *sending, bool is_first)
{
    struct exchange *exchange = &sending->exchange;
    unsigned fruitless = 0;
    exchange->is_resumed = sending->message->json != NULL;
    while (!exchange->has_answer) {
        int64_t wait_ms = exchange->sse.retry_ms >= 0 ? exchange->sse.retry_ms : RESUME_MS;
        int64_t left_ms = exchange_left_ms(exchange);
        if (left_ms >= 0 && wait_ms >= left_ms) {
            tell(sending, "'%s' did not answer in time", sending->link->host);
            return MORTISE_CONFLICT;
        }
        if (!is_first && !exchange_wait(exchange, wait_ms))
            return stopped(sending);
        is_first = false;
        int64_t began_ms = pause_now_ms();
        mortise_status status = run(sending, "GET", exchange->sse.id);
        if (status == MORTISE_CANCELLED)
            return stopped(sending);
        if (exchange->is_too_large || exchange->has_no_memory || status == MORTISE_NO_MEMORY)
            return fail_request(sending);
        bool is_busy = exchange->status == 429 || exchange->status >= 500;
        if (exchange->status && !exchange->is_stream && !is_busy)
            return give_up(sending);
        bool is_good = exchange->has_news || pause_now_ms() - began_ms > LASTING_MS;
        fruitless = is_good ? 0 : fruitless + 1;
        if (fruitless > RESUMPTIONS) {
            tell(sending, "'%s' broke off its stream, and does not go on", sending->link->host);
            return MORTISE_FAILED;
        }
    }
    return MORTISE_OK;
}

/* The stream is over, and has not brought the answer. */
static mortise_status end_stream(struct sending *sending)
{
    struct exchange *exchange = &sending->exchange;
    if (!sending->message->is_modern && exchange->sse.id[0])
        return read_on(sending, false);
    tell(sending, "'%s' ended its stream before the answer%s%s", sending->link->host,
         exchange->reason[0] ? ": " : "", exchange->reason);
    return MORTISE_FAILED;
}

/* ---- a message ---- */

static mortise_status take_success(struct sending *sending)
{
    struct exchange *exchange = &sending->exchange;
    const struct link_message *message = sending->message;
    if (is_initialize(message) && !message->is_modern)
        set_session(sending->link, exchange->session);
    if (exchange->is_stream)
        return !message->is_request || exchange->has_answer ? MORTISE_OK : end_stream(sending);
    bool is_told = exchange->body.length && exchange_tell_body(exchange);
    if (exchange->has_answer || !message->is_request)
        return MORTISE_OK;
    if (is_told || !exchange->body.length) {
        tell(sending, "'%s' took the request (%u), and did not answer it", sending->link->host,
             exchange->status);
        return MORTISE_FAILED;
    }
    return give_up(sending);
}

static mortise_status take_answer(struct sending *sending)
{
    struct exchange *exchange = &sending->exchange;
    uint32_t status = exchange->status;
    if (status >= 200 && status < 300)
        return take_success(sending);
    if (status != 401 && status != 403 && !is_of_session(sending) && exchange_tell_body(exchange) &&
        exchange->has_answer)
        return MORTISE_OK;
    return give_up(sending);
}

static mortise_status post(struct sending *sending)
{
    struct exchange *exchange = &sending->exchange;
    unsigned attempt = 1, redirects = 0;
    int64_t waited_ms = 0;
    for (;;) {
        mortise_status status = run(sending, "POST", NULL);
        if (status == MORTISE_CANCELLED)
            return stopped(sending);
        bool is_torn = status != MORTISE_OK && exchange->is_stream && !exchange->is_too_large &&
                       !exchange->has_no_memory;
        if (is_torn && sending->message->is_request)
            return end_stream(sending);
        if (status != MORTISE_OK)
            return fail_request(sending);
        if (exchange->status == 429 || exchange->status == 503)
            status = be_patient(sending, &attempt, &waited_ms);
        else if (exchange->status >= 300 && exchange->status < 400)
            status = follow(sending, &redirects);
        else
            return take_answer(sending);
        if (status != MORTISE_OK)
            return status;
    }
}

/* What the server says of its own accord, until it has no such stream any more. */
static mortise_status listen(struct sending *sending)
{
    struct link_http *link = sending->link;
    struct sse *sse = &sending->exchange.sse;
    pthread_mutex_lock(&link->lock);
    memcpy(sse->id, link->last_event, sizeof(sse->id));
    pthread_mutex_unlock(&link->lock);
    mortise_status status = read_on(sending, true);
    pthread_mutex_lock(&link->lock);
    if (strcmp(link->session, sending->session) == 0)
        memcpy(link->last_event, sse->id, sizeof(link->last_event));
    pthread_mutex_unlock(&link->lock);
    return status;
}

static mortise_status send_message(struct link *base, const struct link_message *message,
                                   char *problem, size_t size)
{
    struct link_http *link = (struct link_http *)base;
    struct sending *sending = calloc(1, sizeof(*sending));
    if (!sending) {
        snprintf(problem, size, "there is no memory for a request");
        return MORTISE_FAILED;
    }
    *sending = (struct sending){.link = link, .message = message, .problem = problem, .size = size};
    snprintf(sending->url, sizeof(sending->url), "%s", link->config->url);
    read_session(sending);
    mortise_status status = MORTISE_FAILED;
    if (exchange_begin(&sending->exchange, link->config, &link->listener, message)) {
        status = message->json ? post(sending) : listen(sending);
        exchange_end(&sending->exchange);
    } else {
        tell(sending, "there are too many open files");
    }
    free(sending);
    return status;
}

/* ---- beginning and end ---- */

/* A server need not know of it, and is not waited for. */
static void end_session(struct link_http *link, const mortise_host *host)
{
    char problem[100];
    const struct link_message farewell = {.json = "",
                                          .version = *link->version ? link->version : NULL,
                                          .host = host,
                                          .stop_fd = -1,
                                          .timeout_ms = FAREWELL_MS};
    struct sending sending = {
        .link = link, .message = &farewell, .problem = problem, .size = sizeof(problem)};
    snprintf(sending.url, sizeof(sending.url), "%s", link->config->url);
    memcpy(sending.session, link->session, sizeof(sending.session));
    if (!sending.session[0] ||
        !exchange_begin(&sending.exchange, link->config, &link->listener, &farewell))
        return;
    run(&sending, "DELETE", NULL);
    exchange_end(&sending.exchange);
}

static void drop_message(void *self, const char *json, size_t length)
{
    (void)self, (void)json, (void)length;
}

static void drop_note(void *self, uint32_t level, const char *text)
{
    (void)self, (void)level, (void)text;
}

static void close_link(struct link *base, const mortise_host *host)
{
    struct link_http *link = (struct link_http *)base;
    link->listener.message = drop_message;
    link->listener.note = drop_note;
    end_session(link, host);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

struct link *link_http_open(const struct server_config *config,
                            const struct link_listener *listener, char *problem, size_t size)
{
    static const struct link_face face = {.waits = true, .send = send_message, .close = close_link};
    struct link_http *link = calloc(1, sizeof(*link));
    if (!link) {
        snprintf(problem, size, "there is no memory for a connection");
        return NULL;
    }
    link->base.face = &face;
    link->config = config;
    link->listener = *listener;
    origin_host(config->url, link->host, sizeof(link->host));
    if (!http_config_check(config, listener, problem, size) ||
        pthread_mutex_init(&link->lock, NULL) != 0) {
        free(link);
        return NULL;
    }
    return &link->base;
}
