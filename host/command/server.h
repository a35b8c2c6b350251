/*
 * server - a provider's server by the settings: where it is, and which key it gets.
 */
#ifndef COMMAND_SERVER_H
#define COMMAND_SERVER_H

#include "command/app.h"
#include "provider/models.h"
#include "provider/profile_pairs.h"
#include "provider/profiles.h"

struct server {
    const struct profile *profile;
    struct text base_url;
    const char *key;      /* or NULL */
    const char *key_from; /* where it was found: "OPENAI_API_KEY" */
    char *configured;     /* the key, if it comes from the configuration */
    struct profile_pairs pairs;
};

/* The provider of "PROVIDER/MODEL", or of a name alone; NULL with *error: there is none, or it has
 * no server. */
const struct profile *server_profile(const struct profiles *profiles, const char *model,
                                     struct error *error);
/* Whether a key is set, in the environment or the configuration. */
bool server_has_key(const struct profile *profile);
/* Whether it is one of the user's own that can be asked without. */
bool server_needs_no_key(const struct profile *profile);

bool server_init(struct server *server, const struct app *app, const struct profile *profile,
                 struct error *error);
void server_release(struct server *server);
/* Asks it for its models; *get, if it is not NULL, is the connection then, the caller's. */
bool server_models(const struct server *server, const struct app *app, struct model_list *list,
                   struct http_get **get, struct error *error);

#endif
