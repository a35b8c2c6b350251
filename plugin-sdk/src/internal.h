/* What the files of the SDK's library share; hidden, so that no plugin exports it. */
#ifndef MORTISE_SDK_INTERNAL_H
#define MORTISE_SDK_INTERNAL_H

#include <mortise/tool.h>

#include <stdarg.h>

#pragma GCC visibility push(hidden)

/* ---- format.c ---- */

/* A text that lives in `small` if it fits and in `large` if not, or that is an argument ("%s"),
 * which is not copied; `bytes` is NULL when there was no memory. */
struct mortise__text {
    const char *bytes;
    size_t length;
    char *large; /* for free(), or NULL */
    char small[512];
};

void mortise__text_format(struct mortise__text *text, const char *format, va_list args)
    MORTISE__PRINTF(2, 0);
void mortise__text_release(struct mortise__text *text);

/* Puts `length` bytes at `at` as far as there is room in `size` beside the closing NUL; returns
 * where the next ones go. */
size_t mortise__put(char *out, size_t size, size_t at, const char *bytes, size_t length);
/* Closes what was put: `length` is what the last mortise__put() returned. */
void mortise__put_end(char *out, size_t size, size_t length);

/* ---- json_scan.c: each returns the place behind what it read, NULL when that is no JSON ---- */

/* Where something is, at or behind `p`. */
const char *mortise__json_space(const char *p);
/* The end of the value that begins at `p`, whatever its kind. */
const char *mortise__json_end(const char *p);
const char *mortise__json_number(const char *p);
/* Reads one character of a string to `out`: 1 to 4 bytes, 0 at the closing quote. */
const char *mortise__json_character(const char *p, char out[4], size_t *length);

/* ---- host.c ---- */

/* Where mortise_refuse() leaves its reason, for free(); NULL: with the host.  [load] */
void mortise__keep_refusal(char **reason);

/* ---- guard.c ---- */

/* The plugin in the place of a guard that could not be opened; takes `reason`. */
mortise_plugin *mortise__open_closed(const mortise_host *host, const mortise_plugin_parts *parts,
                                     char *reason);

/* ---- add.c ---- */

/* The tools that were made while loading, in order. */
struct mortise_tool_list {
    struct added *first, **end;
    size_t count;
    mortise_status status; /* of the first that could not be added */
};

void mortise__tools_begin(struct mortise_tool_list *list);
/* Gives them the plugin's state; puts `count` pointers to `out`. */
void mortise__tools_put(const struct mortise_tool_list *list, void *state, const char *state_tag,
                        const mortise_tool **out);
void mortise__tools_release(struct mortise_tool_list *list);

/* ---- open.c ---- */

/* Opens any plugin; `state` is that of parts without open(), and stays the caller's when it
 * fails. */
mortise_plugin *mortise__open_parts(const mortise_host *host, const mortise_plugin_parts *parts,
                                    void *state);

#pragma GCC visibility pop

#endif
