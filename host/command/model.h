/* model - which model is asked, by the settings, and a client for it. */
#ifndef COMMAND_MODEL_H
#define COMMAND_MODEL_H

#include "command/app.h"
#include "provider/profiles.h"

/* The providers that there are, with the user's own: made at the first need, of the app.  NULL
 * with *error (kind config) when the configuration of one is wrong. */
const struct profiles *model_profiles(struct app *app, struct error *error);
/* "PROVIDER/MODEL": the one that was named, else that of the first provider whose key is set, else
 * that of the first of the user's own that needs none, else that of a server on this machine, whose
 * address `where` gets; model_choose() tells it on standard error. */
bool model_find(struct app *app, struct text *model, struct text *where, struct error *error);
bool model_choose(struct app *app, struct text *model, struct error *error);
/* Starts to load what the network needs, for models that need it. */
void model_preload(const char *model);
struct client *model_client(struct app *app, const char *model, struct error *error);

#endif
