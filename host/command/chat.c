/* chat: reads a line, asks the model or carries out a command, again and again. */
#include "command/chat.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "command/command.h"
#include "command/signals.h"
#include "config/paths.h"
#include "frontend/terminal.h"

/* ---- input ---- */

/* Commands first, then tools. */
static const char *candidate(void *data, size_t index)
{
    const struct chat *chat = data;
    size_t count = 0;
    while (chat_command_name(count))
        count++;
    if (index < count)
        return chat_command_name(index);
    const struct registry *registry = worker_registry(chat->conversation->worker);
    index -= count;
    return index < registry_tool_count(registry) ? registry_tool(registry, index)->name : NULL;
}

/* What asks for a reload while a line is typed. */
static int wake_fd(void *data)
{
    const struct chat *chat = data;
    return conversation_wake_fd(chat->conversation);
}

static bool is_due(void *data)
{
    const struct chat *chat = data;
    return conversation_reload_is_due(chat->conversation);
}

static void reload_due(void *data)
{
    const struct chat *chat = data;
    conversation_reload_due(chat->conversation);
}

static bool is_interactive(const struct app *app)
{
    const char *term = getenv("TERM");
    return !app->json && isatty(STDIN_FILENO) && app->out.terminal && term && *term &&
           strcmp(term, "dumb") != 0;
}

static bool make_editor(struct chat *chat, struct error *error)
{
    if (!is_interactive(chat->app) || !terminal_guard(STDIN_FILENO))
        return true;
    char *path = path_state("history");
    struct editor_settings settings = {
        .prompt = "> ",
        .history_path = path,
        .candidate = candidate,
        .candidate_data = chat,
        .wake_fd = wake_fd,
        .is_due = is_due,
        .act = reload_due,
        .wake_data = chat,
    };
    chat->editor = editor_new(&settings, error);
    free(path);
    return chat->editor != NULL;
}

/* Signals that come meanwhile end the reading. */
static enum editor_end read_input(struct chat *chat, struct text *line)
{
    struct cancel *stop = cancel_new();
    if (!stop)
        return EDITOR_FAILED;
    signals_watch(stop);
    enum editor_end end = chat->editor ? editor_read(chat->editor, stop, line)
                                        : lines_read(&chat->lines, stop, line);
    chat->signal = signals_received();
    signals_watch(NULL);
    cancel_unref(stop);
    return end;
}

/* ---- the loop ---- */

/* Ctrl-C ends this run and not the chat; every run has its own token (D21). */
void chat_run(struct chat *chat, const struct text *prompt)
{
    struct conversation *conversation = chat->conversation;
    struct cancel *cancel = worker_cancel_token(conversation->worker);
    signals_watch(cancel);
    chat->code = prompt ? conversation_run(conversation, prompt->data, prompt->length)
                        : conversation_resume(conversation);
    chat->signal = signals_received();
    signals_watch(NULL);
    cancel_unref(cancel);
}

static bool is_empty(const struct text *line)
{
    return strspn(text_cstr(line), " \t\n") == line->length;
}

static void take_input(struct chat *chat, const struct text *line)
{
    if (is_due(chat)) /* where nobody looked while the line came */
        reload_due(chat);
    if (line->data[0] == '/')
        chat_command(chat, line->data);
    else
        chat_run(chat, line);
}

/* On a terminal Ctrl-C ends what is going on; every other signal ends the chat. */
static bool is_told_to_leave(const struct chat *chat)
{
    return chat->signal && !(chat->editor && chat->signal == SIGINT);
}

static int talk(struct chat *chat)
{
    struct text line = TEXT_INIT;
    while (!chat->leaves && !is_told_to_leave(chat) && !chat->app->out.failed) {
        enum editor_end end = read_input(chat, &line);
        if (end == EDITOR_EOF || end == EDITOR_FAILED)
            break;
        if (end == EDITOR_LINE && !is_empty(&line) && !is_told_to_leave(chat))
            take_input(chat, &line);
    }
    text_release(&line);
    if (is_told_to_leave(chat))
        return 128 + chat->signal;
    int flushed = app_flush(chat->app);
    return flushed ? flushed : chat->editor ? EXIT_FINISHED : chat->code;
}

static void greet(struct chat *chat)
{
    struct output *notes = &chat->app->notes;
    if (!chat->editor || settings_flag(&chat->app->settings, SETTING_QUIET))
        return;
    output_dim(notes);
    output_own(notes, "mortise " MORTISE_VERSION ", ");
    output_foreign(notes, chat->conversation->model.data, chat->conversation->model.length);
    output_own(notes, "; /help tells what can be done here");
    output_plain(notes);
    output_own(notes, "\n");
    output_flush(notes);
}

struct conversation *chat_conversation_new(struct app *app, const char *session,
                                           struct error *error)
{
    struct conversation *conversation = calloc(1, sizeof(*conversation));
    if (!conversation) {
        error_memory(error);
        return NULL;
    }
    conversation->app = app;
    conversation->keeps = session ? KEEPS_RESUME : KEEPS_ALWAYS;
    conversation->session = session;
    if (conversation_begin(conversation, error) && conversation_prepare(conversation, error))
        return conversation;
    chat_conversation_free(conversation);
    return NULL;
}

void chat_conversation_free(struct conversation *conversation)
{
    if (conversation)
        conversation_release(conversation);
    free(conversation);
}

int command_chat(struct app *app, int count, char **operands)
{
    struct chat chat = {.app = app, .lines.fd = STDIN_FILENO};
    struct error error;
    int code;
    (void)operands;
    if (count > 0)
        return command_usage(app, "chat", "chat takes no operands");
    chat.conversation = chat_conversation_new(app, NULL, &error);
    if (chat.conversation && make_editor(&chat, &error)) {
        greet(&chat);
        code = talk(&chat);
    } else {
        struct conversation none = {.app = app};
        code = conversation_failed(chat.conversation ? chat.conversation : &none, &error);
        jsonl_release(&none.jsonl);
    }
    editor_free(chat.editor);
    lines_release(&chat.lines);
    chat_conversation_free(chat.conversation);
    return code;
}
