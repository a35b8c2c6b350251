/*
 * head - the head of an HTTP request that carries a message: what it is, and what servers and those
 * on the way may want to know of it without reading the body.
 *
 * In the modern era that is the method, the name of the tool, and those arguments that the tool's
 * input schema marks with "x-mcp-header": the argument marked "Region" goes as Mcp-Param-Region.
 */
#ifndef HEAD_H
#define HEAD_H

#include "buffer.h"
#include "link.h"

struct head {
    struct buffer text; /* "NAME\0VALUE\0…" */
    size_t count;
    mortise_http_header *headers; /* once head_finish() was called */
};
#define HEAD_INIT                                                                                  \
    {                                                                                              \
        .count = 0                                                                                 \
    }

/* One line of it; the value is one that a line can have. */
void head_add(struct head *head, const char *name, const char *value);
/* All that the message asks for. */
void head_add_message(struct head *head, const struct link_message *message);
/* Makes the list.  False: no memory. */
bool head_finish(struct head *head);
void head_release(struct head *head);

/* Whether the marks of a tool's input schema can be used.  If not, a tool over HTTP is left out,
 * for the reason in `problem`. */
bool head_check_schema(const char *schema, char *problem, size_t size);

/* The value of a line that is the host's own, and no configuration's: "Content-Type", "Mcp-…". */
bool head_is_reserved(const char *name);

#endif
