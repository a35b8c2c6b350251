/* Work that takes long: one tool starts it and answers at once, another one tells how far it is. */
#include <mortise/tasks.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct report {
    mortise_tasks *tasks;
    int64_t step_ms; /* how long a section takes */
};

/* What a task needs when its call is long over. */
struct job {
    int64_t sections, step_ms;
    char topic[];
};

/* ---- the work, on a thread of its own ---- */

/* False when the task was cancelled in the meantime. */
static bool wait_for_section(mortise_task *task, int64_t left_ms)
{
    for (; left_ms > 0 && !mortise_task_cancelled(task); left_ms -= 20) {
        int64_t slice_ms = left_ms < 20 ? left_ms : 20;
        nanosleep(&(struct timespec){.tv_nsec = (long)slice_ms * 1000000}, NULL);
    }
    return !mortise_task_cancelled(task);
}

static mortise_status write_report(mortise_task *task, void *data)
{
    const struct job *job = data;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return MORTISE_NO_MEMORY;
    fprintf(out, "# Report on %s\n\nThis is demo data: it is made up.\n", job->topic);
    bool whole = true;
    for (int64_t i = 1; whole && i <= job->sections; i++) {
        mortise_task_progress(task, (double)(i - 1), (double)job->sections, "writing");
        whole = wait_for_section(task, job->step_ms);
        fprintf(out, "\n## Section %lld\n\nWhat is to be said of %s.\n", (long long)i, job->topic);
    }
    mortise_status status = fclose(out) == 0 ? MORTISE_OK : MORTISE_NO_MEMORY;
    if (!whole)
        status = MORTISE_CANCELLED;
    else if (status == MORTISE_OK)
        status = mortise_task_reply(task, "%s", text);
    free(text);
    return status;
}

/* ---- the tools ---- */

MORTISE_TOOL(generate_report, MORTISE_LONG_RUNNING,
    "Write a report on a topic.  Answers with a task_id at once; check_report_status has the report "
    "when it is done.",
    (string,  topic,    "What the report is on.", required, length(1, 1000)),
    (integer, sections, "How many sections.",     range(1, 20), fallback(3)));

static mortise_status generate_report(mortise_call *call, const generate_report_args *args)
{
    struct report *self = mortise_state(call);
    size_t bytes = strlen(args->topic) + 1;
    struct job *job = malloc(sizeof(*job) + bytes);
    if (!job)
        return MORTISE_NO_MEMORY;
    job->sections = args->sections;
    job->step_ms = self->step_ms;
    memcpy(job->topic, args->topic, bytes);
    return mortise_task_start(self->tasks, call, write_report, job, free);
}

MORTISE_TOOL(check_report_status, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE,
    "Tell whether a report is done, and give it.",
    (string, task_id, "What generate_report answered.", required));

static mortise_status check_report_status(mortise_call *call, const check_report_status_args *args)
{
    struct report *self = mortise_state(call);
    return mortise_task_reply_status(self->tasks, call, args->task_id);
}

/* ---- the plugin ---- */

static void report_close(void *state)
{
    struct report *self = state;
    mortise_tasks_close(self->tasks);
    free(self);
}

static void *report_open(const mortise_host *host)
{
    int64_t step_ms = 500;
    if (mortise_config_integer(host, "step-ms", &step_ms) == MORTISE_INVALID || step_ms < 0 ||
        step_ms > 600000)
        return mortise_refuse(host, "\"step-ms\" is not a time from 0 to 600000");
    struct report *self = calloc(1, sizeof(*self));
    if (!self)
        return mortise_refuse(host, "out of memory");
    self->step_ms = step_ms;
    self->tasks = mortise_tasks_new(0, 0);
    if (!self->tasks) {
        free(self);
        return mortise_refuse(host, "out of memory");
    }
    return self;
}

MORTISE_PLUGIN(.name = "report", .version = "1.0.0",
               .tools = MORTISE_TOOLS(generate_report, check_report_status), .open = report_open,
               .close = report_close);
