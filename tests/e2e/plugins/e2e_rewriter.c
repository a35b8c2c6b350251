/* A hook that adds its plugin's name to the text of every call: "said" becomes "said NAME".
 * Built several times, with REWRITER_NAME and REWRITER_PRIORITY. */
#include <mortise/tool.h>

#include <string.h>

static mortise_verdict add_name(void *state, mortise_hook *hook, const mortise_pre_tool_call *event)
{
    static const char more[] = " " REWRITER_NAME "\"}"; /* in place of the quote and brace there */
    (void)state;
    char *text = hook->ops->alloc(hook, event->arguments_length + sizeof(more));
    if (!text || event->arguments_length < 2 ||
        strcmp(event->arguments + event->arguments_length - 2, "\"}") != 0)
        return MORTISE_HOOK_FAILED;
    memcpy(text, event->arguments, event->arguments_length - 2);
    memcpy(text + event->arguments_length - 2, more, sizeof(more));
    hook->ops->set_arguments(hook, text, strlen(text));
    return MORTISE_CONTINUE;
}

MORTISE_HOOK(rewrite, .priority = (REWRITER_PRIORITY), .pre_tool_call = add_name);

MORTISE_PLUGIN(.name = REWRITER_NAME, .version = "1.0.0", .hooks = MORTISE_HOOKS(rewrite));
