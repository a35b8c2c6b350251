#include "command/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "frontend/terminal.h"

static struct cancel *volatile watched;
static volatile sig_atomic_t received;

static void on_signal(int number)
{
    if (received) {
        terminal_restore();
        _exit(128 + number);
    }
    received = number;
    cancel_trigger(watched);
}

void signals_watch(struct cancel *cancel)
{
    watched = cancel;
    if (received == SIGINT)
        received = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (received)
        cancel_trigger(cancel);
}

void signals_forget(const struct cancel *cancel)
{
    if (watched == cancel)
        watched = NULL;
}

int signals_received(void)
{
    return received;
}

/* ---- SIGHUP ---- */

static int reload_fd = -1; /* an eventfd */
static bool had_terminal;

/* A shell that lost its terminal sends SIGHUP to its jobs, which looks like any other. */
static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || (errno != ENXIO && errno != EIO && errno != ENOENT);
}

static void on_hangup(int number, siginfo_t *info, void *unused)
{
    int kept = errno;
    (void)unused;
    bool is_gone = info->si_code == SI_KERNEL || (had_terminal && !has_terminal());
    if (is_gone && !received) { /* the kernel tells, and then the shell once more */
        on_signal(number);
    } else if (!is_gone) {
        ssize_t ignored = write(reload_fd, &(uint64_t){1}, sizeof(uint64_t));
        (void)ignored; /* it can only fail by being full, which is readable too */
    }
    errno = kept;
}

void signals_take_hangup(void)
{
    struct sigaction action;
    if (reload_fd >= 0 || sigaction(SIGHUP, NULL, &action) != 0 || action.sa_handler == SIG_IGN)
        return;
    reload_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reload_fd < 0)
        return;
    had_terminal = has_terminal();
    action = (struct sigaction){.sa_sigaction = on_hangup, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
}

int signals_reload_fd(void)
{
    return reload_fd;
}

bool signals_reload_asked(void)
{
    uint64_t count;
    return reload_fd >= 0 && read(reload_fd, &count, sizeof(count)) == sizeof(count);
}
