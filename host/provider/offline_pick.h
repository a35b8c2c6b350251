/*
 * offline_pick - the tool and the arguments that the words of a prompt point to.
 *
 * A word counts most in a tool's name, less among the choices of an argument, least in the
 * description.  Words are compared by their stems, without any dictionary.
 */
#ifndef PROVIDER_OFFLINE_PICK_H
#define PROVIDER_OFFLINE_PICK_H

#include <jansson.h>

#include "provider/provider.h"

struct pick {
    const struct tool_definition *tool; /* NULL: none fits */
    json_t *schema;
    json_t *properties;  /* of the schema */
    json_t *arguments;   /* NULL when there is no memory */
    const char *missing; /* the first required argument that was not found, or NULL */
    unsigned score;
};

struct pick pick_tool(const struct toolset *tools, const char *text);
void pick_release(struct pick *pick);

bool pick_requires(const struct pick *pick, const char *name);
bool pick_is_type(const json_t *property, const char *type);

#endif
