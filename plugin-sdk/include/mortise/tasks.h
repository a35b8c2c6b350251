/*
 * mortise/tasks.h - work that goes on when its call has been answered.
 *
 * One tool starts a task and answers at once with its id; another one, which shares the store,
 * tells how far it is.  The store is part of the plugin's state:
 *
 *     static mortise_status generate_report(mortise_call *call, const generate_report_args *args)
 *     {
 *         struct job *job = job_new(args->topic);            // a copy: `args` end with the call
 *         return mortise_task_start(mortise_state(call), call, write_report, job, job_free);
 *     }
 *
 *     static mortise_status write_report(mortise_task *task, void *data)   // on a thread of its own
 *     {
 *         for (int i = 0; i < 10; i++) {
 *             if (mortise_task_cancelled(task))
 *                 return MORTISE_CANCELLED;
 *             mortise_task_progress(task, i, 10, "reading");
 *             …
 *         }
 *         return mortise_task_reply(task, "%zu pages", pages);
 *     }
 *
 *     static mortise_status check_report_status(mortise_call *call, const … *args)
 *     {
 *         return mortise_task_reply_status(mortise_state(call), call, args->task_id);
 *     }
 *
 *     static void *open_report(const mortise_host *host)
 *     {
 *         mortise_tasks *tasks = mortise_tasks_new(0, 0);
 *         return tasks ? tasks : mortise_refuse(host, "out of memory");
 *     }
 *
 *     MORTISE_PLUGIN(…, .open = open_report, .close = mortise_tasks_close);
 *
 * The model reads, as JSON,
 *
 *     {"task_id":"…","status":"processing"}
 *     {"task_id":"…","status":"processing","progress":{"done":3,"total":10,"message":"reading"}}
 *     {"task_id":"…","status":"completed","result":"7 pages"}
 *     {"task_id":"…","status":"failed","error":"no paper"}
 *     {"error":"Task not found"}
 *
 * WHOSE.  A task belongs to the session, user and tenant of the call that started it; to any other
 * its id is unknown.  Without a session it belongs to that user's calls without one.  Ids are
 * random, 128 bits.
 *
 * THREADS.  Each task runs on a thread of its own, so that a task that waits holds up none;
 * mortise_tasks_new() limits how many run at a time.  All functions are [thread-safe]; those that
 * take a task are for its work only.
 *
 * A plugin that uses this must be linked with threads (-pthread).  In the SDK's library, for C.
 */
#ifndef MORTISE_TASKS_H
#define MORTISE_TASKS_H

#include <mortise/tool.h>

/* A store of tasks, and one of them. */
typedef struct mortise_tasks mortise_tasks;
typedef struct mortise_task mortise_task;

/* A store.  `running`: how many tasks may run at a time (0: 8); `kept`: how many are remembered
 * after their end, the oldest goes first (0: 100).  NULL: no memory. */
MORTISE__OURS mortise_tasks *mortise_tasks_new(size_t running, size_t kept);
/* Cancels all tasks, waits for their work to return, and frees the store.  Takes a
 * mortise_tasks *, for `.close = mortise_tasks_close`; NULL is fine.  [load] */
MORTISE__OURS void mortise_tasks_close(void *tasks);

/* Starts `work` and replies with the task's id.  The work must not use `call`.  `data` is the
 * store's from here on: `release` (or NULL) gets it once, after the work, and also when the task
 * could not be started.  Returns MORTISE_OK, or what the tool can return after mortise_fail():
 * too many tasks are running, no thread, no memory. */
MORTISE__OURS mortise_status mortise_task_start(mortise_tasks *tasks, mortise_call *call,
                                                mortise_status (*work)(mortise_task *task,
                                                                       void *data),
                                                void *data, void (*release)(void *data));
/* Replies how the task is doing; an unknown id is an ordinary result too. */
MORTISE__OURS mortise_status mortise_task_reply_status(mortise_tasks *tasks, mortise_call *call,
                                                       const char *id);
/* Asks the task to stop, and replies as mortise_task_reply_status() does. */
MORTISE__OURS mortise_status mortise_task_cancel(mortise_tasks *tasks, mortise_call *call,
                                                 const char *id);

/* ---- in the work, which returns MORTISE_OK or a failure ---- */

/* Whether to stop: the plugin is closed, or mortise_task_cancel() was called.  A work that does not
 * ask holds up the end of the host. */
MORTISE__OURS bool mortise_task_cancelled(mortise_task *task);
/* How far it is: done of total (0: not known), with a message or NULL. */
MORTISE__OURS void mortise_task_progress(mortise_task *task, double done, double total,
                                         const char *message);
/* The result; a second one takes the place of the first.  MORTISE_INVALID: that was no JSON;
 * MORTISE_NO_MEMORY.  Both are what the work can return. */
MORTISE__OURS mortise_status mortise_task_reply(mortise_task *task, const char *format, ...)
    MORTISE__PRINTF(2, 3);
MORTISE__OURS mortise_status mortise_task_reply_json(mortise_task *task, const char *format, ...)
    MORTISE__PRINTF(2, 3);
/* What went wrong.  Returns MORTISE_FAILED, for `return mortise_task_fail(task, "…")`. */
MORTISE__OURS mortise_status mortise_task_fail(mortise_task *task, const char *format, ...)
    MORTISE__PRINTF(2, 3);

#endif
