/*
 * bell - what plugins ring to be loaded anew (mortise_host.changed), and what whoever reloads
 * listens to.
 *
 * A set has one, and so does each host_api of its plugins: a plugin that rings while its set goes
 * rings a bell that nobody listens to.  Reference counted; everything is for any thread.
 */
#ifndef PLUGIN_BELL_H
#define PLUGIN_BELL_H

#include <stdbool.h>

#include "plugin/host_api.h"

struct bell;

struct bell *bell_new(void); /* NULL: no memory */
struct host_bell *bell_face(struct bell *bell);

/* Whether it was rung since it was silenced last. */
bool bell_is_rung(struct bell *bell);
/* Readable from when it is rung until it is silenced; to poll only.  -1: no descriptor was left. */
int bell_fd(const struct bell *bell);
/* Whether it was rung. */
bool bell_silence(struct bell *bell);
/* As if it had not been silenced, but nobody is woken. */
void bell_remember(struct bell *bell);

#endif
