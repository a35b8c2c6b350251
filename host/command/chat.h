/*
 * chat - what the loop (chat.c) and the slash commands (chat_commands.c) share.
 */
#ifndef COMMAND_CHAT_H
#define COMMAND_CHAT_H

#include "command/conversation.h"
#include "frontend/editor.h"
#include "frontend/lines.h"

struct chat {
    struct app *app;
    struct conversation *conversation; /* /resume puts another one in its place */
    struct editor *editor; /* NULL: there are only lines */
    struct lines lines;    /* of standard input as they are */
    bool leaves;           /* /quit */
    int code;              /* what the last run ended with */
    int signal;            /* that came while it read or ran, or 0 */
};

/* A conversation that is ready; `session` NULL: as the settings say.  NULL with *error. */
struct conversation *chat_conversation_new(struct app *app, const char *session,
                                           struct error *error);
void chat_conversation_free(struct conversation *conversation); /* NULL is fine */

/* A run with this prompt, or, without one, what waits to be resumed. */
void chat_run(struct chat *chat, const struct text *prompt);

/* "/help", "/tools", …; NULL behind the last. */
const char *chat_command_name(size_t index);
/* Carries out a line that begins with a slash. */
void chat_command(struct chat *chat, const char *line);

#endif
