#include "frontend/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int terminal_fd = -1;
static struct termios saved;
static volatile sig_atomic_t pasting; /* bracketed paste is on */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT};
enum { CRASH_COUNT = sizeof(crashes) / sizeof(*crashes) };
static struct sigaction before[CRASH_COUNT];

static void tell(const char *sequence)
{
    ssize_t ignored = write(terminal_fd, sequence, strlen(sequence));
    (void)ignored;
}

void terminal_restore(void)
{
    int kept = errno;
    if (terminal_fd < 0)
        return;
    if (pasting)
        tell("\033[?2004l\033[0m\033[?25h");
    pasting = 0;
    /* A background process would be stopped by this; it has nothing to restore. */
    if (tcgetpgrp(terminal_fd) == getpgrp())
        tcsetattr(terminal_fd, TCSANOW, &saved);
    errno = kept;
}

/* Hands on to whoever was there before, such as a sanitizer: the fault happens again then. */
static void on_crash(int number)
{
    terminal_restore();
    for (int i = 0; i < CRASH_COUNT; i++)
        if (crashes[i] == number)
            sigaction(number, &before[i], NULL);
    raise(number);
}

bool terminal_guard(int fd)
{
    if (terminal_fd >= 0)
        return true;
    if (tcgetattr(fd, &saved) != 0)
        return false;
    terminal_fd = fd;
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CRASH_COUNT; i++)
        sigaction(crashes[i], &action, &before[i]);
    atexit(terminal_restore);
    return true;
}

void terminal_bracketed_paste(bool on)
{
    if (on == (pasting != 0))
        return;
    pasting = on;
    tell(on ? "\033[?2004h" : "\033[?2004l");
}
