/*
 * owner - whose data: the name under which a service keeps them.
 *
 * "session/ID", "run/ID", "user/TENANT+ID" or "app/NAME", with what is no letter, digit, '_', '-'
 * or '.' written as %XX: two components of a path that lead nowhere else, and never those of
 * another owner.
 */
#ifndef SERVICE_OWNER_H
#define SERVICE_OWNER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

#define OWNER_RUNS "run" /* the folder of all that have no session */

/* Append.  False with *error: an id is too long for the name of a file, or no memory. */
bool owner_of_session(struct text *out, const char *session, struct error *error);
bool owner_of_run(struct text *out, const char *invocation, struct error *error);
bool owner_of_user(struct text *out, const char *tenant, const char *user, struct error *error);
bool owner_of_app(struct text *out, const char *app, struct error *error);

#endif
