/* Tells what it could do as it was mapped, when it was opened, and when it is called. */
#include <mortise/tool.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *look_at(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    close(fd);
    return "done";
}

static const char *when_mapped;

__attribute__((constructor)) static void look_first(void)
{
    when_mapped = look_at("/etc/passwd");
}

MORTISE_TOOL(look, 0, "Look at a file.",
    (string, path, "Which.", fallback("/etc/passwd")));

static mortise_status look(mortise_call *call, const look_args *args)
{
    return mortise_reply(call, "%s, %s, %s, %s", when_mapped, (const char *)mortise_state(call),
                         look_at(args->path), getenv("CANARY") ? "canary" : "no canary");
}

static void *open_inside(const mortise_host *host)
{
    (void)host;
    return (void *)(uintptr_t)look_at("/etc/passwd");
}

MORTISE_PLUGIN(.name = "inside", .open = open_inside, .tools = MORTISE_TOOLS(look));
