/*
 * guard - the process between the host and that of a plugin, so that nothing of it is left.
 *
 * What the plugin starts may leave its session and its parents.  It then becomes a child of the
 * guard, which ends all its children when the plugin's process is over, when the host says so
 * (GUARD_END), and a second after the host is gone.  Then it ends as that process did.
 *
 * The guard has no descriptor and runs nothing of the plugin's.  A plugin that could kill it is
 * kept from that by the fence, where there is one; its process goes with the guard in any case.
 */
#ifndef REMOTE_GUARD_H
#define REMOTE_GUARD_H

#include <signal.h>
#include <sys/types.h>

#define GUARD_END SIGTERM /* to the guard: end everything now */

/* Returns in a new process, which the plugin is to have; what was there becomes its guard.  *host gets
 * who started that, and the result is the guard.  0: there is no such process. */
pid_t guard_stand(pid_t *host);

#endif
