/* What a plugin's process may send to the host, which must not believe it: while a tool or a hook is
 * asked, of itself, and beside its calls.  Everything behind the socket is the host's own code; its
 * services are stand-ins that answer without doing anything. */
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mortise/services.h>

#include "base/log.h"
#include "fuzz_remote.h"
#include "plugin/hooks.h"
#include "plugin/registry.h"
#include "remote/remote.h"
#include "tool/call.h"

#define MESSAGES_MAX 60 /* whose answers a socket takes that nobody reads */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- services ---- */

static mortise_artifact artifact = {.size = sizeof(artifact), .version = 1, .name = "a",
                                    .mime_type = "text/plain", .length = 1, .data = "x"};
static const mortise_artifact *const artifacts_found[] = {&artifact};

static mortise_status save(mortise_call *call, mortise_owner owner, const char *name,
                           const char *mime_type, const void *data, size_t length,
                           uint32_t *version)
{
    (void)call, (void)mime_type, (void)data;
    *version = 1;
    return name && length < 100 && owner < 3 ? MORTISE_OK : MORTISE_INVALID;
}

static mortise_status load(mortise_call *call, mortise_owner owner, const char *name,
                           uint32_t version, const mortise_artifact **found)
{
    (void)call, (void)owner, (void)version;
    *found = name ? &artifact : NULL;
    return name ? MORTISE_OK : MORTISE_NOT_FOUND;
}

static mortise_status list(mortise_call *call, mortise_owner owner,
                           const mortise_artifact *const **found, size_t *count)
{
    (void)call, (void)owner;
    *found = artifacts_found;
    *count = 1;
    return MORTISE_OK;
}

static mortise_memory_entry entry = {.size = sizeof(entry), .id = 1, .text = "t", .length = 1};
static const mortise_memory_entry *const entries_found[] = {&entry};

static mortise_status add(mortise_call *call, const char *text, size_t length, int64_t *id)
{
    (void)call;
    *id = 1;
    return text && length ? MORTISE_OK : MORTISE_INVALID;
}

static mortise_status search(mortise_call *call, const char *query, size_t limit,
                             const mortise_memory_entry *const **found, size_t *count)
{
    (void)call;
    *found = entries_found;
    *count = query && limit ? 1 : 0;
    return MORTISE_OK;
}

static mortise_status forget(mortise_call *call, int64_t id)
{
    (void)call;
    return id == 1 ? MORTISE_OK : MORTISE_NOT_FOUND;
}

static mortise_status get(mortise_call *call, mortise_owner owner, const char *key,
                          const char **json)
{
    (void)call, (void)owner;
    *json = key ? "1" : NULL;
    return key ? MORTISE_OK : MORTISE_INVALID;
}

static mortise_status set(mortise_call *call, mortise_owner owner, const char *key,
                          const char *json)
{
    (void)call, (void)owner, (void)json;
    return key ? MORTISE_OK : MORTISE_INVALID;
}

static mortise_status replace(mortise_call *call, mortise_owner owner, const char *key,
                              const char *expected, const char *json)
{
    (void)call, (void)owner, (void)json;
    return key && expected ? MORTISE_OK : MORTISE_CONFLICT;
}

static mortise_status keys(mortise_call *call, mortise_owner owner, const char *prefix,
                           const char *const **found, size_t *count)
{
    static const char *const names[] = {"one", "two"};
    (void)call, (void)owner;
    *found = names;
    *count = prefix ? 2 : 0;
    return MORTISE_OK;
}

static mortise_status http_send(mortise_call *call, const mortise_http_request *request,
                                mortise_http_response *response)
{
    static const mortise_http_header headers[] = {{"a", "b"}};
    size_t read = request->body_length;
    (void)call;
    for (size_t i = 0; i < request->header_count; i++)
        read += strlen(request->headers[i].name) + strlen(request->headers[i].value);
    for (int piece = 0; request->received && piece < 3; piece++)
        if (!request->received(request->received_data, "piece", 5))
            return MORTISE_CANCELLED;
    *response = (mortise_http_response){.size = sizeof(*response), .status = 200,
                                        .headers = headers, .header_count = 1,
                                        .url = request->url, .body = "", .body_length = 0};
    return request->url && read < 100000 ? MORTISE_OK : MORTISE_INVALID;
}

static const char *secret_get(const mortise_host *host, const char *name)
{
    (void)host;
    return *name == 's' ? "secret" : NULL;
}

static const mortise_artifacts artifacts_table = {
    .size = sizeof(artifacts_table), .save = save, .load = load, .list = list};
static const mortise_memory memory_table = {
    .size = sizeof(memory_table), .add = add, .search = search, .forget = forget};
static const mortise_state_service state_table = {
    .size = sizeof(state_table), .get = get, .set = set, .replace = replace, .keys = keys};
static const mortise_http http_table = {.size = sizeof(http_table), .send = http_send};
static const mortise_secrets secrets_table = {.size = sizeof(secrets_table), .get = secret_get};

static const void *find(const struct host_services *services, const char *id)
{
    static const struct {
        const char *id;
        const void *table;
    } tables[] = {{MORTISE_ARTIFACTS_ID, &artifacts_table}, {MORTISE_MEMORY_ID, &memory_table},
                  {MORTISE_STATE_ID, &state_table},         {MORTISE_HTTP_ID, &http_table},
                  {MORTISE_SECRETS_ID, &secrets_table}};
    (void)services;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
        if (strcmp(tables[i].id, id) == 0)
            return tables[i].table;
    return NULL;
}

static void keep(struct host_services *services)
{
    (void)services;
}

static struct host_services services = {.references = 1, .find = find, .free = keep};

/* ---- the process: its end is there, and nobody is behind it ---- */

static int over_fd(void) /* as a pidfd of a process that is over */
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    close(ends[1]);
    return ends[0];
}

/* The input goes into the socket; `fd` gets the host's end. */
static void fill(struct fuzz_input *input, int fds[2])
{
    struct text message = TEXT_INIT;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        abort();
    for (int i = 0; i < MESSAGES_MAX && fuzz_message(input, &message); i++)
        if (send(fds[1], message.data, message.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
    shutdown(fds[1], SHUT_WR);
    text_release(&message);
}

static struct child *make_child(struct host_api *api, int control)
{
    struct child *child = calloc(1, sizeof(*child));
    if (!child)
        abort();
    atomic_init(&child->refs, 1);
    pthread_mutex_init(&child->lock, NULL);
    child->pid = INT_MAX; /* no process has that */
    child->pidfd = over_fd();
    child->control = control;
    child->output = -1;
    child->api = api;
    child->name = strdup("fuzz");
    if (!child->name)
        abort();
    return child;
}

static void add_lane(struct child *child, int fd)
{
    struct lane *lane = calloc(1, sizeof(*lane));
    if (!lane)
        abort();
    lane->fd = fd;
    lane->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lane->end_fd = -1;
    child->idle = lane;
}

/* ---- the plugin, as the host has it ---- */

static void close_face(mortise_plugin *face)
{
    struct remote *remote = (struct remote *)face;
    child_unref(remote->child);
    pthread_mutex_destroy(&remote->lock);
    pthread_cond_destroy(&remote->started);
    arena_release(&remote->memory);
    free(remote);
}

static struct remote *make_remote(void)
{
    struct remote *remote = calloc(1, sizeof(*remote));
    if (!remote)
        abort();
    arena_init(&remote->memory, NULL, 0);
    pthread_mutex_init(&remote->lock, NULL);
    pthread_cond_init(&remote->started, NULL);
    remote->face = (mortise_plugin){.size = sizeof(remote->face), .close = close_face};
    remote->path = "fuzz.so";
    remote->api = host_api_new("fuzz", strdup("{}"), &services);
    if (!remote->api)
        abort();
    return remote;
}

/* What a good plugin says of itself: a tool, and a hook for everything. */
static void say_face(struct remote *remote)
{
    struct text text = TEXT_INIT;
    parcel_begin(&text, PARCEL_FACE);
    parcel_put_string(&text, "fuzz");
    parcel_put_string(&text, "1");
    parcel_put_u32(&text, 1);
    parcel_put_u32(&text, 0);
    parcel_put_string(&text, "tool");
    parcel_put_string(&text, "Does it.");
    parcel_put_string(&text, "{\"type\":\"object\"}");
    parcel_put_string(&text, NULL);
    parcel_put_strings(&text, NULL);
    parcel_put_string(&text, NULL);
    for (int i = 0; i < 3; i++) /* examples, and what a sandbox is to have */
        parcel_put_strings(&text, NULL);
    parcel_put_u32(&text, 0);
    parcel_put_u32(&text, 1);
    parcel_put_string(&text, "hook");
    parcel_put_u32(&text, 0);
    parcel_put_u32(&text, (1u << HOOK_EVENT_COUNT) - 1);
    struct parcel message = {.type = PARCEL_FACE, .data = text.data + 8, .left = text.length - 8};
    if (!remote_read_face(remote, &message))
        abort();
    text_release(&text);
}

static struct registry *registered(struct remote *remote)
{
    struct error error = ERROR_INIT;
    struct registry *registry = registry_new();
    struct plugin *plugin = plugin_new(remote->path, &remote->face, remote->api);
    if (!registry || !plugin)
        abort();
    plugin->isolation.is_process = true;
    if (!registry_add(registry, plugin, &error))
        plugin_unref(plugin);
    return registry;
}

/* ---- while a tool is asked ---- */

static uint64_t asked; /* as exchanges are numbered */

static struct remote *with_lane(struct fuzz_input *input, int fds[2])
{
    struct remote *remote = make_remote();
    say_face(remote);
    input->number = ++asked;
    fill(input, fds);
    remote->child = make_child(remote->api, -1);
    add_lane(remote->child, fds[0]);
    return remote;
}

static void ask_tool(struct fuzz_input *input)
{
    int fds[2];
    struct tool_result result;
    struct registry *registry = registered(with_lane(input, fds));
    tool_call(registry, "tool", "{}", 2, NULL, NULL, &result);
    tool_result_release(&result);
    registry_unref(registry);
    close(fds[1]);
}

/* ---- while a hook is asked ---- */

static void op_reason(mortise_hook *hook, const char *text, size_t length)
{
    (void)hook;
    if (text && length && memchr(text, 1, length) == text)
        return;
}

static const char *op_context(mortise_hook *hook, const char *key)
{
    (void)hook;
    return strcmp(key, "model") == 0 ? "m" : NULL;
}

static size_t op_item_count(mortise_hook *hook)
{
    (void)hook;
    return 1;
}

static const char *op_item(mortise_hook *hook, size_t index, size_t *length)
{
    (void)hook;
    *length = index ? 0 : 2;
    return index ? NULL : "{}";
}

static mortise_status op_set_item(mortise_hook *hook, size_t index, const char *json, size_t length)
{
    (void)hook;
    return index || (json && length > 100) ? MORTISE_INVALID : MORTISE_OK;
}

static mortise_status op_remove_item(mortise_hook *hook, size_t index)
{
    (void)hook;
    return index ? MORTISE_INVALID : MORTISE_OK;
}

static mortise_status op_json(mortise_hook *hook, const char *json, size_t length)
{
    (void)hook;
    return json && length ? MORTISE_OK : MORTISE_INVALID;
}

static mortise_status op_result(mortise_hook *hook, bool is_error, const char *text, size_t length)
{
    (void)hook;
    return is_error || (text && length) ? MORTISE_OK : MORTISE_INVALID;
}

static void ask_hook(struct fuzz_input *input)
{
    static const mortise_hook_ops ops = {.size = sizeof(ops),
                                         .reason = op_reason,
                                         .context = op_context,
                                         .item_count = op_item_count,
                                         .item = op_item,
                                         .set_item = op_set_item,
                                         .remove_item = op_remove_item,
                                         .append = op_json,
                                         .set_arguments = op_json,
                                         .respond = op_result,
                                         .set_result = op_result};
    const mortise_pre_llm_request event = {.size = sizeof(event), .model = "m"};
    mortise_hook hook = {.size = sizeof(hook), .ops = &ops};
    int fds[2];
    struct remote *remote = with_lane(input, fds);
    const mortise_hooks *face = remote->face.hooks[0];
    face->pre_llm_request(face->state, &hook, &event);
    host_api_free(remote->api);
    close_face(&remote->face);
    close(fds[1]);
}

/* ---- of itself, and beside its calls ---- */

static void hear_face(struct fuzz_input *input)
{
    struct text text = TEXT_INIT;
    struct remote *remote = make_remote();
    if (fuzz_message(input, &text)) {
        struct parcel message = {
            .type = PARCEL_FACE, .data = text.data + 8, .left = text.length - 8};
        remote_read_face(remote, &message);
    }
    text_release(&text);
    registry_unref(registered(remote)); /* whatever was read: the rest is not there */
}

static void hear_control(struct fuzz_input *input)
{
    int fds[2];
    struct parcel message;
    struct host_api *api = host_api_new("fuzz", strdup("{}"), &services);
    fill(input, fds);
    struct child *child = make_child(api, fds[0]);
    bool good = true;
    while (good && parcel_read(fds[0], &child->in, 0) > 0) {
        enum parcel_next next;
        while ((next = parcel_next(&child->in, &message)) == PARCEL_NEXT && good)
            good = child_hear(child, &message);
        good = good && next != PARCEL_WRONG;
    }
    child_unref(child);
    host_api_free(api);
    close(fds[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {.data = data, .left = size};
    static void (*const ways[])(struct fuzz_input * input) = {ask_tool, ask_hook, hear_face,
                                                              hear_control};
    log_set_level(LOG_ERROR);
    ways[fuzz_byte(&input) % 4](&input);
    return 0;
}
