/*
 * http_metadata - what a message says of itself in the header of its request, against what is in
 * the body.
 *
 * Who stands between may decide by the header; so in the modern era it must be there, and say the
 * same.  Legacy clients send MCP-Protocol-Version at most.
 */
#ifndef MCP_HTTP_METADATA_H
#define MCP_HTTP_METADATA_H

#include "base/json_walk.h"
#include "base/text.h"
#include "mcp/http_head.h"
#include "mcp/message.h"

/* Whether the header goes with the message, which is a request.  `schema` is that of the tool
 * which it calls; empty: none.  0, or the code of the error, with what is wrong in `problem`. */
int http_metadata_check(const struct http_head *head, const struct mcp_message *message,
                        struct json_piece schema, struct text *problem);

#endif
