#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/secret.h"
#include "base/text.h"
#include "base/utf8.h"

static atomic_int current_level = LOG_WARNING;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*before_line)(void *argument);
static void *before_argument;
static pthread_t before_thread;
static atomic_bool erases;
static void (*_Atomic current_sink)(enum log_level level, const char *message);

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

enum log_level log_level(void)
{
    return (enum log_level)atomic_load_explicit(&current_level, memory_order_relaxed);
}

void log_set_before(void (*before)(void *argument), void *argument)
{
    pthread_mutex_lock(&lock);
    before_line = before;
    before_argument = argument;
    before_thread = pthread_self();
    pthread_mutex_unlock(&lock);
}

void log_set_sink(void (*sink)(enum log_level level, const char *message))
{
    atomic_store(&current_sink, sink);
}

void log_set_erase(bool erase)
{
    atomic_store(&erases, erase);
}

static void write_line(char *line, size_t length)
{
    static char erase[] = "\r\033[K";
    struct iovec parts[] = {{erase, sizeof(erase) - 1}, {line, length}};
    pthread_mutex_lock(&lock);
    if (before_line && pthread_equal(before_thread, pthread_self()))
        before_line(before_argument);
    bool erased = !atomic_load(&erases);
    ssize_t written;
    do {
        written = writev(STDERR_FILENO, parts + erased, 2 - erased);
    } while (written < 0 && errno == EINTR);
    pthread_mutex_unlock(&lock);
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_WARNING:
        return "warning: ";
    case LOG_NOTE:
        return "note: ";
    case LOG_DEBUG:
        return "debug: ";
    case LOG_ERROR:
        break;
    }
    return "";
}

/* What follows a newline inside a message is indented: it cannot pass for a line of its own. */
static void append_indented(struct text *line, const struct text *message)
{
    const char *data = text_cstr(message);
    for (size_t start = 0; start <= message->length;) {
        const char *newline = memchr(data + start, '\n', message->length - start);
        size_t length = newline ? (size_t)(newline - data) - start : message->length - start;
        if (start > 0)
            text_puts(line, "\n    ");
        text_append(line, data + start, length);
        start += length + 1;
    }
    line->failed = line->failed || message->failed;
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > log_level())
        return;
    int saved = errno; /* so that a caller can log before it looks at it */
    struct text raw = TEXT_INIT;
    void (*sink)(enum log_level, const char *) = atomic_load(&current_sink);
    if (!sink)
        text_printf(&raw, "mortise: %s", level_name(level));
    va_list args;
    va_start(args, format);
    text_vprintf(&raw, format, args);
    va_end(args);
    if (sink) {
        sink(level, text_cstr(&raw));
        text_release(&raw);
        errno = saved;
        return;
    }

    /* Redacted twice: making it visible may drop a byte that split a secret in two. */
    struct text visible = TEXT_INIT;
    struct text line = TEXT_INIT;
    secret_redact(&raw);
    visible.failed = raw.failed;
    utf8_append_visible(&visible, text_cstr(&raw), raw.length);
    secret_redact(&visible);
    append_indented(&line, &visible);
    text_putc(&line, '\n');

    static char no_memory[] = "mortise: out of memory\n";
    if (line.failed)
        write_line(no_memory, sizeof(no_memory) - 1);
    else
        write_line(line.data, line.length);
    text_release(&raw);
    text_release(&visible);
    text_release(&line);
    errno = saved;
}
