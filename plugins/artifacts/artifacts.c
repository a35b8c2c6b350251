/* Keeps files with versions, and gives them back. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

MORTISE_TOOL(save_artifact, MORTISE_CONCURRENCY_SAFE,
    "Keep a text as a file of this session or of the user. Saving it again makes a new version.",
    (string, name,      "The name of the file, without a folder.", required, length(1, 200)),
    (string, content,   "The text.", required),
    (string, mime_type, "Its media type.", fallback("text/plain"), length(1, 100)),
    (string, scope,     "Whether it is of this session, or of the user in all sessions.",
                        one_of("session", "user"), fallback("session")));

MORTISE_TOOL(load_artifact, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Read a file that was kept: a text is the result, anything else is attached to it.",
    (string,  name,    "The name of the file; without one, the files are listed.", length(1, 200)),
    (integer, version, "Which version; the latest unless you say so.", range(1, 4294967295)),
    (string,  scope,   "As it was saved.", one_of("session", "user"), fallback("session")));

static mortise_owner owner_of(const char *scope)
{
    return strcmp(scope, "user") == 0 ? MORTISE_OF_USER : MORTISE_OF_SESSION;
}

static mortise_status save_artifact(mortise_call *call, const save_artifact_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    uint32_t version = 0;
    if (!artifacts)
        return mortise_fail(call, "files cannot be kept here");
    mortise_status status =
        artifacts->save(call, owner_of(args->scope), args->name, args->mime_type, args->content,
                        strlen(args->content), &version);
    return status < 0 ? status
                      : mortise_reply_json(call, "{\"name\":%s,\"version\":%" PRIu32 "}",
                                           mortise_quote(call, args->name), version);
}

static mortise_status list(mortise_call *call, const mortise_artifacts *artifacts,
                           const char *scope)
{
    const mortise_artifact *const *found = NULL;
    size_t count = 0, size = sizeof("[]"), used = 1;
    mortise_status status = artifacts->list(call, owner_of(scope), &found, &count);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++)
        size += strlen(mortise_quote(call, found[i]->name)) +
                strlen(mortise_quote(call, found[i]->mime_type)) + 100;
    char *text = mortise_alloc(call, size);
    if (!text)
        return MORTISE_NO_MEMORY;
    text[0] = '[';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(
            text + used, size - used,
            "%s{\"name\":%s,\"version\":%" PRIu32 ",\"mime_type\":%s,\"bytes\":%zu}", i ? "," : "",
            mortise_quote(call, found[i]->name), found[i]->version,
            mortise_quote(call, found[i]->mime_type), found[i]->length);
    memcpy(text + used, "]", 2);
    return mortise_reply_json(call, "%s", text);
}

static bool is_text(const mortise_artifact *artifact)
{
    const char *type = artifact->mime_type;
    return strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0;
}

static mortise_status load_artifact(mortise_call *call, const load_artifact_args *args)
{
    const mortise_artifacts *artifacts = mortise_artifacts_of(call);
    const mortise_artifact *artifact = NULL;
    if (!artifacts)
        return mortise_fail(call, "there are no files here");
    if (!args->name)
        return list(call, artifacts, args->scope);
    mortise_status status = artifacts->load(call, owner_of(args->scope), args->name,
                                            (uint32_t)args->version, &artifact);
    if (status == MORTISE_NOT_FOUND)
        return mortise_fail_as(call, MORTISE_MISSING, "artifact.missing",
                               "there is no such version of a file '%s' in the scope '%s': without "
                               "a name the files are listed",
                               args->name, args->scope);
    if (status < 0)
        return status;
    if (is_text(artifact))
        return mortise_reply_text(call, artifact->data, artifact->length);
    status = mortise_attach_bytes(call, artifact->mime_type, artifact->name, artifact->data,
                                  artifact->length);
    return status < 0 ? status
                      : mortise_reply(call, "'%s', version %" PRIu32 ": %s, %zu bytes, attached",
                                      artifact->name, artifact->version, artifact->mime_type,
                                      artifact->length);
}

MORTISE_PLUGIN(.name = "artifacts", .version = "1.0.0",
               .tools = MORTISE_TOOLS(save_artifact, load_artifact));
