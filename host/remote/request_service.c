/* What a tool in its own process asks the host's services for (mortise/services.h). */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <mortise/services.h>

#include "remote/asked_http.h"
#include "remote/request.h"

#define HTTP_DEPTH_MAX 4 /* requests that are made while another one's answer comes */

/* ---- artifacts ---- */

static void put_artifact(struct text *out, const mortise_artifact *artifact)
{
    parcel_put_u32(out, artifact->version);
    parcel_put_string(out, artifact->name);
    parcel_put_string(out, artifact->mime_type);
    parcel_put_i64(out, artifact->saved_ms);
    parcel_put_u64(out, artifact->length);
    parcel_put_bytes(out, artifact->data, artifact->data ? artifact->length : 0);
}

static bool artifact_save(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    size_t length;
    uint32_t version = 0;
    mortise_owner owner = parcel_u32(message);
    const char *name = parcel_string(message), *mime_type = parcel_string(message);
    const char *data = parcel_bytes(message, &length);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->save(exchange->call, owner, name, mime_type, data, length,
                                            &version));
    parcel_put_u32(&exchange->out, version);
    return exchange_answer(exchange);
}

static bool artifact_load(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    const mortise_artifact *artifact = NULL;
    mortise_owner owner = parcel_u32(message);
    const char *name = parcel_string(message);
    uint32_t version = parcel_u32(message);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->load(exchange->call, owner, name, version, &artifact));
    if (artifact)
        put_artifact(&exchange->out, artifact);
    return exchange_answer(exchange);
}

static bool artifact_list(struct exchange *exchange, struct parcel *message)
{
    const mortise_artifacts *artifacts = request_find_service(exchange, MORTISE_ARTIFACTS_ID);
    const mortise_artifact *const *list = NULL;
    size_t count = 0;
    mortise_owner owner = parcel_u32(message);
    if (!parcel_ends(message) || !artifacts)
        return false;
    request_begin(exchange, artifacts->list(exchange->call, owner, &list, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_artifact(&exchange->out, list[i]);
    return exchange_answer(exchange);
}

/* ---- memory ---- */

static bool memory_add(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    size_t length;
    int64_t id = 0;
    const char *text = parcel_bytes(message, &length);
    if (!parcel_ends(message) || !memory)
        return false;
    request_begin(exchange, memory->add(exchange->call, text, length, &id));
    parcel_put_i64(&exchange->out, id);
    return exchange_answer(exchange);
}

static bool memory_search(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    const mortise_memory_entry *const *list = NULL;
    size_t count = 0;
    const char *query = parcel_string(message);
    size_t limit = (size_t)parcel_u64(message);
    if (!parcel_ends(message) || !memory)
        return false;
    request_begin(exchange, memory->search(exchange->call, query, limit, &list, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        parcel_put_i64(&exchange->out, list[i]->id);
        parcel_put_i64(&exchange->out, list[i]->saved_ms);
        parcel_put_bytes(&exchange->out, list[i]->text, list[i]->length);
        parcel_put_double(&exchange->out, list[i]->score);
    }
    return exchange_answer(exchange);
}

static bool memory_forget(struct exchange *exchange, struct parcel *message)
{
    const mortise_memory *memory = request_find_service(exchange, MORTISE_MEMORY_ID);
    int64_t id = parcel_i64(message);
    return parcel_ends(message) && memory &&
           request_status(exchange, memory->forget(exchange->call, id));
}

/* ---- state ---- */

static bool state_get(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    const char *json = NULL;
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message);
    if (!parcel_ends(message) || !state)
        return false;
    request_begin(exchange, state->get(exchange->call, owner, key, &json));
    parcel_put_string(&exchange->out, json);
    return exchange_answer(exchange);
}

static bool state_set(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message), *json = parcel_string(message);
    return parcel_ends(message) && state &&
           request_status(exchange, state->set(exchange->call, owner, key, json));
}

static bool state_replace(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    mortise_owner owner = parcel_u32(message);
    const char *key = parcel_string(message), *expected = parcel_string(message);
    const char *json = parcel_string(message);
    return parcel_ends(message) && state &&
           request_status(exchange, state->replace(exchange->call, owner, key, expected, json));
}

static bool state_keys(struct exchange *exchange, struct parcel *message)
{
    const mortise_state_service *state = request_find_service(exchange, MORTISE_STATE_ID);
    const char *const *keys = NULL;
    size_t count = 0;
    mortise_owner owner = parcel_u32(message);
    const char *prefix = parcel_string(message);
    if (!parcel_ends(message) || !state)
        return false;
    request_begin(exchange, state->keys(exchange->call, owner, prefix, &keys, &count));
    parcel_put_u32(&exchange->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        parcel_put_string(&exchange->out, keys[i]);
    return exchange_answer(exchange);
}

/* ---- http ---- */

/* What ends a request that the tool can stop: what it says on its lane, or once it has said so. */
struct brake {
    int enough; /* an eventfd */
    int stop;   /* an epoll of that and of the lane */
};

static void close_brake(struct brake *brake)
{
    if (brake->enough >= 0)
        close(brake->enough);
    if (brake->stop >= 0)
        close(brake->stop);
}

static bool add(const struct brake *brake, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
    return epoll_ctl(brake->stop, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool make_brake(struct brake *brake, int lane)
{
    brake->enough = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    brake->stop = epoll_create1(EPOLL_CLOEXEC);
    return add(brake, brake->enough) && add(brake, lane);
}

struct sending {
    struct exchange *exchange;
    struct brake brake;
};

static bool break_off(struct sending *sending)
{
    if (sending->brake.enough >= 0)
        eventfd_write(sending->brake.enough, 1);
    return false;
}

/* The tool may ask for other things before it says whether it wants more. */
static bool hand_on(struct asked_http *asked)
{
    struct sending *sending = asked->context;
    struct exchange *exchange = sending->exchange;
    struct parcel message;
    if (exchange->failure[0] || !exchange_answer(exchange))
        return break_off(sending);
    while (exchange_next(exchange, &message)) {
        if (message.type == PARCEL_STOP)
            return break_off(sending);
        if (message.type == PARCEL_ACKNOWLEDGE) {
            bool goes_on = parcel_flag(&message);
            if (!parcel_ends(&message))
                exchange_wrong(exchange);
            return (parcel_ends(&message) && goes_on) || break_off(sending);
        }
        if (!request_answer(exchange, &message)) {
            if (!exchange->failure[0])
                exchange_wrong(exchange);
            return break_off(sending);
        }
    }
    return break_off(sending);
}

static void make(struct sending *sending, const mortise_http *http, struct asked_http *asked)
{
    struct exchange *exchange = sending->exchange;
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = MORTISE_FAILED;
    exchange->http_depth++;
    if (!asked->has_stop || make_brake(&sending->brake, exchange->lane->fd)) {
        asked->request.stop_fd = asked->has_stop ? sending->brake.stop : 0;
        status = http->send(exchange->call, &asked->request, &response);
    } else {
        response.problem = "no descriptor is left for the request";
    }
    exchange->http_depth--;
    asked_http_answer(asked, status, &response);
}

static bool http_send(struct exchange *exchange, struct parcel *message)
{
    const mortise_http *http = request_find_service(exchange, MORTISE_HTTP_ID);
    struct sending sending = {.exchange = exchange, .brake = {-1, -1}};
    struct asked_http asked = {.out = &exchange->out, .hand_on = hand_on, .context = &sending};
    if (exchange->http_depth == HTTP_DEPTH_MAX) {
        static const mortise_http_response refused = {
            .size = sizeof(refused), .problem = "it is made within too many others"};
        asked_http_answer(&asked, MORTISE_DENIED, &refused);
        return exchange_answer(exchange);
    }
    bool good = http && asked_http_read(&asked, message);
    if (good) {
        make(&sending, http, &asked);
        good = !exchange->failure[0] && exchange_answer(exchange);
    }
    close_brake(&sending.brake);
    asked_http_release(&asked);
    return good;
}

bool request_service(struct exchange *exchange, struct parcel *message)
{
    switch (message->type) {
    case PARCEL_ARTIFACT_SAVE:
        return artifact_save(exchange, message);
    case PARCEL_ARTIFACT_LOAD:
        return artifact_load(exchange, message);
    case PARCEL_ARTIFACT_LIST:
        return artifact_list(exchange, message);
    case PARCEL_MEMORY_ADD:
        return memory_add(exchange, message);
    case PARCEL_MEMORY_SEARCH:
        return memory_search(exchange, message);
    case PARCEL_MEMORY_FORGET:
        return memory_forget(exchange, message);
    case PARCEL_STATE_GET:
        return state_get(exchange, message);
    case PARCEL_STATE_SET:
        return state_set(exchange, message);
    case PARCEL_STATE_REPLACE:
        return state_replace(exchange, message);
    case PARCEL_STATE_KEYS:
        return state_keys(exchange, message);
    case PARCEL_HTTP_SEND:
        return http_send(exchange, message);
    default:
        return false;
    }
}
