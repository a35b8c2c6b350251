#include "remote/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "plugin/hooks.h"
#include "plugin/loader.h"
#include "plugin/scan.h"
#include "remote/fence.h"
#include "remote/guard.h"
#include "remote/rules.h"
#include "remote/serve_private.h"
#include "remote/take.h"
#include "remote/zygote.h"
#include "sandbox/sandbox.h"

/* One plugin and one control socket: there is nothing else in this process. */
static struct {
    struct parcel_in in;
    pthread_mutex_t sending;
    pthread_mutex_t asking; /* one secret at a time */
    pthread_mutex_t lock;   /* for what follows */
    pthread_cond_t answered;
    bool is_serving; /* the main thread reads */
    bool is_answered;
    char *answer;
    const char *config;
    pid_t host, guard; /* who has started all this, and the parent */
    char sha256[SHA256_TEXT]; /* of what may be loaded; "": anything */
    struct sealed copy;       /* of it */
    enum serve_for purpose;
    struct zygote_setup calls; /* of SERVE_CALLS */
} control = {.sending = PTHREAD_MUTEX_INITIALIZER,
             .asking = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .answered = PTHREAD_COND_INITIALIZER};

bool serve_is_meant(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], SERVE_WORD) == 0;
}

/* The host is gone, or is none. */
static void give_up(void)
{
    _exit(SERVE_LOST);
}

/* ---- control ---- */

static bool send_control(struct text *message)
{
    pthread_mutex_lock(&control.sending);
    bool sent = parcel_send(SERVE_FD, message, -1);
    pthread_mutex_unlock(&control.sending);
    text_release(message);
    return sent;
}

static void send_log(enum log_level level, const char *line)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LOG);
    parcel_put_u32(&message, (uint32_t)level);
    parcel_put_string(&message, line);
    send_control(&message);
}

static void next_control(struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&control.in, message)) == PARCEL_NONE)
        if (parcel_read(SERVE_FD, &control.in, 0) <= 0)
            give_up();
    if (next == PARCEL_WRONG)
        give_up();
}

static char *read_secret(struct parcel *message)
{
    const char *value = parcel_string(message);
    return value ? strdup(value) : NULL;
}

/* While the plugin is loaded the main thread does not read yet. */
static char *wait_for_secret(void)
{
    struct parcel message;
    pthread_mutex_lock(&control.lock);
    if (!control.is_serving) {
        next_control(&message);
        control.answer = read_secret(&message);
        control.is_answered = true;
    }
    while (!control.is_answered)
        pthread_cond_wait(&control.answered, &control.lock);
    control.is_answered = false;
    char *answer = control.answer;
    control.answer = NULL;
    pthread_mutex_unlock(&control.lock);
    return answer;
}

bool serve_is_for_calls(void)
{
    return control.purpose == SERVE_CALLS;
}

char *serve_secret(const char *name)
{
    if (serve_is_for_calls()) /* what is in its memory is in that of all calls */
        return NULL;
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_SECRET);
    parcel_put_string(&message, name);
    pthread_mutex_lock(&control.asking);
    char *value = send_control(&message) ? wait_for_secret() : NULL;
    pthread_mutex_unlock(&control.asking);
    return value;
}

static void take_secret(struct parcel *message)
{
    pthread_mutex_lock(&control.lock);
    control.answer = read_secret(message);
    control.is_answered = true;
    pthread_cond_signal(&control.answered);
    pthread_mutex_unlock(&control.lock);
}

/* ---- lanes ---- */

void lane_next(struct served_lane *lane, struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&lane->in, message)) == PARCEL_NONE)
        if (parcel_read_soon(lane->fd, &lane->in) <= 0)
            give_up();
    if (next == PARCEL_WRONG)
        give_up();
}

/* What a lane's thread did is seen by the main thread that closes the plugin, which the host tells
 * to by other ways than C knows of. */
static atomic_uint handed_over;

bool lane_send(struct served_lane *lane)
{
    atomic_fetch_add_explicit(&handed_over, 1, memory_order_release);
    if (parcel_send(lane->fd, &lane->out, -1))
        return true;
    if (errno != EMSGSIZE && errno != ENOMEM)
        give_up();
    return false;
}

bool lane_ask(struct served_lane *lane, struct parcel *answer)
{
    if (!lane_send(lane))
        return false;
    lane_next(lane, answer);
    return true;
}

bool lane_first(struct served_lane *lane, struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&lane->in, message)) == PARCEL_NONE)
        if (parcel_read_soon(lane->fd, &lane->in) <= 0)
            return false;
    return next == PARCEL_NEXT;
}

static void *run_lane(void *argument)
{
    struct served_lane *lane = argument;
    struct parcel message;
    while (lane_first(lane, &message))
        if (message.type == PARCEL_CALL)
            serve_call(lane, &message);
        else if (message.type == PARCEL_HOOK)
            serve_hook(lane, &message);
        else
            give_up();
    close(lane->fd);
    close(lane->cancel_fd);
    parcel_in_release(&lane->in);
    text_release(&lane->out);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
    return NULL;
}

void lane_init(struct served_lane *lane, int fd, int cancel_fd, struct plugin *plugin)
{
    pthread_mutexattr_t recursive;
    *lane = (struct served_lane){.fd = fd, .cancel_fd = cancel_fd, .plugin = plugin};
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lane->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void open_lane(struct plugin *plugin)
{
    struct served_lane *lane = malloc(sizeof(*lane));
    pthread_t thread;
    if (!lane || control.in.fd_count < 2)
        give_up();
    lane_init(lane, control.in.fds[0], control.in.fds[1], plugin);
    control.in.fd_count -= 2;
    memmove(control.in.fds, control.in.fds + 2, control.in.fd_count * sizeof(int));
    if (pthread_create(&thread, NULL, run_lane, lane) != 0)
        give_up();
    pthread_detach(thread);
}

/* ---- the plugin's own words ---- */

/* As the author has it, read by the rules of the host, which reads it again. */
static void put_tool(struct text *out, const struct tool *tool)
{
    const mortise_tool_meta *said = tool->instance->meta;
    struct text schema = TEXT_INIT;
    mortise_tool_meta meta = tool->meta;
    if (said->shape)
        shape_write_schema(said->shape, &schema);
    bool own = said->input_schema && *said->input_schema;
    meta.flags = said->flags;
    meta.name = said->name;
    meta.description = said->description;
    meta.input_schema = said->shape ? text_cstr(&schema)
                        : own       ? said->input_schema
                                    : "{\"type\":\"object\"}";
    meta.output_schema = said->output_schema;
    meta.scopes = said->scopes;
    meta.title = said->title;
    meta.examples = MORTISE_HAS(said, mortise_tool_meta, examples) ? said->examples : NULL;
    put_meta(out, &meta);
    out->failed |= schema.failed;
    text_release(&schema);
}

static void put_hook(struct text *out, const struct hook *hook)
{
    uint32_t mask = 0;
    for (int event = 0; event < HOOK_EVENT_COUNT; event++)
        mask |= (uint32_t)hook_takes(hook, (enum hook_event)event) << event;
    parcel_put_string(out, hook->table->name);
    parcel_put_u32(out, (uint32_t)hook->table->priority);
    parcel_put_u32(out, mask);
}

static void tell_face(const struct plugin *plugin)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_FACE);
    parcel_put_string(&message, plugin->face->name);
    parcel_put_string(&message, plugin->face->version);
    parcel_put_u32(&message, (uint32_t)plugin->tool_count);
    for (size_t i = 0; i < plugin->tool_count; i++)
        put_tool(&message, plugin->tools[i]);
    parcel_put_u32(&message, (uint32_t)plugin->hook_count);
    for (size_t i = 0; i < plugin->hook_count; i++)
        put_hook(&message, &plugin->hooks[i]);
    if (!send_control(&message))
        give_up();
}

static void tell_refusal(const char *reason)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_REFUSED);
    parcel_put_string(&message, reason);
    send_control(&message);
    _exit(EXIT_SUCCESS);
}

/* ---- loading ---- */

static char *copy_config(void *unused, const char *plugin)
{
    (void)unused;
    (void)plugin;
    return strdup(control.config);
}

/* The host has looked at the file and told its SHA-256: what is mapped here has to be that.  The
 * copy is made before there is a sandbox, in which no file can be made in memory. */
static void make_copy(const char *path)
{
    struct error error = ERROR_INIT;
    struct sealed *copy = &control.copy;
    int file = scan_open(path, NULL, &error);
    int fd = file >= 0 ? sealed_copy(file, "plugin", copy->sha256, &error) : -1;
    if (fd < 0)
        tell_refusal(error.message);
    close(file);
    copy->fd = SERVE_COPY_FD;
    if (fd == SERVE_COPY_FD)
        return;
    if (dup3(fd, SERVE_COPY_FD, O_CLOEXEC) < 0)
        tell_refusal("it cannot be read: no descriptor is left");
    close(fd);
}

static bool is_same(void *unused, const char *path, const char *found, struct error *error)
{
    (void)unused;
    (void)path;
    return strcmp(found, control.sha256) == 0 ||
           error_set(error, ERROR_PLUGIN, "its file changed after it was looked at: load it anew");
}

static struct plugin *load(const char *path, const struct file_id *file)
{
    struct error error = ERROR_INIT;
    bool again;
    struct loader loader = {
        .registry = registry_new(), .config = copy_config, .services = serve_services()};
    if (*control.sha256) {
        loader.admits = is_same;
        loader.copy = &control.copy;
    }
    struct plugin *plugin =
        loader.registry ? loader_make(&loader, path, &again, &error) : NULL;
    if (!loader.registry)
        error_memory(&error);
    registry_unref(loader.registry); /* it was for the loader's claims */
    if (*control.sha256)
        close(control.copy.fd);
    if (!plugin)
        tell_refusal(error.message);
    if (!file_id_equal(&plugin->file, file))
        tell_refusal("its file is another one than when it was loaded: load it anew");
    return plugin;
}

/* A limit is the last resort of one that is looked after from outside.  One byte of core dump is
 * none, and keeps a collector of them from being started, which 0 does not. */
static void limit(int64_t memory_bytes)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (memory_bytes > 0 && memory_bytes < INT64_MAX / 2) {
        rlim_t most = (rlim_t)memory_bytes * 2;
        setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
    }
#else
    (void)memory_bytes;
#endif
}

/* NULL is a string that is not there; what there is no memory for ends this process. */
static char *keep_string(struct parcel *message)
{
    const char *string = parcel_string(message);
    char *copy = string ? strdup(string) : NULL;
    if (string && !copy)
        give_up();
    return copy;
}

/* The rest of PARCEL_LOAD. */
static void read_purpose(struct parcel *message)
{
    control.purpose = (enum serve_for)parcel_u32(message);
    control.calls.grants = keep_string(message);
    control.calls.memory_bytes = parcel_i64(message);
    control.calls.timeout_ms = parcel_i64(message);
    control.calls.scratch = keep_string(message);
    if (!parcel_ends(message) || control.purpose > SERVE_CALLS ||
        (control.purpose == SERVE_CALLS && !control.calls.scratch))
        give_up();
}

/* Before anything foreign is mapped. */
static void enter_sandbox(const char *path)
{
    struct rules rules;
    struct error error = ERROR_INIT;
    char reason[300];
    struct sandbox *sandbox = NULL;
    bool made = rules_for_plugin(&rules, control.calls.grants, path, &error);
    if (made && *control.sha256)
        rules.rules.keep_descriptors = SERVE_COPY_FD + 1;
    if (made)
        sandbox = sandbox_prepare(&rules.rules, &error);
    if (!sandbox)
        tell_refusal(error.message);
    enum sandbox_layer layer = sandbox_enter(sandbox, control.guard);
    if (layer != SANDBOX_NO_LAYER) {
        snprintf(reason, sizeof(reason), "it cannot be shut in a sandbox: %s: %s",
                 sandbox_layer_name(layer), strerror(errno));
        tell_refusal(reason);
    }
    sandbox_free(sandbox);
    rules_release(&rules);
}

static struct plugin *begin(void)
{
    struct parcel message;
    size_t length;
    control.in.takes_fds = true;
    next_control(&message);
    pid_t host = (pid_t)parcel_u32(&message);
    char *path = strdup(parcel_needed(&message));
    char *config = strdup(parcel_needed(&message));
    const void *bytes = parcel_bytes(&message, &length);
    struct file_id file;
    if (message.bad || !path || !config || message.type != PARCEL_LOAD || length != sizeof(file) ||
        control.host != host)
        give_up();
    memcpy(&file, bytes, sizeof(file));
    const char *sha256 = parcel_string(&message);
    snprintf(control.sha256, sizeof(control.sha256), "%s", sha256 ? sha256 : "");
    control.config = config;
    log_set_level((enum log_level)parcel_u32(&message));
    if (parcel_flag(&message))
        secret_hide_memory();
    int64_t memory_bytes = parcel_i64(&message);
    read_purpose(&message);
    log_set_sink(send_log);
    /* Engines reserve far more than they use; the calls are watched, and what they fork from starts
     * nothing by itself. */
    limit(control.purpose == SERVE_CALLS ? 0 : memory_bytes);
    fence_up();
    if (*control.sha256)
        make_copy(path);
    if (control.purpose == SERVE_IN_SANDBOX)
        enter_sandbox(path);
    struct plugin *plugin = load(path, &file);
    free(path);
    return plugin;
}

int serve(void)
{
    struct parcel message = {0};
    control.guard = guard_stand(&control.host);
    if (!control.guard)
        give_up();
    syscall(SYS_close_range, SERVE_FD + 1, ~0U, 0);
    struct plugin *plugin = begin();
    pthread_mutex_lock(&control.lock);
    control.is_serving = true;
    pthread_mutex_unlock(&control.lock);
    tell_face(plugin);
    if (control.purpose == SERVE_CALLS) {
        int code = zygote_serve(plugin, &control.calls, &control.in);
        plugin_unref(plugin);
        return code;
    }
    while (message.type != PARCEL_CLOSE) {
        next_control(&message);
        if (message.type == PARCEL_LANE)
            open_lane(plugin);
        else if (message.type == PARCEL_ANSWER)
            take_secret(&message);
        else if (message.type != PARCEL_CLOSE)
            give_up();
    }
    atomic_load_explicit(&handed_over, memory_order_acquire);
    plugin_unref(plugin);
    return EXIT_SUCCESS;
}
