/* artifacts - the service: files of one owner, shared by all plugins. */
#include <stdlib.h>
#include <string.h>

#include "service/caller.h"

/* What is checked before anything is touched. */
static mortise_status begin(struct caller *caller, mortise_owner kind, const char *name,
                            struct text *owner)
{
    bool lasts;
    const char *problem = artifact_name_problem(name);
    return problem ? caller_invalid(caller, "%s", problem)
                   : caller_owner(caller, kind, owner, &lasts);
}

/* ---- save ---- */

static mortise_status check_content(struct caller *caller, const char *mime_type, const void *data,
                                    size_t length)
{
    const char *problem = artifact_type_problem(mime_type);
    if (problem)
        return caller_invalid(caller, "%s", problem);
    if (length > MORTISE_ARTIFACT_MAX)
        return caller_invalid(caller, "%zu bytes are more than an artifact can have, which is %zu",
                              length, MORTISE_ARTIFACT_MAX);
    return data || !length ? MORTISE_OK : caller_invalid(caller, "there are no bytes to keep");
}

static mortise_status save_for(struct caller *caller, mortise_owner kind, const char *name,
                               const char *mime_type, const void *data, size_t length,
                               uint32_t *version)
{
    struct text owner = TEXT_INIT;
    struct error error = ERROR_INIT;
    mortise_status status = begin(caller, kind, name, &owner);
    if (status == MORTISE_OK)
        status = check_content(caller, mime_type, data, length);
    if (status == MORTISE_OK &&
        !artifact_store_save(&caller->services->artifacts, owner.data, name, mime_type, data,
                             length, version, NULL, &error))
        status = caller_error(caller, &error);
    text_release(&owner);
    return status;
}

static mortise_status save(mortise_call *call, mortise_owner kind, const char *name,
                           const char *mime_type, const void *data, size_t length,
                           uint32_t *version)
{
    struct caller caller;
    if (!caller_begin(&caller, call, "artifacts"))
        return MORTISE_INVALID;
    mortise_status status =
        save_for(&caller, kind, name, mime_type ? mime_type : "application/octet-stream", data,
                 length, version);
    caller_end(&caller);
    return status;
}

/* ---- what is handed to the tool ---- */

/* NULL: no memory. */
static mortise_artifact *hand_over(struct caller *caller, const struct artifact *artifact)
{
    mortise_artifact *given = caller_alloc(caller, sizeof(*given));
    if (!given)
        return NULL;
    *given = (mortise_artifact){
        .size = sizeof(*given),
        .version = artifact->version,
        .name = caller_copy(caller, artifact->name, strlen(artifact->name)),
        .mime_type = caller_copy(caller, artifact->mime_type, strlen(artifact->mime_type)),
        .saved_ms = artifact->saved_ms,
        .length = artifact->length,
    };
    return given->name && given->mime_type ? given : NULL;
}

/* ---- load ---- */

static mortise_status hand_over_loaded(struct caller *caller, const struct artifact *artifact,
                                       const struct text *data, const mortise_artifact **out)
{
    mortise_artifact *given = hand_over(caller, artifact);
    if (given)
        given->data = caller_copy(caller, text_cstr(data), data->length);
    if (!given || !given->data)
        return caller_no_memory(caller);
    *out = given;
    return MORTISE_OK;
}

static mortise_status load_for(struct caller *caller, mortise_owner kind, const char *name,
                               uint32_t version, const mortise_artifact **out)
{
    struct text owner = TEXT_INIT, data = TEXT_INIT;
    struct artifact artifact = {0};
    struct error error = ERROR_INIT;
    mortise_status status = begin(caller, kind, name, &owner);
    if (status == MORTISE_OK && !artifact_store_load(&caller->services->artifacts, owner.data, name,
                                                     version, &artifact, &data, &error))
        status = caller_error(caller, &error);
    else if (status == MORTISE_OK)
        status =
            artifact.version ? hand_over_loaded(caller, &artifact, &data, out) : MORTISE_NOT_FOUND;
    artifact_release(&artifact);
    text_release(&data);
    text_release(&owner);
    return status;
}

static mortise_status load(mortise_call *call, mortise_owner kind, const char *name,
                           uint32_t version, const mortise_artifact **artifact)
{
    struct caller caller;
    if (!artifact || !caller_begin(&caller, call, "artifacts"))
        return MORTISE_INVALID;
    *artifact = NULL;
    mortise_status status = load_for(&caller, kind, name, version, artifact);
    caller_end(&caller);
    return status;
}

/* ---- list ---- */

static mortise_status hand_over_list(struct caller *caller, const struct artifact_list *list,
                                     const mortise_artifact *const **out, size_t *count)
{
    const mortise_artifact **given = caller_alloc(caller, (list->count + 1) * sizeof(*given));
    if (!given)
        return caller_no_memory(caller);
    for (size_t i = 0; i < list->count; i++)
        if (!(given[i] = hand_over(caller, &list->items[i])))
            return caller_no_memory(caller);
    *out = given;
    *count = list->count;
    return MORTISE_OK;
}

static mortise_status list(mortise_call *call, mortise_owner kind,
                           const mortise_artifact *const **artifacts, size_t *count)
{
    struct caller caller;
    struct text owner = TEXT_INIT;
    struct artifact_list found = {0};
    struct error error = ERROR_INIT;
    bool lasts;
    if (!artifacts || !count || !caller_begin(&caller, call, "artifacts"))
        return MORTISE_INVALID;
    *artifacts = NULL;
    *count = 0;
    mortise_status status = caller_owner(&caller, kind, &owner, &lasts);
    if (status == MORTISE_OK &&
        !artifact_store_list(&caller.services->artifacts, owner.data, &found, &error))
        status = caller_error(&caller, &error);
    if (status == MORTISE_OK)
        status = hand_over_list(&caller, &found, artifacts, count);
    artifact_list_release(&found);
    text_release(&owner);
    caller_end(&caller);
    return status;
}

const mortise_artifacts artifacts_table = {
    .size = sizeof(artifacts_table), .save = save, .load = load, .list = list};
