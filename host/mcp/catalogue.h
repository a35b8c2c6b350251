/*
 * catalogue - the tools as clients are told of them, made once for what is loaded.
 *
 * Tools stand in the order of their names, so the bytes are the same as long as the tools are.
 * A catalogue is immutable and reference counted, and has a reference on the registry it is of.
 * What differs between revisions of the protocol are the members of a tool that a client knows.
 */
#ifndef MCP_CATALOGUE_H
#define MCP_CATALOGUE_H

#include "mcp/message.h"
#include "plugin/registry.h"

struct catalogue;

enum catalogue_level {
    CATALOGUE_PLAIN,     /* 2024-11-05 */
    CATALOGUE_ANNOTATED, /* 2025-03-26 */
    CATALOGUE_FULL,      /* with title and output schema, since 2025-06-18 */
    CATALOGUE_LEVELS
};

/* The latest of each level; NULL: not asked for.  Whoever has them locks. */
struct catalogues {
    struct catalogue *at[CATALOGUE_LEVELS];
};

/* Which tools are there; NULL function: all. */
struct catalogue_filter {
    bool (*offered)(void *data, const struct tool *tool);
    void *data;
};

/* A reference on the one of this registry, made when there is none.  NULL: no memory. */
struct catalogue *catalogues_get(struct catalogues *catalogues, struct registry *registry,
                                 enum mcp_revision revision, const struct catalogue_filter *filter);
/* Forgets those that are not of this registry (NULL: all), so that its plugins can be closed. */
void catalogues_forget(struct catalogues *catalogues, const struct registry *registry);

void catalogue_unref(struct catalogue *catalogue); /* NULL is fine */
bool catalogue_equal(const struct catalogue *a, const struct catalogue *b);

/* Appends "tools" and, unless these are the last, "nextCursor".  `cursor` is a JSON string, or
 * empty for the beginning; `page_size` 0: all.  False: the cursor is none. */
bool catalogue_write_page(const struct catalogue *catalogue, struct json_piece cursor,
                          size_t page_size, struct text *out);

#endif
