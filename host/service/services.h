/*
 * services - what the host does for tools beside running them (mortise/services.h).
 *
 * services_new() once per process; its face goes to the loader, so that every plugin holds a
 * reference: a tool that was left behind keeps what it uses.  Nothing is opened or loaded before
 * a tool asks for it.  One file has the functions of one service; caller.h tells who calls and
 * whose data are meant.
 */
#ifndef SERVICE_SERVICES_H
#define SERVICE_SERVICES_H

#include "base/error.h"
#include "plugin/host_api.h"
#include "provider/network.h"
#include "service/artifact_store.h"

struct services;

/* Copied.  NULL or "": there is no such place, and the services that need it are NULL (F29). */
struct services_settings {
    const char *artifacts; /* the folder */
    const char *database;  /* the file of memory and state */
    const char *grants;    /* of secrets, as config/grant.h has them; NULL: none */
    struct network_settings network; /* no client certificate is shown to the servers of tools */
};

struct services *services_new(const struct services_settings *settings); /* NULL: no memory */
void services_unref(struct services *services);                          /* NULL is fine */
struct host_services *services_face(struct services *services);          /* NULL: NULL */

/* The store of artifacts, for the host's own; NULL: there is no place. */
struct artifact_store *services_artifacts(struct services *services);

/* Removes what belongs to a session.  What is not there is fine; *any: something was. */
bool services_forget_session(const struct services_settings *settings, const char *session,
                             bool *any, struct error *error);

#endif
