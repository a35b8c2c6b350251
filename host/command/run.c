#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "command/conversation.h"

static bool input_is_given(void)
{
    struct stat status;
    return !isatty(STDIN_FILENO) && fstat(STDIN_FILENO, &status) == 0;
}

static void trim_end(struct text *text)
{
    while (text->length > 0 && strchr("\r\n", text->data[text->length - 1]))
        text->data[--text->length] = '\0';
}

/* Operands joined by spaces; "-" or an input that is no terminal brings more (cli: a prompt
 * on standard input is appended after an empty line). */
static bool gather_prompt(struct text *prompt, int count, char **operands, struct error *error)
{
    bool from_input = input_is_given();
    for (int i = 0; i < count; i++) {
        if (strcmp(operands[i], "-") == 0) {
            from_input = true;
            continue;
        }
        if (prompt->length > 0)
            text_putc(prompt, ' ');
        text_puts(prompt, operands[i]);
    }
    struct text input = TEXT_INIT;
    bool ok = !from_input || app_read_input(&input, error);
    trim_end(&input);
    if (ok && input.length > 0) {
        if (prompt->length > 0)
            text_puts(prompt, "\n\n");
        text_append(prompt, input.data, input.length);
    }
    text_release(&input);
    if (ok && prompt->failed)
        return error_memory(error);
    if (ok && prompt->length == 0)
        return error_set(error, ERROR_USAGE,
                         "no prompt; try: mortise -m offline \"What is the weather in Tokyo?\" "
                         "(`mortise --help` tells more)");
    return ok;
}

int command_run(struct app *app, int count, char **operands)
{
    struct conversation conversation = {.app = app, .keeps = KEEPS_IF_ASKED};
    struct text prompt = TEXT_INIT;
    struct error error;
    bool ready = conversation_begin(&conversation, &error) &&
                 gather_prompt(&prompt, count, operands, &error) &&
                 conversation_prepare(&conversation, &error);
    int code = ready ? conversation_run(&conversation, prompt.data, prompt.length)
                     : conversation_failed(&conversation, &error);
    conversation_release(&conversation);
    text_release(&prompt);
    return code;
}
