/*
 * local_server - a model server on this machine that nobody had to name.
 *
 * Only the profiles that say so are tried (Ollama, llama.cpp), only on the loopback address, and
 * with nothing but a GET of the list of models, without a key or a header of the user's.  What
 * answers is taken only when no other user of the machine can have put it there (listener.h).
 */
#ifndef PROVIDER_LOCAL_SERVER_H
#define PROVIDER_LOCAL_SERVER_H

#include "provider/models.h"
#include "provider/profiles.h"

struct local_server {
    const struct profile *profile;
    struct text address;      /* "127.0.0.1:11434" */
    struct model_list models; /* one or more */
};
void local_server_release(struct local_server *server);

/* Tries the profile's; false: nothing that can be used is there. */
bool local_server_try(const struct profile *profile, struct local_server *server);
/* The first that answers and has a model to talk with. */
bool local_server_find(const struct profiles *profiles, struct local_server *server);
/* The model to take when none is named: the one that came last, of those that answer in words;
 * NULL: there is none. */
const char *local_server_model(const struct local_server *server);

#endif
