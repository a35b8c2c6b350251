/*
 * content - the result of a tool as the content that clients know.
 *
 *   text                       a text block, and `structuredContent` beside it if the tool has an
 *                              output schema (since 2025-06-18)
 *   an attachment with bytes   an image or audio block by its type; with a URI of its own, or of
 *                              another type, an embedded resource: as text if its type is one of
 *                              text and its bytes are, else as a blob
 *   an attachment with a URI   a link (since 2025-06-18), before that a line of text
 *   an error                   its text, with `isError`
 *
 * JSON of a tool goes on to the byte, but for line feeds between its values.
 */
#ifndef MCP_CONTENT_H
#define MCP_CONTENT_H

#include "mcp/message.h"
#include "tool/call.h"

/* Appends the members "content" and, where they are due, "structuredContent" and "isError". */
void content_write(struct text *out, const struct tool *tool, const struct tool_result *result,
                   enum mcp_revision revision);

/* How long what that appends is at least, told without writing it. */
size_t content_length(const struct tool_result *result);

#endif
