/*
 * session - one MCP server as the rest sees it: started when it is needed, asked, started again
 * when it dies, shared by all loads of the plugin that have the same configuration of it.
 *
 * A session has a thread of its own, its keeper, which opens the link, finds the era out, reads
 * the list of tools and reads it again when it has changed.  Calls come on the host's threads and
 * wait there.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <mortise/plugin.h>

#include "config.h"

struct session;

/* Tools of a server as it last told them: a JSON list, one line, to the byte.  Never changes. */
struct listing {
    int refs; /* of sessions.c */
    char *tools;
    size_t count;
    bool is_modern;
    char version[32]; /* of the protocol */
    char *server;     /* what it says of itself, a JSON object, or NULL */
    int64_t expires_ms; /* since 1970; 0: it does not */
};

/* What a call brought. */
struct answer {
    mortise_status status; /* MORTISE_OK: there is a result or an error of the server's */
    char *result;          /* JSON text of the member "result", malloc'ed; or NULL */
    char *error;           /* of the member "error" */
    mortise_category category; /* of a status that is a failure, with its reason: */
    int64_t retry_after_ms;
    char problem[1024];
};

/* What is called, and how. */
struct request {
    const char *name;      /* as the server has it */
    const char *arguments; /* a JSON object */
    const char *schema;    /* its input schema */
    const char *state;     /* "requestState" of an earlier answer, JSON text; or NULL */
    bool may_repeat;       /* once, when the server dies meanwhile */
};

/* Calls a tool: waits for the answer, the time limit or the cancel of `call`.  Progress is shown on
 * the way.  `answer` is released by answer_release(). */
void session_call(struct session *session, mortise_call *call, const struct request *request,
                  struct answer *answer);
void answer_release(struct answer *answer);

#endif
