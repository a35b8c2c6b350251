#include <stdlib.h>

#include "service/artifact_store.h"
#include "service/owner.h"
#include "tool/cap.h"
#include "worker/state.h"

/* An artifact is the session's or, without one, the run's. */
static bool put_owner(const struct worker *worker, struct text *owner, struct error *error)
{
    const char *session = worker->context.session;
    return session ? owner_of_session(owner, session, error)
                   : owner_of_run(owner, worker->invocation, error);
}

bool whole_has_place(const struct worker *worker)
{
    const struct call_tape *tape = worker->options.call_tape;
    return worker->options.artifacts || (tape && tape->place);
}

bool whole_save(struct worker *worker, const char *name, const char *mime_type, const char *data,
                size_t length, struct text *path, struct error *error)
{
    struct text owner = TEXT_INIT, file = TEXT_INIT;
    const struct call_tape *tape = worker->options.call_tape;
    if (tape && tape->place)
        return tape->place(tape->self, name, (struct slice){data, length}, path, error);
    artifact_make_name(&file, name);
    bool ok = put_owner(worker, &owner, error) && (!file.failed || error_memory(error)) &&
              artifact_store_save(worker->options.artifacts, owner.data, file.data, mime_type, data,
                                  length, NULL, path, error);
    text_release(&owner);
    text_release(&file);
    if (ok && tape)
        tape->kept(tape->self, name, text_cstr(path), NULL);
    return ok;
}

bool whole_find(const struct worker *worker, const char *name, const struct bytes *cut,
                struct text *whole, struct text *path)
{
    const struct artifact_store *store = worker->options.artifacts;
    struct artifact artifact = {0};
    struct text owner = TEXT_INIT, file = TEXT_INIT;
    const struct call_tape *tape = worker->options.call_tape;
    if (tape && tape->find)
        return tape->find(tape->self, name, whole, path) &&
               result_is_cut_of(cut->data, cut->length, text_cstr(whole), whole->length);
    artifact_make_name(&file, name);
    bool found = put_owner(worker, &owner, NULL) && !file.failed &&
                 artifact_store_load(store, owner.data, file.data, 0, &artifact, whole, NULL) &&
                 artifact.version &&
                 result_is_cut_of(cut->data, cut->length, text_cstr(whole), whole->length);
    if (found) {
        artifact_store_path(store, owner.data, &artifact, path);
        found = !path->failed;
    }
    artifact_release(&artifact);
    text_release(&owner);
    text_release(&file);
    if (found && tape)
        tape->kept(tape->self, name, text_cstr(path), whole);
    return found;
}
