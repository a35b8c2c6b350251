/*
 * Which era a server is of.  A modern one answers server/discover; whatever else comes of that, an
 * error, silence or its end, is a sign of a legacy one, which `initialize` opens.
 */
#include "session_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mortise/json.h>

#define CLIENT "\"clientInfo\":{\"name\":\"mortise\",\"version\":\"" RPC_CLIENT_VERSION "\"}"

enum {
    MISSING_CAPABILITY = -32021,
    UNSUPPORTED_VERSION = -32022,
    INFO_MAX = 16 << 10 /* of what a server says of itself */
};

/* What a list of versions has in common with what is spoken here. */
struct common {
    bool has_list, has_modern, has_legacy;
};

static struct common compare(const char *json, const char *key)
{
    struct common common = {0};
    const char *list, *item = NULL;
    char version[32];
    if (!json || mortise_json_array(json, key, &list) != MORTISE_OK)
        return common;
    common.has_list = true;
    while (mortise_json_next(list, &item) == MORTISE_OK)
        if (mortise_json_string(item, NULL, version, sizeof(version)) == MORTISE_OK) {
            common.has_modern = common.has_modern || strcmp(version, RPC_MODERN) == 0;
            common.has_legacy = common.has_legacy || rpc_is_legacy(version);
        }
    return common;
}

/* Keeps what is said of the server: whether it tells of changes, and who it is. */
static void take_over(struct session *session, const char *result, const char *info)
{
    const char *capabilities = NULL, *tools = NULL;
    bool tells = false;
    if (mortise_json_object(result, "capabilities", &capabilities) == MORTISE_OK &&
        mortise_json_object(capabilities, "tools", &tools) == MORTISE_OK)
        mortise_json_boolean(tools, "listChanged", &tells);
    struct buffer server = BUFFER_INIT;
    if (info && mortise_json_length(info) > INFO_MAX)
        info = NULL;
    if (info)
        buffer_json(&server, info, mortise_json_length(info));
    pthread_mutex_lock(&session->lock);
    session->tells_changes = tells;
    free(session->server);
    session->server = info ? buffer_take(&server) : NULL;
    pthread_mutex_unlock(&session->lock);
}

static void set_version(struct session *session, bool is_modern, const char *version)
{
    pthread_mutex_lock(&session->lock);
    session->is_modern = is_modern;
    snprintf(session->version, sizeof(session->version), "%s", version);
    pthread_mutex_unlock(&session->lock);
}

/* ---- modern ---- */

enum probed { IS_MODERN, IS_LEGACY, IS_SILENT, IS_GONE, ASK_AGAIN, IS_NEITHER };

static enum probed judge_error(const struct session *session, const char *error, char *problem,
                               size_t size)
{
    int64_t code = 0;
    const char *data = NULL;
    mortise_json_integer(error, "code", &code);
    mortise_json_object(error, "data", &data);
    bool is_of_modern = code == RPC_HEADER_MISMATCH || code == MISSING_CAPABILITY;
    rpc_describe_error(error, problem, size);
    if (code != UNSUPPORTED_VERSION)
        return is_of_modern && session->config->is_http ? IS_NEITHER : IS_LEGACY;
    struct common common = compare(data, "supported");
    if (common.has_modern)
        return ASK_AGAIN;
    return common.has_legacy || !common.has_list ? IS_LEGACY : IS_NEITHER;
}

static enum probed judge_result(struct session *session, const char *result, char *problem,
                                size_t size)
{
    const char *meta = NULL, *info = NULL;
    struct common common = compare(result, "supportedVersions");
    if (!common.has_modern) {
        snprintf(problem, size,
                 "of the versions of the protocol that it speaks none is spoken here");
        return common.has_legacy || !common.has_list ? IS_LEGACY : IS_NEITHER;
    }
    if (mortise_json_object(result, "_meta", &meta) == MORTISE_OK)
        mortise_json_object(meta, "io.modelcontextprotocol/serverInfo", &info);
    take_over(session, result, info);
    set_version(session, true, RPC_MODERN);
    return IS_MODERN;
}

static enum probed probe(struct session *session, bool is_only, char *problem, size_t size)
{
    const struct limits *limits = &session->config->limits;
    struct reply reply;
    bool is_http = session->config->is_http;
    int64_t ms = is_http || is_only ? limits->connect_ms : limits->probe_ms;
    session_ask(session,
                &(struct ask){.method = "server/discover",
                              .members = "",
                              .is_modern = true,
                              .is_never_cancelled = true,
                              .timeout_ms = ms,
                              .max_ms = ms},
                &reply);
    enum probed probed = IS_NEITHER;
    snprintf(problem, size, "%s", reply.problem);
    if (reply.status == MORTISE_OK)
        probed = reply.result ? judge_result(session, reply.result, problem, size)
                              : judge_error(session, reply.error, problem, size);
    else if (reply.is_lost)
        probed = IS_GONE;
    else if (reply.is_late && !is_http)
        probed = IS_SILENT;
    else if (reply.status == MORTISE_UNSUPPORTED)
        probed = IS_LEGACY;
    reply_release(&reply);
    return probed;
}

/* ---- legacy ---- */

static bool judge_initialized(struct session *session, const char *result, char *problem,
                              size_t size)
{
    char version[32] = "";
    const char *info = NULL;
    mortise_json_string(result, "protocolVersion", version, sizeof(version));
    if (!rpc_is_legacy(version)) {
        snprintf(problem, size,
                 "it answered with version '%s' of the protocol, which is not spoken here",
                 version);
        return false;
    }
    mortise_json_object(result, "serverInfo", &info);
    take_over(session, result, info);
    set_version(session, false, version);
    session_tell(session, "notifications/initialized", "", false, true);
    return true;
}

enum initialized { IS_INITIALIZED, IS_REFUSED, IS_LOST, IS_NOT_INITIALIZED };

static enum initialized initialize(struct session *session, char *problem, size_t size)
{
    const struct limits *limits = &session->config->limits;
    struct reply reply;
    set_version(session, false, "");
    session_ask(session,
                &(struct ask){.method = "initialize",
                              .members = "\"protocolVersion\":\"" RPC_LEGACY "\","
                                         "\"capabilities\":{}," CLIENT,
                              .is_never_cancelled = true,
                              .timeout_ms = limits->connect_ms,
                              .max_ms = limits->connect_ms},
                &reply);
    enum initialized initialized = reply.is_lost ? IS_LOST : IS_NOT_INITIALIZED;
    if (reply.result && judge_initialized(session, reply.result, problem, size))
        initialized = IS_INITIALIZED;
    else if (reply.error)
        initialized = IS_REFUSED;
    if (reply.error)
        rpc_describe_error(reply.error, problem, size);
    else if (!reply.result)
        snprintf(problem, size, "%s", reply.problem);
    reply_release(&reply);
    return initialized;
}

/* ---- both ---- */

static enum opened begin_legacy(struct session *session, enum probed probed, enum era_choice *era,
                                char *problem, size_t size)
{
    enum initialized initialized = initialize(session, problem, size);
    *era = ERA_LEGACY;
    if (initialized == IS_INITIALIZED)
        return OPENED;
    if (initialized == IS_LOST && probed != IS_NEITHER)
        return OPEN_ANEW; /* the probe may have been too much for it */
    /* It was slow to start, and now that it answers it wants nothing of the legacy era. */
    if (initialized == IS_REFUSED && probed == IS_SILENT &&
        probe(session, false, problem, size) == IS_MODERN) {
        *era = ERA_MODERN;
        return OPENED;
    }
    return OPEN_FAILED;
}

enum opened era_open(struct session *session, enum era_choice *era, char *problem, size_t size)
{
    bool is_only = session->config->era == ERA_MODERN;
    enum probed probed = IS_NEITHER;
    if (*era == ERA_LEGACY)
        return begin_legacy(session, probed, era, problem, size);
    probed = probe(session, is_only, problem, size);
    if (probed == ASK_AGAIN)
        probed = probe(session, is_only, problem, size);
    if (probed == IS_MODERN) {
        *era = ERA_MODERN;
        return OPENED;
    }
    if (probed == IS_NEITHER || probed == ASK_AGAIN || is_only)
        return OPEN_FAILED;
    if (probed != IS_GONE)
        return begin_legacy(session, probed, era, problem, size);
    *era = ERA_LEGACY;
    return OPEN_ANEW;
}
