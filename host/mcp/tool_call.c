/* tool_call - tools/call: the tool is found, asked with its hooks on this thread, and its result
 * told. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "mcp/content.h"
#include "mcp/server_private.h"
#include "tool/single.h"

enum { GRACE_MS = 2000, MORE_METADATA = 2 };

/* A tool that needs something of the client fails with this and the capability's name. */
#define CAPABILITY_CODE "mcp.capability."

/* What lives as long as the call. */
struct tool_call {
    struct mcp_exchange *exchange;
    struct registry *registry;
    struct text name;
    struct json_piece arguments;
    char id[ID_SIZE], invocation[ID_SIZE];
    struct call_context context;
    struct arena memory;
    struct dispatch_call call;
    struct hook_outcome outcome;
};

/* ---- the request ---- */

static bool read_params(struct tool_call *call)
{
    struct mcp_exchange *exchange = call->exchange;
    struct json_walk walk;
    struct json_piece key, value, name = {0};
    if (json_walk_into(&walk, exchange->message.params, '{'))
        while (json_walk_next(&walk, &key, &value)) {
            if (json_piece_is(key, "name"))
                name = value;
            else if (json_piece_is(key, "arguments"))
                call->arguments = value;
        }
    if (!json_piece_text(name, &call->name))
        mcp_refuse(exchange, MCP_INVALID_PARAMS, "Invalid params: \"name\" must be a string");
    else if (call->arguments.length && *call->arguments.data != '{')
        mcp_refuse(exchange, MCP_INVALID_PARAMS, "Invalid params: \"arguments\" must be an object");
    return !exchange->code;
}

/* ---- who calls ---- */

/* What the request says of the client, beside what the operator says. */
static bool make_metadata(struct tool_call *call, const struct metadata *own)
{
    const struct mcp_exchange *exchange = call->exchange;
    struct json_piece piece = exchange->message.capabilities;
    size_t count = 0;
    while (own && own[count].key)
        count++;
    struct metadata *list = arena_alloc(&call->memory, (count + MORE_METADATA + 1) * sizeof(*list));
    if (!list)
        return false;
    if (count)
        memcpy(list, own, count * sizeof(*list));
    list[count++] = (struct metadata){"mcp.version", mcp_revision_name(exchange->revision)};
    const char *capabilities = exchange->message.is_modern
                                   ? arena_copy(&call->memory, piece.data, piece.length)
                                   : text_cstr(&exchange->capabilities);
    if (capabilities && *capabilities)
        list[count] = (struct metadata){"mcp.capabilities", capabilities};
    call->context.metadata = list;
    return capabilities;
}

static const char *hook_context(void *data, const char *key, struct arena *memory)
{
    return context_get(data, key, memory);
}

/* ---- running ---- */

static bool take_progress(void *self, struct call *call, const struct progress *progress)
{
    (void)call;
    mcp_progress_take(self, progress);
    return true;
}

/* From here on whoever cancels can tell the tool. */
static void show_call(struct mcp_exchange *exchange, struct call *call)
{
    struct mcp_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    struct call *before = exchange->call;
    exchange->call = call ? call_ref(call) : NULL;
    pthread_mutex_unlock(&server->lock);
    if (before)
        call_unref(before);
    if (call && atomic_load(&exchange->is_stopped))
        call_cancelled(call);
}

/* Hooks keep state for a session, so they are never asked by two at once there. */
static void lock_hooks(struct tool_call *call, bool lock)
{
    struct mcp_server *server = call->exchange->server;
    if (call->context.session)
        (lock ? pthread_mutex_lock : pthread_mutex_unlock)(&server->asking);
}

static enum dispatch_end run(struct tool_call *call)
{
    struct mcp_exchange *exchange = call->exchange;
    const struct mcp_setting *setting = &exchange->server->setting;
    struct timeline timeline;
    timeline_init(&timeline);
    const struct hook_setting hooks = {
        .registry = call->registry,
        .timeline = &timeline,
        .context = hook_context,
        .context_data = &call->context,
    };
    const struct dispatch dispatch = {
        .registry = call->registry,
        .hooks = &hooks,
        .context = &call->context,
        .offered = setting->offered,
        .offered_data = setting->offered_data,
        .deadline_ms = exchange->deadline_ms,
        .grace_ms = GRACE_MS,
    };
    const struct call_watcher watcher = {.progress = take_progress, .self = exchange};
    bool is_watched = exchange->message.progress_token.length > 0;
    struct single single;
    lock_hooks(call, true);
    single_prepare(&single, &dispatch, &call->call, is_watched ? &watcher : NULL, &call->outcome);
    lock_hooks(call, false);
    show_call(exchange, single.call);
    single_run(&single);
    show_call(exchange, NULL);
    lock_hooks(call, true);
    enum dispatch_end end = single_finish(&single);
    lock_hooks(call, false);
    timeline_release(&timeline);
    return end;
}

/* ---- the answer ---- */

static const char *hook_name(const struct hook_outcome *outcome)
{
    return outcome->hook ? outcome->hook->name : "?";
}

/* What a hook made of the call, where a run would have ended or waited for somebody. */
static void judge(struct tool_call *call, enum dispatch_end end)
{
    const struct hook_outcome *outcome = &call->outcome;
    const char *reason = outcome->reason[0] ? outcome->reason : "it gave no reason";
    struct tool_result *result = &call->call.result;
    if (end == DISPATCH_PAUSED)
        tool_result_fail(result, MORTISE_FORBIDDEN, "hook.pause",
                         "Hook '%s' wants the user to decide about this call, and nobody can be "
                         "asked here: %s",
                         hook_name(outcome), reason);
    else if (end == DISPATCH_ABORTED)
        tool_result_fail(result, MORTISE_FORBIDDEN, "hook.abort", "Stopped by hook '%s' at %s: %s",
                         hook_name(outcome), outcome->event, reason);
    else if (end == DISPATCH_HOOK_FAILED)
        tool_result_fail(result, MORTISE_INTERNAL, "hook.failed", "Hook '%s' failed at %s: %s",
                         hook_name(outcome), outcome->event, reason);
}

/* A modern client is told which of its capabilities a tool needs; true: as an error of the
 * protocol. */
static bool lacks_capability(struct mcp_exchange *exchange, const struct tool_result *result)
{
    size_t length = strlen(CAPABILITY_CODE);
    if (result->success || !mcp_is_modern(exchange) ||
        strncmp(result->code, CAPABILITY_CODE, length) != 0 || !result->code[length])
        return false;
    snprintf(exchange->capability, sizeof(exchange->capability), "%s", result->code + length);
    mcp_refuse(exchange, MCP_MISSING_CAPABILITY, "%s", text_cstr(&result->text));
    return true;
}

/* Clients give up on a connection with a longer message. */
static void refuse_length(struct tool_result *result, size_t length)
{
    tool_result_fail(result, MORTISE_NOT_SUPPORTED, "mcp.too_large",
                     "The result has more than %zu bytes, and clients read at most %zu: ask for "
                     "less at a time",
                     length, MCP_ANSWER_MAX);
}

static void write_answer(struct mcp_exchange *exchange, const struct tool *tool,
                         const struct tool_result *result, struct text *out)
{
    answer_begin(exchange, out);
    content_write(out, tool, result, exchange->revision);
    answer_close(exchange, out);
}

static void answer(struct mcp_exchange *exchange, const struct tool *tool,
                   struct tool_result *result)
{
    struct text out = TEXT_INIT;
    size_t least = content_length(result);
    if (least <= MCP_ANSWER_MAX)
        write_answer(exchange, tool, result, &out);
    if (least > MCP_ANSWER_MAX || out.length > MCP_ANSWER_MAX) {
        refuse_length(result, least > MCP_ANSWER_MAX ? least : out.length);
        text_release(&out);
        out = (struct text)TEXT_INIT;
        write_answer(exchange, NULL, result, &out);
    }
    mcp_send(exchange, &out, 0, true);
    text_release(&out);
}

static void answer_failure(struct mcp_exchange *exchange, mortise_category category,
                           const char *code, const char *text)
{
    struct tool_result result = {0};
    tool_result_fail(&result, category, code, "%s", text);
    answer(exchange, NULL, &result);
    tool_result_release(&result);
}

void tool_call_give_up(struct mcp_exchange *exchange)
{
    show_call(exchange, NULL);
    answer_failure(exchange, MORTISE_TIMEOUT, "tool.timeout",
                   "timed out; the tool did not stop in time");
}

/* ---- the whole ---- */

static const struct tool *find_tool(struct tool_call *call)
{
    const struct mcp_setting *setting = &call->exchange->server->setting;
    const char *name = text_cstr(&call->name);
    const struct tool *tool =
        strlen(name) == call->name.length ? registry_find(call->registry, name) : NULL;
    if (tool && (!setting->offered || setting->offered(setting->offered_data, tool)))
        return tool;
    mcp_refuse(call->exchange, MCP_INVALID_PARAMS, "Unknown tool: %.200s", name);
    return NULL;
}

/* Each call is a run of its own.  Without hooks nobody may ever ask for these: then they are made
 * for who does. */
static void make_ids(struct tool_call *call)
{
    if (!hooks_take(call->registry, HOOK_pre_tool_call) &&
        !hooks_take(call->registry, HOOK_post_tool_call))
        return;
    id_make(call->id, "call");
    id_make(call->invocation, "run");
    call->call.id = call->id;
    call->context.invocation = call->invocation;
}

static void serve(struct tool_call *call)
{
    struct mcp_exchange *exchange = call->exchange;
    const struct tool *tool = read_params(call) ? find_tool(call) : NULL;
    struct tool_result *result = &call->call.result;
    if (!tool)
        return;
    make_ids(call);
    bool has_arguments = call->arguments.length > 0;
    call->call.name = tool->name;
    call->call.arguments = has_arguments
                               ? (struct slice){call->arguments.data, call->arguments.length}
                               : (struct slice){"{}", 2};
    call->call.valid = true;
    if (make_metadata(call, call->context.metadata))
        judge(call, run(call));
    else
        tool_result_fail(result, MORTISE_INTERNAL, "host.internal",
                         "Internal error: out of memory");
    if (lacks_capability(exchange, result))
        return;
    mcp_progress_end(exchange);
    answer(exchange, tool, result);
}

void tool_call_serve(struct mcp_exchange *exchange)
{
    const struct mcp_setting *setting = &exchange->server->setting;
    if (exchange->fails) {
        answer_failure(exchange, MORTISE_UNAVAILABLE, "host.busy", exchange->problem);
        return;
    }
    struct tool_call call = {
        .exchange = exchange,
        .registry = plugin_set_registry(setting->plugins),
        .context = *setting->context,
    };
    arena_init(&call.memory, NULL, 0);
    serve(&call);
    if (exchange->code)
        mcp_send_error(exchange);
    tool_result_release(&call.call.result);
    arena_release(&call.memory);
    text_release(&call.name);
    registry_unref(call.registry);
}
