/*
 * editor - reads what the user types into a terminal: libedit with history, pasting, input of
 * several lines, completion.
 *
 *     Enter           sends; behind a backslash, or with Alt, it begins another line
 *     Ctrl-C          clears what was typed
 *     Ctrl-D          on an empty line: the end
 *     Ctrl-Z          stops the program; `fg` goes on
 *     Tab             completes a command or the name of a tool
 *
 * Pasted lines come together and send nothing; while they are edited they are shown as one
 * "[3 lines pasted]".  The terminal is in raw mode only inside editor_read().  One thread; one
 * editor in a process.
 */
#ifndef FRONTEND_EDITOR_H
#define FRONTEND_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"

struct editor;

struct editor_settings {
    const char *prompt;       /* plain text */
    const char *history_path; /* NULL or "": none is kept */
    /* The names that Tab completes, until NULL; may itself be NULL. */
    const char *(*candidate)(void *data, size_t index);
    void *candidate_data;
    /* Something else that is waited for: when the descriptor is readable (-1: never), is_due()
     * looks (and it is readable no more), and when it says so the line is taken off the screen,
     * act() may write there, and the line comes back as it was.  All NULL: nothing. */
    int (*wake_fd)(void *data);
    bool (*is_due)(void *data);
    void (*act)(void *data);
    void *wake_data;
};

enum editor_end {
    EDITOR_LINE,    /* *line is what was typed */
    EDITOR_EOF,     /* Ctrl-D, or the input is at its end */
    EDITOR_STOPPED, /* `stop` was triggered */
    EDITOR_FAILED   /* no memory */
};

/* Standard input and output must be one terminal, and terminal_guard() was called.  NULL with
 * *error (kind config when libedit is not installed). */
struct editor *editor_new(const struct editor_settings *settings, struct error *error);
void editor_free(struct editor *editor); /* NULL is fine */

/* Waits for input; overwrites *line. */
enum editor_end editor_read(struct editor *editor, const struct cancel *stop, struct text *line);

#endif
