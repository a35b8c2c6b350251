/* tools - the tools of servers as tools of the host's. */
#ifndef TOOLS_H
#define TOOLS_H

#include <mortise/tool.h>

#include "config.h"
#include "name.h"
#include "session.h"

/* The names that are given to tools already, and whose they are. */
struct names {
    struct given_name {
        char name[NAME_SIZE];
        const struct server_config *server;
        char *tool;
    } * items;
    size_t count;
};

/* Adds those of a session that its configuration lets through.  One that cannot be used is left
 * out, with a line for the operator.  Of all that is given only the session, the configuration and
 * the host must live as long as the tools. */
void tools_add(mortise_tool_list *list, struct names *names, struct session *session,
               const struct server_config *config, const mortise_host *host);
void names_release(struct names *names);

/* ---- for it, and for a test ---- */

/* What is made of the object of a tool; texts are malloc'ed. */
struct tool_facts {
    char *name, *title, *description;
    char *schema, *output_schema; /* the latter may be NULL */
    uint32_t flags;
    bool may_repeat;
    bool is_no_mistake; /* of the server's, that it cannot be used */
};

/* False: it is none, or cannot be used; `problem` is "" if nobody needs to know. */
bool tool_read(struct tool_facts *facts, const char *json, const struct server_config *config,
               char *problem, size_t size);
void tool_facts_release(struct tool_facts *facts);

#endif
