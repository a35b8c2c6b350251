#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "frontend/editor_state.h"
#include "frontend/styled.h"
#include "frontend/terminal.h"

static volatile sig_atomic_t resized, continued, stop_asked;

/* ---- wide characters ---- */

void editor_append_wide(struct text *out, const wchar_t *wide, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t code = (uint32_t)wide[i];
        char bytes[4];
        size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t b = n - 1; b > 0; b--, code >>= 6)
            bytes[b] = (char)(0x80 | (code & 0x3F));
        bytes[0] = (char)(n == 1 ? code : (n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | code);
        text_append(out, bytes, n);
    }
}

/* Valid UTF-8 as wide characters, malloc'ed; NULL: no memory. */
wchar_t *editor_to_wide(const char *text, size_t length)
{
    wchar_t *wide = calloc(length + 1, sizeof(*wide));
    size_t n, count = 0;
    for (size_t i = 0; wide && i < length; i += n)
        wide[count++] = (wchar_t)styled_decode(text + i, length - i, &n);
    return wide;
}

void editor_insert(struct editor *editor, const char *text, size_t length)
{
    struct text visible = TEXT_INIT;
    utf8_append_visible(&visible, text, length);
    wchar_t *wide = visible.failed ? NULL : editor_to_wide(text_cstr(&visible), visible.length);
    if (wide)
        editor->api->winsertstr(editor->line, wide);
    free(wide);
    text_release(&visible);
}

/* ---- the terminal, while a line is edited ---- */

void editor_raw_mode(struct editor *editor, bool on)
{
    editor->api->wset(editor->line, EL_PREP_TERM, on ? 1 : 0);
    terminal_bracketed_paste(on);
    if (!on)
        terminal_restore();
}

/* Stops this process as the terminal's own key would, with everything as it was found. */
void editor_suspend(struct editor *editor, bool whole_group)
{
    stop_asked = 0;
    editor_raw_mode(editor, false);
    if (whole_group) {
        struct sigaction stops = {.sa_handler = SIG_DFL}, ours;
        sigaction(SIGTSTP, &stops, &ours);
        kill(0, SIGTSTP);
        sigaction(SIGTSTP, &ours, NULL);
    } else {
        kill(getpid(), SIGSTOP);
    }
    continued = 1;
}

void editor_write(const char *string)
{
    ssize_t ignored = write(STDOUT_FILENO, string, strlen(string));
    (void)ignored;
}

/* libedit draws the input anew from where the cursor is: that must be where it began.  The
 * terminal has broken its lines for the new width already. */
static void go_to_top(struct editor *editor)
{
    struct winsize size = {0};
    const LineInfoW *info = editor->api->wline(editor->line);
    unsigned rows = 0, column = (unsigned)wcslen(editor->prompt);
    char up[32];
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return;
    for (const wchar_t *at = info->buffer; at < info->cursor; at++) {
        unsigned width = styled_char_width(*at);
        bool breaks = *at == L'\n' || column + width > size.ws_col;
        rows += breaks;
        column = breaks ? 0 : column;
        column += *at == L'\n' ? 0 : width;
    }
    if (rows > 0) {
        snprintf(up, sizeof(up), "\033[%uA", rows);
        editor_write(up);
    }
    editor_write("\r\033[J");
}

/* False: what waits for a character is to end. */
bool editor_attend(struct editor *editor)
{
    if (cancel_requested(editor->stop)) {
        editor->stopped = true;
        return false;
    }
    if (stop_asked)
        editor_suspend(editor, false);
    if (resized || continued) {
        if (continued)
            editor_raw_mode(editor, true);
        if (resized)
            go_to_top(editor);
        resized = continued = 0;
        editor->api->resize(editor->line);
        editor->api->wset(editor->line, EL_REFRESH);
    }
    return true;
}

/* Lets something be written in the place of the line, and draws it again below. */
static void step_aside(struct editor *editor)
{
    go_to_top(editor);
    editor_raw_mode(editor, false);
    editor->settings.act(editor->settings.wake_data);
    editor_raw_mode(editor, true);
    editor->api->wset(editor->line, EL_REFRESH);
}

/* One byte of input: 1, 0 at the end, -1 when the editor is to stop. */
static int next_byte(struct editor *editor, unsigned char *byte)
{
    sigset_t all, before;
    const struct editor_settings *settings = &editor->settings;
    struct pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = cancel_fd(editor->stop), .events = POLLIN},
                             {.fd = settings->wake_fd ? settings->wake_fd(settings->wake_data) : -1,
                              .events = POLLIN}};
    sigfillset(&all);
    for (;;) {
        /* Signals come only while it waits, so none is missed before. */
        sigprocmask(SIG_SETMASK, &all, &before);
        bool on = !resized && !continued && !stop_asked;
        int ready = on ? ppoll(waits, 3, NULL, &before) : 0;
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (!editor_attend(editor))
            return -1;
        if (ready > 0 && waits[2].revents && settings->is_due(settings->wake_data))
            step_aside(editor);
        if (ready <= 0 || !waits[0].revents)
            continue;
        ssize_t n = read(STDIN_FILENO, byte, 1);
        if (n > 0)
            return 1;
        if (n == 0 || (errno != EINTR && errno != EAGAIN))
            return 0;
    }
}

/* Bytes become characters here, whatever the locale is. */
int editor_read_character(EditLine *line, wchar_t *character)
{
    struct editor *editor = editor_current;
    size_t unused, count = 0;
    (void)line;
    for (;;) {
        int got = next_byte(editor, &editor->bytes[count]);
        if (got <= 0) {
            editor->ended = got == 0;
            return got;
        }
        unsigned char lead = editor->bytes[0];
        size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        if (++count < wanted)
            continue;
        const char *bytes = (const char *)editor->bytes;
        *character = utf8_valid(bytes, count) == count
                         ? (wchar_t)styled_decode(bytes, count, &unused)
                         : (wchar_t)0xFFFD;
        return 1;
    }
}

/* ---- signals ---- */

static void on_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGCONT)
        continued = 1;
    else
        stop_asked = 1;
}

static const int watched[] = {SIGWINCH, SIGCONT, SIGTSTP};
_Static_assert(sizeof(watched) / sizeof(*watched) == EDITOR_SIGNALS, "all are kept");

void editor_watch_signals(struct sigaction *kept)
{
    struct sigaction action = {.sa_handler = on_signal};
    resized = continued = stop_asked = 0;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < EDITOR_SIGNALS; i++)
        sigaction(watched[i], &action, &kept[i]);
}

void editor_unwatch_signals(const struct sigaction *kept)
{
    for (int i = 0; i < EDITOR_SIGNALS; i++)
        sigaction(watched[i], &kept[i], NULL);
}
