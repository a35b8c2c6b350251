/*
 * artifact_folder - the folder of one artifact, with a file for each version; and how names and
 * types stand in a file system.
 */
#ifndef SERVICE_ARTIFACT_FOLDER_H
#define SERVICE_ARTIFACT_FOLDER_H

#include "service/artifact_store.h"

/* A descriptor of FOLDER/OWNER/NAME, or of FOLDER/OWNER when `name` is NULL; `create`: made where
 * it is not there.  -1 with errno set. */
int artifact_folder_open(const char *folder, const char *owner, const char *name, bool create);

/* One version of those in the folder, or the latest (0): everything of it but its name.  It has
 * version 0 when there is none. */
bool artifact_folder_find(int folder, uint32_t version, struct artifact *artifact,
                          struct error *error);

/* Appends "2.image=png". */
void artifact_file_name(struct text *out, uint32_t version, const char *mime_type);

/* A folder with all that is in it.  False with errno set: something is left. */
bool artifact_folder_remove(int at, const char *path);

#endif
