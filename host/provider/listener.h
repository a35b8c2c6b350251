/*
 * listener - who listens on a port of this machine.
 *
 * Whatever answers as a model is told the prompt and says which tools are called, so a server that
 * nobody named must not be one that another user of the machine put there.
 */
#ifndef PROVIDER_LISTENER_H
#define PROVIDER_LISTENER_H

#include <stdbool.h>

/* Whether somebody listens on the TCP port of the loopback address, and everybody who does is
 * root, a user of the system's own (below 1000) or this user.  False when it cannot be known. */
bool listener_is_trusted(unsigned port);
/* The same by the kernel's tables as texts (/proc/net/tcp and tcp6; NULL is empty). */
bool listener_table_is_trusted(const char *tcp, const char *tcp6, unsigned port, unsigned user);

#endif
