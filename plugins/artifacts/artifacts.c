/* Keeps files with versions, and gives them back. */
#include <mortise/services.h>
#include <mortise/tool.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PART_BYTES = 48 << 10 }; /* of a text: the host shows 64 KiB of a result */

MORTISE_TOOL(save_artifact, MORTISE_CONCURRENCY_SAFE,
    "Keep a text as a file of this session or of the user. Saving it again makes a new version.",
    (string, name,      "The name of the file, without a folder.", required, length(1, 200)),
    (string, content,   "The text.", required),
    (string, mime_type, "Its media type.", fallback("text/plain"), length(1, 100)),
    (string, scope,     "Whether it is of this session, or of the user in all sessions.",
                        one_of("session", "user"), fallback("session")));

MORTISE_TOOL(load_artifact, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Read a file that was kept: a text is the result, anything else is attached to it. A long text "
    "comes in parts: a note at the end says at which offset to go on. The whole of a tool's result "
    "that was shown shortened is a file of the session, under the id of its call.",
    (string,  name,    "The name of the file; without one, the files are listed.", length(1, 200)),
    (integer, version, "Which version; the latest unless you say so.", range(1, 4294967295)),
    (integer, offset,  "Of a text: the byte to begin with, from 0.", at_least(0), fallback(0)),
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

/* JSON, YAML, programs, … have types of many names; what is no text has a NUL somewhere. */
static bool is_text(const mortise_artifact *artifact)
{
    const char *type = artifact->mime_type;
    if (strncasecmp(type, "text/", 5) == 0)
        return true;
    return strncasecmp(type, "application/", 12) == 0 && strcasecmp(type, "application/pdf") != 0 &&
           !memchr(artifact->data, '\0', artifact->length);
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The end of a part: behind a line, or a character. */
static size_t part_end(const char *text, size_t from)
{
    const char *feed = memrchr(text + from + PART_BYTES / 2, '\n', PART_BYTES / 2);
    return feed ? (size_t)(feed + 1 - text) : from + mortise_cut(text + from, PART_BYTES);
}

/* From `offset` on, as much as the host does not shorten. */
static mortise_status reply_part(mortise_call *call, const mortise_artifact *artifact,
                                 size_t offset)
{
    const char *text = artifact->data;
    size_t from = offset, to = artifact->length;
    if (offset > 0 && offset >= artifact->length)
        return mortise_fail_as(call, MORTISE_INVALID_INPUT, "artifact.offset",
                               "'%s' has %zu bytes: there is none at offset %zu", artifact->name,
                               artifact->length, offset);
    for (int i = 0; i < 3 && from > 0 && from < to && is_inside(text[from]); i++)
        from++;
    if (to - from > PART_BYTES)
        to = part_end(text, from);
    if (from == 0 && to == artifact->length)
        return mortise_reply_text(call, text, to);
    size_t size = to - from + 120;
    char *out = mortise_alloc(call, size);
    if (!out)
        return MORTISE_NO_MEMORY;
    memcpy(out, text + from, to - from);
    size_t used = to - from;
    used += (size_t)snprintf(out + used, size - used, "\n[bytes %zu to %zu of %zu", from, to,
                             artifact->length);
    if (to < artifact->length)
        used += (size_t)snprintf(out + used, size - used, "; go on with offset %zu", to);
    used += (size_t)snprintf(out + used, size - used, "]");
    return mortise_reply_text(call, out, used);
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
        return reply_part(call, artifact, (size_t)args->offset);
    status = mortise_attach_bytes(call, artifact->mime_type, artifact->name, artifact->data,
                                  artifact->length);
    return status < 0 ? status
                      : mortise_reply(call, "'%s', version %" PRIu32 ": %s, %zu bytes, attached",
                                      artifact->name, artifact->version, artifact->mime_type,
                                      artifact->length);
}

MORTISE_PLUGIN(.name = "artifacts", .version = "1.0.0",
               .tools = MORTISE_TOOLS(save_artifact, load_artifact));
