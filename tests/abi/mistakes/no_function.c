/* expect: undefined (reference to|symbol).*add|add.*(used but never|not) defined */
/* more: gcc: and the linker */
#include <mortise/tool.h>
MORTISE_TOOL(add, 0, "Add.", (integer, a, "First.", required));
MORTISE_PLUGIN(.name = "m", .tools = MORTISE_TOOLS(add));
