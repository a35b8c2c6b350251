/*
 * log - what the operator should know, on standard error.
 *
 * Every line is redacted (secret.h) and made visible (utf8.h) before it is written with
 * one write(2).  Thread-safe.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTE, LOG_DEBUG };

/* Lines above `level` are dropped.  The default is LOG_WARNING. */
void log_set_level(enum log_level level);
enum log_level log_level(void);
/* Called right before a line of this thread is written, so that a front end can finish its
 * own line first.  Lines of other threads are written without. */
void log_set_before(void (*before)(void *argument), void *argument);

/* Where lines go instead of standard error, without "mortise: " and as they were given; NULL: there.
 * From any thread. */
void log_set_sink(void (*sink)(enum log_level level, const char *message));

/* Whether standard error is in a line that a line of another thread shall erase. */
void log_set_erase(bool erase);

/* "mortise: MESSAGE", or "mortise: warning: MESSAGE", …  Further lines of a message are
 * indented. */
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)   log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_note(...)    log_line(LOG_NOTE, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_DEBUG, __VA_ARGS__)

#endif
