/*
 * result - what a server's answer to tools/call is for the host: text, attachments, or an error
 * that the model can read.
 *
 * Blocks of text, and texts of resources, make the result, one per line; images, sounds and PDFs go
 * with it as attachments, links as URIs; other bytes are named in a line.  Structured content is
 * the result when there is no text, or when the tool has an output schema, which the host then
 * holds it to.
 */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>

#include <mortise/plugin.h>

/* Whose it is. */
struct result_source {
    const char *server;
    bool has_output_schema;
};

/* `result` and `error` are the members of that name in the answer, JSON text.  What they return is
 * what the tool's run() does. */
mortise_status result_give(mortise_call *call, const struct result_source *source,
                           const char *result);
mortise_status result_give_error(mortise_call *call, const struct result_source *source,
                                 const char *error);

/* Whether the server wants to be asked again, with more (input.h). */
bool result_wants_input(const char *result);

#endif
