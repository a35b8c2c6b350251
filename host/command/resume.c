#include "command/command.h"
#include "command/conversation.h"

int command_resume(struct app *app, int count, char **operands)
{
    if (count > 1)
        return command_usage(app, "resume", "'resume' takes one session");
    struct conversation conversation = {
        .app = app, .keeps = KEEPS_RESUME, .session = count ? operands[0] : NULL};
    struct error error;
    bool ready = conversation_begin(&conversation, &error) &&
                 conversation_prepare(&conversation, &error);
    int code = ready ? conversation_resume(&conversation)
                     : conversation_failed(&conversation, &error);
    conversation_release(&conversation);
    return code;
}
