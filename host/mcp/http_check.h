/*
 * http_check - whether a request may come in, by its head alone: before its body is read.
 *
 * A page in a browser can make requests to a server on this machine, under a name of its own that
 * it lets point here.  So only names of this machine are taken for Host, and pages of this machine
 * for Origin; and nothing is ever granted across origins.
 */
#ifndef MCP_HTTP_CHECK_H
#define MCP_HTTP_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "mcp/http_head.h"

struct http_policy {
    const char *token; /* what each request must bring; NULL: nothing */
    bool is_public;    /* other machines get here, by whatever name: Host is not looked at */
    const char *host;  /* the address that is listened on, as in a URL; not public */
    size_t body_max;
};

struct http_refusal {
    int status;
    const char *problem; /* static */
    const char *field;   /* a header field that goes with it, with its CR LF; "": none */
};

/* False with *refusal. */
bool http_check(const struct http_policy *policy, const struct http_head *head,
                struct http_refusal *refusal);

/* Whether a token can be sent in a header and is no guess.  False with *error (kind config);
 * `source` is where it is from. */
bool http_token_check(const char *token, size_t length, const char *source, struct error *error);

#endif
