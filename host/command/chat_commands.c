#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/suggest.h"
#include "command/account.h"
#include "command/chat.h"
#include "command/command.h"
#include "command/tool_view.h"
#include "conversation/item_view.h"

struct chat_command {
    const char *name;
    const char *operand;
    const char *summary;
    void (*run)(struct chat *chat, const char *operand);
};

/* NULL behind the last. */
static const struct chat_command *command_numbered(size_t index);

/* Where commands say what they did: with --json there are only events on standard output. */
static struct output *told(const struct chat *chat)
{
    return chat->app->json ? &chat->app->notes : &chat->app->out;
}

static void tell_error(struct chat *chat, const struct error *error)
{
    chat->code = app_fail(chat->app, error);
}

/* ---- the commands ---- */

static void help(struct chat *chat, const char *operand)
{
    struct output *out = told(chat);
    (void)operand;
    output_own(out, "Type what you want to say.  What begins with a slash is a command:\n");
    const struct chat_command *command;
    for (size_t i = 0; (command = command_numbered(i)); i++)
        output_printf(out, "  %-9s %-15s %s\n", command->name, command->operand, command->summary);
    output_own(out, "Keys:\n"
                    "  Enter     sends; after a backslash, or with Alt, it begins another line\n"
                    "  Ctrl-C    clears the line; stops an answer, and twice leaves\n"
                    "  Tab       completes commands and names of tools\n"
                    "  Ctrl-D    leaves, on an empty line; Ctrl-R searches what you typed before\n"
                    "Pasted lines stay together until you press Enter.\n");
}

/* One that is asked for by its name is told whole. */
static void list_tool(struct output *out, const struct tool *tool, bool whole, int width)
{
    output_own(out, "  ");
    if (!whole) {
        tool_view_line(out, tool, width);
        return;
    }
    output_printf(out, "%s  ", tool->name);
    output_foreign(out, tool->meta.description, strlen(tool->meta.description));
    output_end_line(out);
    tool_view_schema(out, "input schema", tool->meta.input_schema);
}

/* With what the tools did since this chat began. */
static void tools(struct chat *chat, const char *operand)
{
    const struct registry *registry = worker_registry(chat->conversation->worker);
    struct output *out = told(chat);
    struct account_table table = {0};
    struct account_sum sum;
    struct error error;
    int width = tool_view_width(chat->app, registry);
    size_t shown = 0;
    for (size_t i = 0; i < registry_tool_count(registry); i++) {
        const struct tool *tool = registry_tool(registry, i);
        if (!app_offers(chat->app, tool) || (*operand && strcmp(operand, tool->name) != 0))
            continue;
        list_tool(out, tool, *operand, width);
        account_read(tool->account, &sum);
        if (sum.calls)
            account_table_add(&table, tool->name, &sum);
        shown++;
    }
    output_own(out, table.rows ? "what they did so far\n" : "");
    account_table_show(&table, out);
    if (shown == 0 && *operand) {
        app_unknown_tool(registry, operand, &error);
        tell_error(chat, &error);
    } else if (shown == 0) {
        output_own(out, "no tools; put a plugin into a folder and name it with -P\n");
    }
}

static void model(struct chat *chat, const char *operand)
{
    struct error error;
    if (*operand && !conversation_change_model(chat->conversation, operand, &error)) {
        tell_error(chat, &error);
        return;
    }
    output_own(told(chat), "model: ");
    output_foreign(told(chat), chat->conversation->model.data, chat->conversation->model.length);
    output_own(told(chat), "\n");
}

static void system_prompt(struct chat *chat, const char *operand)
{
    struct worker *worker = chat->conversation->worker;
    struct error error;
    const char *wanted = strcmp(operand, "none") == 0 ? NULL : operand;
    if (*operand && !conversation_change_system(chat->conversation, wanted, &error)) {
        tell_error(chat, &error);
        return;
    }
    const char *now = worker_system(worker);
    output_own(told(chat), now ? "system prompt: " : "no system prompt");
    output_foreign(told(chat), now ? now : "", now ? strlen(now) : 0);
    output_end_line(told(chat));
}

static void clear(struct chat *chat, const char *operand)
{
    struct error error;
    (void)operand;
    if (worker_clear_history(chat->conversation->worker, &error))
        output_own(told(chat), "the conversation begins anew\n");
    else
        tell_error(chat, &error);
}

static void sessions(struct chat *chat, const char *operand)
{
    (void)operand;
    command_sessions(chat->app, 0, NULL);
}

/* The run that was stopped, or another session with what waits in it. */
static void resume(struct chat *chat, const char *operand)
{
    struct error error;
    const char *own = conversation_session(chat->conversation);
    bool is_other = *operand && !(own && strcmp(operand, own) == 0);
    if (is_other) {
        struct conversation *other = chat_conversation_new(chat->app, operand, &error);
        if (!other) {
            tell_error(chat, &error);
            return;
        }
        chat_conversation_free(chat->conversation);
        chat->conversation = other;
        output_printf(told(chat), "session %s, %zu items\n", conversation_session(other),
                      worker_history(other->worker)->count);
        if (other->journal.session.state == SESSION_IDLE)
            return;
    }
    chat_run(chat, NULL);
}

static void lock(struct chat *chat, const char *operand)
{
    struct worker *worker = chat->conversation->worker;
    (void)operand;
    worker_lock(worker);
    output_printf(told(chat), "locked: %zu items, the tools and the system prompt\n",
                  worker_locked_prefix(worker));
}

static void unlock(struct chat *chat, const char *operand)
{
    struct worker *worker = chat->conversation->worker;
    const struct registry *before = worker_registry(worker);
    (void)operand;
    worker_unlock(worker);
    output_own(told(chat), worker_registry(worker) == before
                               ? "unlocked\n"
                               : "unlocked; what was reloaded meanwhile is used from now on\n");
}

static void tell_reload(void *data, const char *line, bool is_failure)
{
    const struct chat *chat = data;
    (void)is_failure;
    output_foreign(told(chat), line, strlen(line));
    output_own(told(chat), "\n");
}

static void reload(struct chat *chat, const char *operand)
{
    (void)operand;
    conversation_reload(chat->conversation, tell_reload, chat);
}

static void leave(struct chat *chat, const char *operand)
{
    (void)operand;
    chat->leaves = true;
}

/* ---- /save ---- */

static void write_quoted(struct text *out, const char *lead, const struct bytes *body)
{
    text_printf(out, "%s\n\n````\n", lead);
    text_append(out, body->data, body->length);
    text_puts(out, "\n````\n\n");
}

static void write_parts(struct text *out, const struct item *item)
{
    for (size_t i = 0; i < item->attachment_count; i++) {
        text_puts(out, "+ ");
        attachment_describe(&item->attachments[i], out);
        text_puts(out, "\n\n");
    }
}

static void write_markdown(const struct item *item, struct text *out)
{
    struct text lead = TEXT_INIT;
    switch (item->kind) {
    case ITEM_MESSAGE:
        text_printf(out, "## %s\n\n", item->role == ROLE_USER        ? "You"
                                      : item->role == ROLE_ASSISTANT ? "Model"
                                                                     : "System");
        item_append_text(item, out);
        text_puts(out, "\n\n");
        break;
    case ITEM_CALL:
        text_printf(&lead, "→ `%s`", item->name);
        write_quoted(out, text_cstr(&lead), &item->arguments);
        break;
    case ITEM_OUTPUT:
        write_quoted(out, item->is_error ? "✗" : "←", &item->text);
        write_parts(out, item);
        break;
    case ITEM_REASONING:
        break;
    }
    text_release(&lead);
}

static bool write_file(const char *path, const struct text *text, struct error *error)
{
    int fd = text->failed ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (text->failed)
        return error_memory(error);
    if (fd < 0)
        return error_set(error, ERROR_USAGE, "cannot write '%s': %s", path, strerror(errno));
    int failure = file_write_fd(fd, text_cstr(text), text->length) ? 0 : errno;
    if (close(fd) != 0 && !failure)
        failure = errno;
    if (failure)
        return error_set(error, ERROR_USAGE, "cannot write '%s': %s", path, strerror(failure));
    return true;
}

/* JSON lines when the name says so, else Markdown. */
static void save(struct chat *chat, const char *path)
{
    const struct history *history = worker_history(chat->conversation->worker);
    size_t length = strlen(path);
    bool lines = length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
    struct text text = TEXT_INIT;
    struct error error;
    for (size_t i = 0; i < history->count; i++) {
        if (!lines) {
            write_markdown(history->items[i], &text);
            continue;
        }
        item_write_view(history->items[i], &text);
        text_putc(&text, '\n');
    }
    secret_redact(&text);
    bool ok = *path ? write_file(path, &text, &error)
                    : error_set(&error, ERROR_USAGE, "/save needs a file: /save talk.md, or "
                                                     "/save talk.jsonl for JSON lines");
    text_release(&text);
    if (ok)
        output_printf(told(chat), "saved: %zu items\n", history->count);
    else
        tell_error(chat, &error);
}

/* ---- the table ---- */

static const struct chat_command commands[] = {
    {"/help", "", "this", help},
    {"/tools", "[NAME]", "what the model can call, and did; one with its arguments", tools},
    {"/model", "[NAME]", "the model; another one goes on with this conversation", model},
    {"/system", "[TEXT]", "the system prompt; another one; `none` for none", system_prompt},
    {"/clear", "", "forget what was said", clear},
    {"/lock", "", "keep all this as it is, so that the provider's cache is used", lock},
    {"/unlock", "", "let it be changed again", unlock},
    {"/reload", "", "load plugins and their configuration anew", reload},
    {"/sessions", "", "the conversations that are kept", sessions},
    {"/resume", "[SESSION]", "go on with one of them, or with the run that was stopped", resume},
    {"/save", "FILE", "write this one down, as Markdown or, to FILE.jsonl, as JSON lines", save},
    {"/quit", "", "leave", leave},
};

static const struct chat_command *command_numbered(size_t index)
{
    return index < sizeof(commands) / sizeof(*commands) ? &commands[index] : NULL;
}

const char *chat_command_name(size_t index)
{
    const struct chat_command *command = command_numbered(index);
    return command ? command->name : NULL;
}

static void tell_unknown(struct chat *chat, const char *name)
{
    struct suggestion suggestion;
    struct error error;
    suggestion_begin(&suggestion, name);
    for (size_t i = 0; chat_command_name(i); i++)
        suggestion_consider(&suggestion, chat_command_name(i));
    if (suggestion.best)
        error_set(&error, ERROR_USAGE, "no command '%s'; did you mean '%s'?", name,
                  suggestion.best);
    else
        error_set(&error, ERROR_USAGE,
                  "no command '%s'; /help lists them; with a space before it, it is said to the "
                  "model",
                  name);
    tell_error(chat, &error);
}

void chat_command(struct chat *chat, const char *line)
{
    struct text name = TEXT_INIT;
    size_t length = strcspn(line, " \t\n");
    text_append(&name, line, length);
    const char *operand = line + length + strspn(line + length, " \t\n");
    const struct chat_command *command;
    for (size_t i = 0; (command = command_numbered(i)); i++)
        if (strcmp(command->name, text_cstr(&name)) == 0)
            break;
    if (command)
        command->run(chat, operand);
    else
        tell_unknown(chat, text_cstr(&name));
    text_release(&name);
    output_flush(told(chat));
}
