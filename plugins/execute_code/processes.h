/* processes - the end of what a call may start. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>

/* From now on this process can start threads, but no process and no program; for ever.  False with
 * errno: the system does not allow to give it up. */
bool give_up_processes(void);

#endif
