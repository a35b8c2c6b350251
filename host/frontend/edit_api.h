/*
 * edit_api - libedit (its wide interface) through a table of functions, loaded on first need:
 * only a chat on a terminal edits lines.  One thread.
 */
#ifndef FRONTEND_EDIT_API_H
#define FRONTEND_EDIT_API_H

#include <stdio.h>
#include <wchar.h>

#include <histedit.h>

#include "base/error.h"

struct edit_api {
    EditLine *(*init)(const char *, FILE *, FILE *, FILE *);
    void (*end)(EditLine *);
    const wchar_t *(*wgets)(EditLine *, int *);
    int (*wgetc)(EditLine *, wchar_t *);
    int (*wset)(EditLine *, int, ...);
    const LineInfoW *(*wline)(EditLine *);
    int (*winsertstr)(EditLine *, const wchar_t *);
    void (*resize)(EditLine *);
    HistoryW *(*history_winit)(void);
    void (*history_wend)(HistoryW *);
    int (*history_w)(HistoryW *, HistEventW *, int, ...);
};

/* NULL with *error (kind config) that names the package to install. */
const struct edit_api *edit_api(struct error *error);

#endif
