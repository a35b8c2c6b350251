/*
 * text - a text that grows, and how names and bytes of files are shown to a model.
 *
 * A failure sticks: append freely, and look at `failed` (no memory) once.  Any thread, its own
 * texts.
 */
#ifndef FILES_TEXT_H
#define FILES_TEXT_H

#include <mortise/tool.h>

struct text {
    char *data; /* with a NUL behind it, once something was put; for text_release() */
    size_t length, room;
    bool failed;
};

#define TEXT_INIT                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

void text_release(struct text *text);
void text_put(struct text *text, const char *data, size_t length);
void text_puts(struct text *text, const char *string);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A file's name or path: as it is, or in quotes with escapes when it has bytes that would look
 * like something else (control characters, quotes at its start, what is no UTF-8). */
void text_name(struct text *text, const char *name);

/* A line of a file, at most `most` bytes of it, which end with a character; bytes that are no
 * UTF-8 and control characters but the tab are shown as \xNN.  Returns how many bytes were not
 * UTF-8. */
size_t text_line(struct text *text, const char *line, size_t length, size_t most);

/* "3.4 KB". */
void text_size(struct text *text, uint64_t bytes);

/* The text as the result of the call; MORTISE_NO_MEMORY if it failed.  Releases it. */
mortise_status text_reply(struct text *text, mortise_call *call);

/* The bytes of the byte order mark that a file begins with, or 0: nobody sees it. */
size_t text_mark(const char *data, size_t length);

/* The length of the UTF-8 character at `data`; 0: it is none. */
size_t text_character(const char *data, size_t length);

#endif
