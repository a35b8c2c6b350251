/*
 * session - one MCP server as the rest sees it: started when it is needed, asked, started again
 * when it dies, shared by all loads of the plugin that have the same configuration of it
 * (sessions.c).
 *
 * A session has a thread of its own, its keeper (keeper.c), which opens the link, finds the era out
 * (era.c), reads the list of tools and reads it again when it has changed.  Calls come on the
 * host's threads and wait there.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <mortise/plugin.h>

#include "config.h"
#include "listing.h"

struct session;

/* ---- life (sessions.c) ---------------------------------------------------------------------- */

/* The session of that server for a load of the plugin, whose host this is; each takes it once.
 * NULL: no memory. */
struct session *session_take(struct server_config *config, const mortise_host *host);
/* Has the keeper start the server, unless it runs already. */
void session_start(struct session *session);
/* Waits until it runs, or an attempt to start it has failed, as long as that may take since
 * `began_ms` of pause_now_ms(); or until `call`, unless NULL, is cancelled: session_wake(). */
void session_wait(struct session *session, int64_t began_ms, mortise_call *call);
/* Whoever waits looks whether the call is cancelled. */
void session_wake(struct session *session);
/* Gives back what was taken for `host`; servers that nobody has any more are ended, all at the same
 * time. */
void sessions_give(struct session **sessions, size_t count, const mortise_host *host);

/* ---- what is known -------------------------------------------------------------------------- */

/* Its tools, with a reference; NULL: they are not known. */
struct listing *session_peek(struct session *session);
/* The same for the tools of a load, whose host is told from now on when they are others. */
struct listing *session_listing(struct session *session, const mortise_host *host);
/* Its members for the tool mcp_servers: "name", "transport", "state", … */
struct buffer;
void session_describe(struct session *session, struct buffer *out);

/* ---- a call --------------------------------------------------------------------------------- */

/* What is called, and how. */
struct request {
    const mortise_host *host; /* of the load whose tool it is */
    const char *name;         /* as the server has it */
    const char *arguments;    /* a JSON object */
    const char *schema;       /* its input schema */
    const char *more; /* members beside "name" and "arguments", with a comma before each; or NULL */
    bool may_repeat;  /* once, when the server dies meanwhile */
};

/* What a call brought: `result` or `error`, the member of that name as JSON text; or neither. */
struct answer {
    mortise_status status; /* MORTISE_OK: there is one of them */
    char *result, *error;
    mortise_category category; /* of a status that is a failure, with its reason: */
    int64_t retry_ms;
    char problem[1024];
};

/* Calls a tool: waits for the answer, the time limit or the cancel of `call`.  Progress is shown on
 * the way. */
void session_call(struct session *session, mortise_call *call, const struct request *request,
                  struct answer *answer);
void answer_release(struct answer *answer);

#endif
