/*
 * artifact_store - files with versions: what tools keep, and the whole text of results that were
 * too large for the conversation (D12).
 *
 * FOLDER/OWNER/NAME/VERSION.TYPE, such as FOLDER/session/trip/plot.png/2.image=png, with the owner
 * as owner.h writes it.  Folders are 0700 and files 0600, made when the first one is saved.  A
 * version appears whole or not at all, and is never written again.  Those who save at once, in
 * this process or another, get numbers of their own.  What a run without a session saved is
 * removed when nothing was added to it for a week.  Thread-safe.
 */
#ifndef SERVICE_ARTIFACT_STORE_H
#define SERVICE_ARTIFACT_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { ARTIFACT_NAME_MAX = 200, ARTIFACT_TYPE_MAX = 100 };

struct artifact_store {
    char *folder;         /* NULL: there is no place */
    atomic_bool is_clean; /* artifact_store_clean() was done */
};

/* Its strings are malloc'ed. */
struct artifact {
    char *name;
    char *mime_type;
    uint32_t version; /* 0: there is none */
    int64_t saved_ms; /* since 1970 */
    size_t length;
};
void artifact_release(struct artifact *artifact);

struct artifact_list {
    struct artifact *items;
    size_t count, capacity;
};
void artifact_list_release(struct artifact_list *list);

/* NULL when it can be used, else what a name is. */
const char *artifact_name_problem(const char *name);
/* The same of a media type, "text/plain; charset=utf-8". */
const char *artifact_type_problem(const char *mime_type);
/* Appends a name made of any text: what a name cannot have becomes '_'. */
void artifact_make_name(struct text *out, const char *from);

/* `owner`, `name` and `mime_type` are good.  `path`, unless it is NULL, is set to where it is.
 * False with *error: nothing is left of it. */
bool artifact_store_save(struct artifact_store *store, const char *owner, const char *name,
                         const char *mime_type, const void *data, size_t length, uint32_t *version,
                         struct text *path, struct error *error);

/* Version 0 is the latest.  The bytes are appended to `data`.  Without such a version
 * artifact->version is 0.  False with *error: it cannot be read. */
bool artifact_store_load(const struct artifact_store *store, const char *owner, const char *name,
                         uint32_t version, struct artifact *artifact, struct text *data,
                         struct error *error);

/* Appends where a version is that was loaded. */
void artifact_store_path(const struct artifact_store *store, const char *owner,
                         const struct artifact *artifact, struct text *path);

/* The latest version of each, sorted by name. */
bool artifact_store_list(const struct artifact_store *store, const char *owner,
                         struct artifact_list *list, struct error *error);

/* Removes all of an owner.  *any is set when there was something. */
bool artifact_store_forget(const char *folder, const char *owner, bool *any, struct error *error);

#endif
