/*
 * rpc - JSON-RPC messages as this protocol has them: read without building their values, and
 * written for either era.
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

/* The head of a request over HTTP is not what the message in it, or the tool, asks for. */
enum { RPC_HEADER_MISMATCH = -32020 };

#define RPC_MODERN         "2026-07-28"
#define RPC_LEGACY         "2025-11-25" /* what is offered; earlier ones are accepted */
#define RPC_CLIENT_VERSION "1.0.0"

/* A message that came.  Pieces are where their values begin in it; NULL: it has none. */
struct rpc {
    const char *id, *params, *result, *error;
    bool has_number; /* `id` is a whole number: */
    int64_t number;
    bool has_method;
    char method[64]; /* cut */
};

void rpc_read(struct rpc *rpc, const char *json);
/* Whether a version is one of the legacy era that is spoken here. */
bool rpc_is_legacy(const char *version);

/* What is written. */
struct rpc_request {
    int64_t id; /* 0: a notification */
    const char *method;
    const char *members; /* of "params": "\"cursor\":\"x\"", or "" */
    bool is_modern;
    bool has_token; /* progress is wanted, under the id */
};

void rpc_write(struct buffer *out, const struct rpc_request *request);
/* An answer to the request of a server: `ping` is answered, nothing else is known here. */
void rpc_answer(struct buffer *out, const struct rpc *request);

/* "error -32601: no such method", of a member "error". */
void rpc_describe_error(const char *error, char *out, size_t size);

#endif
