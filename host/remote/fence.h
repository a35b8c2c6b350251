/*
 * fence - what a plugin in its own process must not do to the others, its host among them.
 *
 * This is no sandbox: files and the network are as they are.  But where the kernel can (Landlock
 * since ABI 6, Linux 6.12), it cannot send signals to processes that are not its own, nor trace them.
 */
#ifndef REMOTE_FENCE_H
#define REMOTE_FENCE_H

#include <stdbool.h>

/* For this process and all that come of it.  False: this kernel has no such thing. */
bool fence_up(void);

#endif
