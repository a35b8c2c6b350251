#include "exchange.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <mortise/json.h>

#include "pause.h"

/* A stream ends with the answer; one that does not is left then, and its connection with it. */
enum { LINGER_MS = 200 };

/* ---- beginning and end ---- */

static bool watch(struct exchange *exchange, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return fd < 0 || epoll_ctl(exchange->stop, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int cancel_fd_of(const struct link_message *message)
{
    return message->call ? message->call->ops->cancel_fd(message->call) : -1;
}

static int64_t deadline_of(const struct link_message *message)
{
    int64_t left = message->timeout_ms;
    int64_t of_call = message->call ? message->call->ops->remaining_ms(message->call) : -1;
    if (of_call >= 0 && (left < 0 || of_call < left))
        left = of_call;
    return left < 0 ? -1 : pause_now_ms() + left;
}

static void set_timer(struct exchange *exchange, int64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000}};
    timerfd_settime(exchange->timer, 0, &when, NULL);
}

static void take_event(void *self, const struct sse_event *event);

bool exchange_begin(struct exchange *exchange, const struct server_config *config,
                    const struct link_listener *listener, const struct link_message *message)
{
    *exchange = (struct exchange){.message = message,
                                  .listener = listener,
                                  .config = config,
                                  .deadline_ms = deadline_of(message),
                                  .timer = -1,
                                  .retry_after_ms = -1};
    sse_begin(&exchange->sse, take_event, exchange, config->limits.message_bytes);
    if (message->is_request && mortise_json_value(message->json, "id", &exchange->id) == MORTISE_OK)
        exchange->id_length = mortise_json_length(exchange->id);
    exchange->stop = epoll_create1(EPOLL_CLOEXEC);
    if (exchange->stop >= 0)
        exchange->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (exchange->timer >= 0 && watch(exchange, exchange->timer) &&
        watch(exchange, message->stop_fd) && watch(exchange, cancel_fd_of(message))) {
        set_timer(exchange, message->idle_ms);
        return true;
    }
    exchange_end(exchange);
    return false;
}

void exchange_end(struct exchange *exchange)
{
    sse_release(&exchange->sse);
    buffer_release(&exchange->body);
    if (exchange->timer >= 0)
        close(exchange->timer);
    if (exchange->stop >= 0)
        close(exchange->stop);
}

int64_t exchange_left_ms(const struct exchange *exchange)
{
    if (exchange->deadline_ms < 0)
        return -1;
    int64_t left = exchange->deadline_ms - pause_now_ms();
    return left > 0 ? left : 0;
}

bool exchange_wait(struct exchange *exchange, int64_t ms)
{
    struct pollfd stop = {.fd = exchange->stop, .events = POLLIN};
    int64_t until = pause_now_ms() + ms;
    for (int64_t left = ms; left > 0; left = until - pause_now_ms())
        if (poll(&stop, 1, (int)left) > 0)
            return false;
    mortise_call *call = exchange->message->call;
    return poll(&stop, 1, 0) == 0 && !(call && call->ops->cancelled(call));
}

bool exchange_is_late(const struct exchange *exchange)
{
    struct pollfd timer = {.fd = exchange->timer, .events = POLLIN};
    return !exchange->has_answer && (exchange_left_ms(exchange) == 0 || poll(&timer, 1, 0) > 0);
}

/* ---- messages ---- */

/* From now on nothing more is waited for. */
static void set_answered(struct exchange *exchange)
{
    exchange->has_answer = true;
    set_timer(exchange, exchange->is_resumed ? 1 : LINGER_MS);
}

static bool is_ours(const struct exchange *exchange, const char *json)
{
    const char *id, *method;
    return exchange->id && mortise_json_value(json, "method", &method) != MORTISE_OK &&
           mortise_json_value(json, "id", &id) == MORTISE_OK &&
           mortise_json_length(id) == exchange->id_length &&
           memcmp(id, exchange->id, exchange->id_length) == 0;
}

/* An error that does not say what it is about, in the answer to a request, is about that. */
static bool tell_error(struct exchange *exchange, const char *json)
{
    const char *id, *error;
    struct buffer told = BUFFER_INIT;
    if (!exchange->id || mortise_json_value(json, "id", &id) == MORTISE_OK ||
        mortise_json_object(json, "error", &error) != MORTISE_OK)
        return false;
    buffer_puts(&told, "{\"jsonrpc\":\"2.0\",\"id\":");
    buffer_put(&told, exchange->id, exchange->id_length);
    buffer_puts(&told, ",\"error\":");
    buffer_put(&told, error, mortise_json_length(error));
    buffer_puts(&told, "}");
    if (told.failed) {
        exchange->has_no_memory = true;
    } else {
        set_answered(exchange);
        exchange->listener->message(exchange->listener->self, told.text, told.length);
    }
    buffer_release(&told);
    return true;
}

static bool is_progress(const char *json)
{
    char method[32];
    return mortise_json_string(json, "method", method, sizeof(method)) == MORTISE_OK &&
           strcmp(method, "notifications/progress") == 0;
}

/* `json` is an object with a NUL behind it. */
static void tell_message(struct exchange *exchange, const char *json, size_t length)
{
    if (tell_error(exchange, json))
        return;
    if (is_ours(exchange, json))
        set_answered(exchange);
    else if (!exchange->has_answer && is_progress(json))
        set_timer(exchange, exchange->message->idle_ms);
    exchange->listener->message(exchange->listener->self, json, length);
}

static void tell_item(struct exchange *exchange, const char *item)
{
    struct buffer copy = BUFFER_INIT;
    if (*item != '{')
        return;
    buffer_put(&copy, item, mortise_json_length(item));
    if (copy.failed)
        exchange->has_no_memory = true;
    else
        tell_message(exchange, copy.text, copy.length);
    buffer_release(&copy);
}

/* A message, or, until 2025-03-26, a list of them.  False: it is no JSON. */
static bool tell_text(struct exchange *exchange, const char *text, size_t length)
{
    const char *at = text + strspn(text, " \t\r\n");
    size_t used = mortise_json_length(at);
    if (!used || (*at != '{' && *at != '[') ||
        (size_t)(at - text) + used + strspn(at + used, " \t\r\n") != length)
        return false;
    const char *item = NULL;
    if (*at == '{')
        tell_message(exchange, at, length - (size_t)(at - text));
    while (*at == '[' && mortise_json_next(at, &item) == MORTISE_OK)
        tell_item(exchange, item);
    return true;
}

static void take_event(void *self, const struct sse_event *event)
{
    struct exchange *exchange = self;
    exchange->has_news = true;
    if (!event->length || (*event->name && strcmp(event->name, "message") != 0))
        return;
    if (tell_text(exchange, event->data, event->length) || exchange->has_warned)
        return;
    char line[200];
    exchange->has_warned = true;
    snprintf(line, sizeof(line), "an event of its stream is no JSON, and passed over: %.100s",
             event->data);
    exchange->listener->note(exchange->listener->self, MORTISE_LOG_WARNING, line);
}

bool exchange_tell_body(struct exchange *exchange)
{
    const struct buffer *body = &exchange->body;
    const char *item;
    if (!body->length)
        return false;
    const char *at = body->text + strspn(body->text, " \t\r\n");
    if (*at != '[' && mortise_json_value(at, "jsonrpc", &item) != MORTISE_OK &&
        mortise_json_object(at, "error", &item) != MORTISE_OK && !is_ours(exchange, at))
        return false;
    return tell_text(exchange, at, body->length - (size_t)(at - body->text));
}

/* ---- one request ---- */

static void copy(char *out, size_t size, const char *value)
{
    snprintf(out, size, "%s", value);
}

static void read_type(struct exchange *exchange, const char *value)
{
    size_t length = strcspn(value, "; \t");
    snprintf(exchange->type, sizeof(exchange->type), "%.*s", (int)(length < 100 ? length : 100),
             value);
    exchange->is_stream = strcasecmp(exchange->type, "text/event-stream") == 0;
}

/* What cannot be sent back as it came is none. */
static void read_session(struct exchange *exchange, const char *value)
{
    size_t length = strlen(value);
    for (size_t i = 0; i < length; i++)
        if (value[i] < '!' || value[i] > '~')
            return;
    if (length < sizeof(exchange->session))
        copy(exchange->session, sizeof(exchange->session), value);
}

static void read_header(struct exchange *exchange, const char *name, const char *value,
                        bool *is_exact)
{
    if (strcasecmp(name, "content-type") == 0) {
        read_type(exchange, value);
    } else if (strcasecmp(name, "mcp-session-id") == 0) {
        read_session(exchange, value);
    } else if (strcasecmp(name, "www-authenticate") == 0) {
        if (!*exchange->challenge)
            copy(exchange->challenge, sizeof(exchange->challenge), value);
    } else if (strcasecmp(name, "location") == 0) {
        if (strlen(value) < sizeof(exchange->location))
            copy(exchange->location, sizeof(exchange->location), value);
    } else if (strcasecmp(name, "retry-after-ms") == 0) {
        exchange->retry_after_ms = pause_read_ms(value);
        *is_exact = exchange->retry_after_ms >= 0;
    } else if (strcasecmp(name, "retry-after") == 0 && !*is_exact) {
        exchange->retry_after_ms = pause_read(value);
    }
}

static void on_answer(void *data, uint32_t status, const mortise_http_header *headers, size_t count)
{
    struct exchange *exchange = data;
    bool is_exact = false;
    exchange->status = status;
    for (size_t i = 0; i < count; i++)
        read_header(exchange, headers[i].name, headers[i].value, &is_exact);
    exchange->is_stream = exchange->is_stream && status >= 200 && status < 300;
    exchange->had_stream = exchange->had_stream || exchange->is_stream;
}

static bool on_stream(struct exchange *exchange, const char *bytes, size_t length)
{
    bool ok = sse_feed(&exchange->sse, bytes, length) && !exchange->has_no_memory;
    exchange->is_too_large = exchange->is_too_large || exchange->sse.is_too_large;
    exchange->has_no_memory = exchange->has_no_memory || (!ok && !exchange->is_too_large);
    return ok && !(exchange->has_answer && exchange->is_resumed);
}

static bool on_bytes(void *data, const void *bytes, size_t length)
{
    struct exchange *exchange = data;
    mortise_call *call = exchange->message->call;
    if (call && call->ops->cancelled(call))
        return false;
    if (exchange->is_stream)
        return on_stream(exchange, bytes, length);
    size_t most = exchange->config->limits.message_bytes;
    exchange->is_too_large = length > most || exchange->body.length > most - length;
    if (!exchange->is_too_large)
        buffer_put(&exchange->body, bytes, length);
    exchange->has_no_memory = exchange->body.failed;
    return !exchange->is_too_large && !exchange->has_no_memory;
}

static void begin_answer(struct exchange *exchange)
{
    struct sse *sse = &exchange->sse;
    buffer_clear(&exchange->body);
    exchange->status = 0;
    exchange->is_stream = exchange->has_news = false;
    exchange->type[0] = exchange->session[0] = exchange->challenge[0] = '\0';
    exchange->location[0] = exchange->reason[0] = '\0';
    exchange->retry_after_ms = -1;
    sse_again(sse);
}

static mortise_status conclude(struct exchange *exchange, mortise_status status,
                               const char *problem)
{
    if (status == MORTISE_OK && exchange->is_stream && !sse_end(&exchange->sse)) {
        exchange->is_too_large = exchange->sse.is_too_large;
        exchange->has_no_memory = !exchange->is_too_large;
    }
    if (exchange->is_too_large)
        snprintf(exchange->reason, sizeof(exchange->reason),
                 "it sent a message of more than %zu bytes",
                 exchange->config->limits.message_bytes);
    else if (exchange->has_no_memory)
        copy(exchange->reason, sizeof(exchange->reason), "there is no memory for its answer");
    else if (status == MORTISE_OK || exchange->has_answer)
        return MORTISE_OK;
    else if (status == MORTISE_CANCELLED || exchange_is_late(exchange))
        return MORTISE_CANCELLED;
    else
        copy(exchange->reason, sizeof(exchange->reason), problem ? problem : "it did not answer");
    return MORTISE_FAILED;
}

mortise_status exchange_run(struct exchange *exchange, const char *method, const char *url,
                            const struct head *head)
{
    const struct link_message *message = exchange->message;
    const mortise_http *http = message->host ? mortise_http_outside(message->host) : NULL;
    bool is_post = strcmp(method, "POST") == 0;
    int64_t left = exchange_left_ms(exchange);
    mortise_http_response response = {.size = sizeof(response)};
    const mortise_http_request request = {.size = sizeof(request),
                                          .method = method,
                                          .url = url,
                                          .headers = head->headers,
                                          .header_count = head->count,
                                          .body = is_post ? message->json : NULL,
                                          .body_length = is_post ? message->length : 0,
                                          .timeout_ms = left < 0   ? -1
                                                        : left > 0 ? left
                                                                   : 1,
                                          .max_bytes = SIZE_MAX,
                                          .received = on_bytes,
                                          .received_data = exchange,
                                          .answered = on_answer,
                                          .stop_fd = exchange->stop};
    begin_answer(exchange);
    if (!http) {
        copy(exchange->reason, sizeof(exchange->reason), "this host makes no requests for plugins");
        return MORTISE_FAILED;
    }
    mortise_status status = http->fetch(message->host, &request, &response);
    status = conclude(exchange, status, response.problem);
    http->release(message->host, &response);
    return status;
}
