/* Built twice, with another VERSION: what a reload puts in the place of the other. */
#include <mortise/tool.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

MORTISE_TOOL(version, MORTISE_READ_ONLY | MORTISE_CONCURRENCY_SAFE, "Tell the version.",
    MORTISE_NO_ARGS);

static mortise_status version(mortise_call *call, const version_args *args)
{
    (void)args;
    return mortise_reply(call, "version %s", VERSION);
}

MORTISE_TOOL(wait_for, MORTISE_READ_ONLY, "Tell the version once a file is there.",
    (string, mark, "FILE.started is made, FILE.go is waited for.", required));

static mortise_status wait_for(mortise_call *call, const wait_for_args *args)
{
    char name[4096];
    snprintf(name, sizeof(name), "%s.started", args->mark);
    close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    snprintf(name, sizeof(name), "%s.go", args->mark);
    while (access(name, F_OK) != 0) {
        if (mortise_cancelled(call))
            return MORTISE_CANCELLED;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return mortise_reply(call, "waited as version %s", VERSION);
}

MORTISE_PLUGIN(.name = "version", .version = VERSION, .tools = MORTISE_TOOLS(version, wait_for));
