#include "frontend/output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf8.h"

#define ERASE_LINE "\r\033[K"

enum { FLUSH_ABOVE = 16 << 10, DEFAULT_WIDTH = 80 };

enum color_choice color_parse(const char *name)
{
    if (name && strcmp(name, "always") == 0)
        return COLOR_ALWAYS;
    return name && strcmp(name, "never") == 0 ? COLOR_NEVER : COLOR_AUTO;
}

static bool understands_escapes(const struct output *output)
{
    const char *term = getenv("TERM");
    return output->terminal && term && *term && strcmp(term, "dumb") != 0;
}

static bool wants_color(const struct output *output, enum color_choice choice)
{
    const char *no_color = getenv("NO_COLOR");
    if (choice != COLOR_AUTO)
        return choice == COLOR_ALWAYS;
    return understands_escapes(output) && !(no_color && *no_color);
}

void output_init(struct output *output, int fd, enum color_choice choice)
{
    *output = (struct output){.fd = fd, .terminal = isatty(fd) == 1, .at_line_start = true};
    output->color = wants_color(output, choice);
    output->erases = understands_escapes(output);
}

void output_fail(struct output *output, int failure)
{
    if (!output->failed)
        output->failure = failure;
    output->failed = true;
}

static void write_all(struct output *output, const char *data, size_t length)
{
    while (length > 0 && !output->failed) {
        ssize_t n = write(output->fd, data, length);
        if (n >= 0) {
            data += n;
            length -= (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = output->fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            output_fail(output, errno);
        }
    }
}

void output_flush(struct output *output)
{
    if (output->buffer.failed)
        output_fail(output, ENOMEM);
    write_all(output, output->buffer.data, output->buffer.length);
    text_reset(&output->buffer);
}

static void appended(struct output *output, size_t before)
{
    const struct text *buffer = &output->buffer;
    if (buffer->length > before)
        output->at_line_start = buffer->data[buffer->length - 1] == '\n';
    if (buffer->length > FLUSH_ABOVE)
        output_flush(output);
}

/* ---- the transient line ---- */

static void leave_transient(struct output *output)
{
    if (!output->transient)
        return;
    output->transient = false;
    log_set_erase(false);
    text_puts(&output->buffer, ERASE_LINE);
}

void output_transient(struct output *output, const char *text, size_t length)
{
    if (!output->erases)
        return;
    if (!output->transient)
        output_end_line(output);
    output_dim(output);
    text_puts(&output->buffer, "\r");
    text_append(&output->buffer, text, length);
    output_plain(output);
    text_puts(&output->buffer, "\033[K");
    output->transient = true;
    log_set_erase(true); /* another thread's line would go on in this one */
    output_flush(output);
}

void output_erase(struct output *output)
{
    leave_transient(output);
    output_flush(output);
}

void output_release(struct output *output)
{
    output_erase(output);
    text_release(&output->buffer);
}

unsigned output_width(const struct output *output)
{
    struct winsize size = {0};
    bool known = ioctl(output->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : DEFAULT_WIDTH;
}

/* ---- what stays ---- */

void output_foreign(struct output *output, const char *data, size_t length)
{
    leave_transient(output);
    size_t before = output->buffer.length;
    if (output->terminal)
        utf8_append_visible(&output->buffer, data, length);
    else
        text_append(&output->buffer, data, length);
    appended(output, before);
}

void output_own(struct output *output, const char *text)
{
    leave_transient(output);
    size_t before = output->buffer.length;
    text_puts(&output->buffer, text);
    appended(output, before);
}

void output_printf(struct output *output, const char *format, ...)
{
    leave_transient(output);
    size_t before = output->buffer.length;
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&output->buffer, format, arguments);
    va_end(arguments);
    appended(output, before);
}

/* Escape sequences leave the cursor where it is. */
static void escape(struct output *output, const char *sequence)
{
    if (output->color)
        text_puts(&output->buffer, sequence);
}

void output_dim(struct output *output)
{
    escape(output, "\033[2m");
}

void output_plain(struct output *output)
{
    escape(output, "\033[0m");
}

void output_end_line(struct output *output)
{
    leave_transient(output);
    if (!output->at_line_start)
        output_own(output, "\n");
}
