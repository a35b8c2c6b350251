/*
 * mortise/sandbox.h - what a tool does to itself in its sandbox before it runs foreign code.
 *
 *     MORTISE_TOOL_WITH(render, (runs("/usr/bin/dot", "/usr/lib"), inside(MORTISE_INSIDE_PROCESSES)),
 *         MORTISE_SANDBOX_REQUIRED, "Draw a graph.", (string, graph, "In DOT.", required));
 *
 *     static mortise_status render(mortise_call *call, const render_args *args)
 *     {
 *         …start a helper program, and wait for its end…
 *         if (mortise_no_more_processes() != MORTISE_OK)
 *             return mortise_fail(call, "the sandbox cannot be closed");
 *         …run what cannot be trusted…
 *     }
 */
#ifndef MORTISE_SANDBOX_H
#define MORTISE_SANDBOX_H

#include <mortise/json.h>
#include <mortise/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From here on neither this process, with all its threads, nor what it has started begins a process
 * or runs a program: fork(), vfork() and execve() fail with EPERM, and threads go on working.  It
 * cannot be taken back.  MORTISE_UNSUPPORTED: that cannot be had here, or not for all threads, and
 * errno says why; nothing has changed then.  In a call of a tool that is marked
 * MORTISE_SANDBOX_REQUIRED it is there.  What was started before goes on until it ends. */
MORTISE__OURS mortise_status mortise_no_more_processes(void);

#ifdef __cplusplus
}
#endif

#endif
