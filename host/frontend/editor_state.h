/* editor_state - what editor.c and its helpers share; private to them. */
#ifndef FRONTEND_EDITOR_STATE_H
#define FRONTEND_EDITOR_STATE_H

#include <signal.h>

#include "frontend/edit_api.h"
#include "frontend/editor.h"

struct paste {
    char *label; /* what stands for it in the line */
    char *text;
    size_t length;
};

struct editor {
    const struct edit_api *api;
    EditLine *line;
    HistoryW *history;
    wchar_t prompt[64];
    wchar_t more_prompt[64]; /* of further lines of one input */
    bool more;
    struct editor_settings settings;
    char *history_path;
    const struct cancel *stop;
    bool cleared; /* Ctrl-C */
    bool stopped;
    bool ended;
    unsigned char bytes[4]; /* of a character that is coming */
    struct {
        struct paste *items;
        size_t count, capacity;
    } pastes;
};

/* libedit's functions get no pointer of ours. */
extern struct editor *editor_current;

/* editor_input.c: characters, signals, and the terminal while a line is edited. */
void editor_append_wide(struct text *out, const wchar_t *wide, size_t length);
/* Valid UTF-8 as wide characters, malloc'ed; NULL: no memory. */
wchar_t *editor_to_wide(const char *text, size_t length);
/* Where the cursor is; what no terminal should get is left out. */
void editor_insert(struct editor *editor, const char *text, size_t length);
void editor_write(const char *string);
void editor_raw_mode(struct editor *editor, bool on);
/* Stops this process as the terminal's own key would, with everything as it was found. */
void editor_suspend(struct editor *editor, bool whole_group);
/* Does what signals asked for.  False: what waits for a character is to end. */
bool editor_attend(struct editor *editor);
int editor_read_character(EditLine *line, wchar_t *character); /* for EL_GETCFN */
enum { EDITOR_SIGNALS = 3 };
void editor_watch_signals(struct sigaction *kept);
void editor_unwatch_signals(const struct sigaction *kept);

/* editor_complete.c: the Tab key. */
unsigned char editor_complete(EditLine *line, wint_t key);

#endif
