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
    const char *config;
    pid_t host, guard;        /* who has started all this, and the parent */
    char sha256[SHA256_TEXT]; /* of what may be loaded; "": anything */
    struct sealed copy;       /* of it */
    enum serve_for purpose;
    struct zygote_setup calls; /* of SERVE_CALLS */
} control;

bool serve_is_meant(int argc, char **argv)
{
    return argc == 3 && strcmp(argv[1], SERVE_WORD) == 0;
}

static void send_log(enum log_level level, const char *line)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_LOG);
    parcel_put_u32(&message, (uint32_t)level);
    parcel_put_string(&message, line);
    control_send(&message);
}

bool serve_is_for_calls(void)
{
    return control.purpose == SERVE_CALLS;
}

/* ---- lanes ---- */

void lane_next(struct served_lane *lane, struct parcel *message)
{
    enum parcel_next next;
    while ((next = parcel_next(&lane->in, message)) == PARCEL_NONE)
        if (parcel_read_soon(lane->fd, &lane->in) <= 0)
            serve_give_up();
    if (next == PARCEL_WRONG)
        serve_give_up();
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
        serve_give_up();
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
            serve_give_up();
    lane_free(lane);
    return NULL;
}

void lane_free(struct served_lane *lane)
{
    close(lane->fd);
    if (lane->cancel_fd >= 0)
        close(lane->cancel_fd);
    parcel_in_release(&lane->in);
    text_release(&lane->out);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
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
    int fd = control_take_fd(), cancel_fd = control_take_fd();
    if (!lane || cancel_fd < 0)
        serve_give_up();
    lane_init(lane, fd, cancel_fd, plugin);
    if (pthread_create(&thread, NULL, run_lane, lane) != 0)
        serve_give_up();
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
    parcel_put_u32(out, tool_may_be_left_out(tool->instance) ? MORTISE_MAY_BE_LEFT_OUT : 0);
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
    if (!control_send(&message))
        serve_give_up();
}

static void tell_refusal(const char *reason)
{
    struct text message = TEXT_INIT;
    parcel_begin(&message, PARCEL_REFUSED);
    parcel_put_string(&message, reason);
    control_send(&message);
    _exit(EXIT_SUCCESS);
}

/* ---- loading ---- */

static char *copy_config(void *unused, const char *plugin)
{
    (void)unused;
    (void)plugin;
    return strdup(control.config);
}

static void tell_changed(struct host_bell *bell)
{
    (void)bell;
    serve_changed();
}

static void keep_bell(struct host_bell *bell)
{
    (void)bell;
}

/* What is made for calls only has no say in what the plugin is. */
static struct host_bell *find_bell(void)
{
    static struct host_bell bell = {.references = 1, .ring = tell_changed, .free = keep_bell};
    return serve_is_for_calls() ? NULL : &bell;
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
    struct loader loader = {.registry = registry_new(),
                            .config = copy_config,
                            .services = serve_services(),
                            .bell = find_bell()};
    if (*control.sha256) {
        loader.admits = is_same;
        loader.copy = &control.copy;
    }
    struct plugin *plugin = loader.registry ? loader_make(&loader, path, &again, &error) : NULL;
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
        serve_give_up();
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
        serve_give_up();
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
    control_next(&message);
    pid_t host = (pid_t)parcel_u32(&message);
    char *path = strdup(parcel_needed(&message));
    char *config = strdup(parcel_needed(&message));
    const void *bytes = parcel_bytes(&message, &length);
    struct file_id file;
    if (message.bad || !path || !config || message.type != PARCEL_LOAD || length != sizeof(file) ||
        control.host != host)
        serve_give_up();
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
        serve_give_up();
    syscall(SYS_close_range, SERVE_FD + 1, ~0U, 0);
    struct plugin *plugin = begin();
    control_serve(true);
    tell_face(plugin);
    if (control.purpose == SERVE_CALLS) {
        int code = zygote_serve(plugin, &control.calls, control_in());
        plugin_unref(plugin);
        return code;
    }
    while (message.type != PARCEL_CLOSE) {
        control_next(&message);
        if (message.type == PARCEL_LANE)
            open_lane(plugin);
        else if (message.type == PARCEL_ANSWER || message.type == PARCEL_OWN_LANE)
            control_answer(&message);
        else if (message.type != PARCEL_CLOSE)
            serve_give_up();
    }
    atomic_load_explicit(&handed_over, memory_order_acquire);
    control_serve(false);
    plugin_unref(plugin);
    return EXIT_SUCCESS;
}
