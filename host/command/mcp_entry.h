/* mcp_entry - one server of a list of MCP servers: made of the command line, judged, shown. */
#ifndef COMMAND_MCP_ENTRY_H
#define COMMAND_MCP_ENTRY_H

#include <stdbool.h>

#include <jansson.h>

#include "base/text.h"
#include "config/settings.h"

/* Of a command's words, or of one word that is a URL, and the options --env, --header, --cwd and
 * --timeout.  NULL with *error. */
json_t *mcp_entry_new(const struct settings *settings, int count, char **words,
                      struct error *error);

/* Whether a server can be called so. */
bool mcp_entry_name(const char *name, struct error *error);

/* Whether an entry of another client's file means something here.  False with *error. */
bool mcp_entry_fits(const json_t *entry, struct error *error);

bool mcp_entry_is_http(const json_t *entry);
bool mcp_entry_is_disabled(const json_t *entry);
/* What is started or reached, for people: no value of a variable or a header, and of a URL neither
 * who logs in nor the query. */
void mcp_entry_target(const json_t *entry, struct text *out);
/* The names of its variables, or of its headers: "A, B", or as a JSON list. */
void mcp_entry_names(const json_t *entry, bool as_json, struct text *out);

#endif
