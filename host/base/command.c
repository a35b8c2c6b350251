#include "base/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

bool command_read(const char *command, const char *name, size_t max, struct text *out,
                  struct error *error)
{
    FILE *pipe = popen(command, "re");
    if (!pipe)
        return error_set(error, ERROR_CONFIG, "cannot run %s: %s", name, strerror(errno));
    bool ok = file_read_fd(fileno(pipe), name, max, out, error);
    int status = pclose(pipe);
    if (ok && status != 0)
        return error_set(error, ERROR_CONFIG, "%s failed (status %d): %s", name,
                         WIFEXITED(status) ? WEXITSTATUS(status) : -1, command);
    return ok;
}
