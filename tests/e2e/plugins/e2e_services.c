/* A tool for each function of each service, for two plugins: KEEPER is the name of this one. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mortise_host *the_host;

static mortise_status here(mortise_call *call, const void *table, const char *what)
{
    return table ? MORTISE_OK : mortise_fail(call, "there is no %s here", what);
}

/* ---- artifacts ----------------------------------------------------------------------------- */

MORTISE_TOOL_WITH(save, (name(KEEPER "_save")), 0, "Save a file.",
    (integer, owner, "0: session, 1: user, 2: app.", fallback(0)),
    (string,  name,  "Its name.",                    required),
    (string,  text,  "What is in it.",               fallback("")),
    (integer, bytes, "Instead: so many bytes.",      fallback(0)));

static mortise_status save(mortise_call *call, const save_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    if (here(call, artifacts, "artifacts"))
        return MORTISE_FAILED;
    size_t length = args->bytes ? (size_t)args->bytes : strlen(args->text);
    char *data = calloc(1, length + 1);
    if (!data)
        return MORTISE_NO_MEMORY;
    if (!args->bytes)
        memcpy(data, args->text, length);
    uint32_t version = 0;
    mortise_status status = artifacts->save(call, (mortise_owner)args->owner, args->name,
                                            "text/plain", data, length, &version);
    free(data);
    return status ? status : mortise_reply(call, "version %u", version);
}

MORTISE_TOOL_WITH(load, (name(KEEPER "_load")), MORTISE_READ_ONLY, "Load a file.",
    (integer, owner,   "0: session, 1: user, 2: app.", fallback(0)),
    (string,  name,    "Its name.",                    required),
    (integer, version, "0: the latest.",               fallback(0)));

static mortise_status load(mortise_call *call, const load_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    const mortise_artifact *artifact;
    if (here(call, artifacts, "artifacts"))
        return MORTISE_FAILED;
    mortise_status status = artifacts->load(call, (mortise_owner)args->owner, args->name,
                                            (uint32_t)args->version, &artifact);
    return status ? status
                  : mortise_reply(call, "%u %s %s", artifact->version, artifact->mime_type,
                                  (const char *)artifact->data);
}

MORTISE_TOOL_WITH(list, (name(KEEPER "_list")), MORTISE_READ_ONLY, "List files.",
    (integer, owner, "0: session, 1: user, 2: app.", fallback(0)));

static mortise_status list(mortise_call *call, const list_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    const mortise_artifact *const *all;
    size_t count, length = 0;
    char text[4096] = "";
    if (here(call, artifacts, "artifacts"))
        return MORTISE_FAILED;
    mortise_status status = artifacts->list(call, (mortise_owner)args->owner, &all, &count);
    for (size_t i = 0; !status && i < count && length < sizeof(text); i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %u %zu\n",
                                   all[i]->name, all[i]->version, all[i]->length);
    return status ? status : mortise_reply(call, "%s", text);
}

/* ---- memory -------------------------------------------------------------------------------- */

MORTISE_TOOL_WITH(remember, (name(KEEPER "_remember")), 0, "Remember a text.",
    (string, text, "The text.", required));

static mortise_status remember(mortise_call *call, const remember_args *args)
{
    const mortise_memory *memory = mortise_memory_of(call);
    int64_t id = 0;
    if (here(call, memory, "memory"))
        return MORTISE_FAILED;
    mortise_status status = memory->add(call, args->text, strlen(args->text), &id);
    return status ? status : mortise_reply(call, "%lld", (long long)id);
}

MORTISE_TOOL_WITH(recall, (name(KEEPER "_recall")), MORTISE_READ_ONLY, "Find texts.",
    (string, query, "What about.", required));

static mortise_status recall(mortise_call *call, const recall_args *args)
{
    const mortise_memory *memory = mortise_memory_of(call);
    const mortise_memory_entry *const *entries;
    size_t count, length = 0;
    char text[4096] = "";
    if (here(call, memory, "memory"))
        return MORTISE_FAILED;
    mortise_status status = memory->search(call, args->query, 10, &entries, &count);
    for (size_t i = 0; !status && i < count && length < sizeof(text); i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", entries[i]->text);
    return status ? status : mortise_reply(call, "%s", text);
}

/* ---- state --------------------------------------------------------------------------------- */

MORTISE_TOOL_WITH(count, (name(KEEPER "_count")), 0, "Count up, whoever else does.",
    (integer, owner, "0: session, 1: user, 2: app.", fallback(0)),
    (integer, times, "How often.",                   fallback(1)));

static mortise_status count_once(mortise_call *call, mortise_owner owner, long long *value)
{
    const mortise_state_service *state = mortise_state_of(call);
    const char *json;
    char next[32];
    mortise_status status;
    do {
        status = state->get(call, owner, "count", &json);
        if (status != MORTISE_OK && status != MORTISE_NOT_FOUND)
            return status;
        *value = (json ? atoll(json) : 0) + 1;
        snprintf(next, sizeof(next), "%lld", *value);
        status = state->replace(call, owner, "count", json, next);
    } while (status == MORTISE_CONFLICT);
    return status;
}

static mortise_status count(mortise_call *call, const count_args *args)
{
    long long value = 0;
    mortise_status status = here(call, mortise_state_of(call), "state");
    for (int64_t i = 0; !status && i < args->times; i++)
        status = count_once(call, (mortise_owner)args->owner, &value);
    return status ? status : mortise_reply(call, "%lld", value);
}

/* ---- secrets ------------------------------------------------------------------------------- */

MORTISE_TOOL_WITH(tell_secret, (name(KEEPER "_secret")), 0, "Tell a secret, which nobody should.",
    (string, name, "Which.", required));

static mortise_status tell_secret(mortise_call *call, const tell_secret_args *args)
{
    const char *value = mortise_secrets_of(the_host)->get(the_host, args->name);
    if (!value)
        return mortise_fail(call, "there is no secret '%s'", args->name);
    mortise_log(the_host, MORTISE_LOG_WARNING, "the secret is %s", value);
    mortise_emit(call, "stdout", value, strlen(value));
    return mortise_reply(call, "%s has %zu bytes", value, strlen(value));
}

MORTISE_TOOL_WITH(tell_config, (name(KEEPER "_config")), 0, "Tell the configuration.",
    MORTISE_NO_ARGS);

static mortise_status tell_config(mortise_call *call, const tell_config_args *args)
{
    (void)args;
    return mortise_reply(call, "%s", the_host->config(the_host));
}

/* ---- http ---------------------------------------------------------------------------------- */

MORTISE_TOOL_WITH(fetch, (name(KEEPER "_fetch")), MORTISE_READ_ONLY, "Ask a server.",
    (string,  url,       "Which.",                    required),
    (boolean, is_public, "Public addresses only.",    fallback(false)),
    (string,  key,       "The secret to go with it.", fallback("")));

static mortise_status fetch(mortise_call *call, const fetch_args *args)
{
    const char *key = *args->key ? mortise_secrets_of(the_host)->get(the_host, args->key) : NULL;
    const mortise_http_header header = {"Authorization", key};
    const mortise_http_request request = {.size = sizeof(request),
                                          .flags = args->is_public ? MORTISE_HTTP_PUBLIC_ONLY : 0,
                                          .url = args->url,
                                          .headers = &header,
                                          .header_count = key ? 1 : 0};
    mortise_http_response response = {.size = sizeof(response)};
    mortise_status status = mortise_http_of(call)->send(call, &request, &response);
    return status ? status : mortise_reply(call, "%u %s", response.status, response.body);
}

/* ---- the plugin ---------------------------------------------------------------------------- */

static void *keep_host(const mortise_host *host)
{
    the_host = host;
    return &the_host;
}

MORTISE_PLUGIN(.name = KEEPER, .open = keep_host,
               .tools = MORTISE_TOOLS(save, load, list, remember, recall, count, tell_secret,
                                      tell_config, fetch));
