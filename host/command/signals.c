#include "command/signals.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/terminal.h"

static struct cancel *watched;
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
    received = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void signals_take_hangup(void)
{
    struct sigaction action;
    if (sigaction(SIGHUP, NULL, &action) != 0 || action.sa_handler == SIG_IGN)
        return;
    action = (struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
}

int signals_received(void)
{
    return received;
}
