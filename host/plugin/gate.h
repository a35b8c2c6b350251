/*
 * gate - lets one call at a time into a MORTISE_SERIAL tool.  Thread-safe; tool_enter() and
 * tool_leave() of registry.h are its use.
 */
#ifndef PLUGIN_GATE_H
#define PLUGIN_GATE_H

struct tool_gate;

struct tool_gate *gate_new(void);       /* NULL: no memory */
void gate_free(struct tool_gate *gate); /* NULL is fine; nobody may be inside */

#endif
