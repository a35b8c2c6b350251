/* expect: incompatible (pointer type|function pointer types) */
#include <mortise/tool.h>
static mortise_verdict look(void *state, mortise_hook *hook, const mortise_turn_end *event)
{
    (void)state, (void)hook, (void)event;
    return MORTISE_CONTINUE;
}
MORTISE_HOOK(watch, .pre_tool_call = look);
MORTISE_PLUGIN(.name = "m", .hooks = MORTISE_HOOKS(watch));
