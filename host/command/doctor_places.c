/* doctor_places - the folders that things are kept in, and the store of sessions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/doctor.h"
#include "config/paths.h"
#include "conversation/store_sqlite.h"

static void trim_slash(char *path)
{
    size_t length = strlen(path);
    if (length > 1 && path[length - 1] == '/')
        path[length - 1] = '\0';
}

static void check_folder(struct doctor *doctor, const char *path, const struct stat *status)
{
    if (!S_ISDIR(status->st_mode))
        doctor_tell(doctor, FINDING_PROBLEM, "folder", "move it away", "'%s' is no folder", path);
    else if (status->st_mode & (S_IWGRP | S_IWOTH) && !(status->st_mode & S_ISVTX))
        doctor_tell(doctor, FINDING_PROBLEM, "folder", "chmod go-w ends that",
                    "others can write into '%s'", path);
    else if (access(path, W_OK | X_OK) != 0)
        doctor_tell(doctor, FINDING_PROBLEM, "folder",
                    "make it writable; without, sessions and what tools keep are lost",
                    "cannot write into '%s': %s", path, strerror(errno));
    else
        doctor_tell(doctor, FINDING_OK, "folder", NULL, "'%s' can be written (mode %03o)", path,
                    (unsigned)(status->st_mode & 0777));
}

/* Whether it could be made: the next folder above that is there can be written. */
static void check_missing(struct doctor *doctor, const char *path)
{
    char *above = strdup(path);
    struct stat status;
    while (above && strlen(above) > 1 && stat(above, &status) != 0) {
        char *slash = strrchr(above, '/');
        slash[slash == above] = '\0';
    }
    if (above && access(above, W_OK | X_OK) == 0)
        doctor_tell(doctor, FINDING_OK, "folder", NULL, "'%s' will be made when it is needed",
                    path);
    else if (!above)
        doctor_no_memory(doctor, "folder");
    else
        doctor_tell(doctor, FINDING_PROBLEM, "folder",
                    "make it, or name another place in the XDG variables",
                    "'%s' is not there and cannot be made in '%s'", path, above);
    free(above);
}

static void check_place(struct doctor *doctor, char *path, const char *variable)
{
    struct stat status;
    if (!path) {
        doctor_no_memory(doctor, "folder");
    } else if (!*path) {
        char advice[64];
        snprintf(advice, sizeof(advice), "set HOME or %s", variable);
        doctor_tell(doctor, FINDING_WARNING, "folder", advice,
                    "neither HOME nor %s is an absolute path, so nothing can be kept", variable);
    } else {
        trim_slash(path);
        if (stat(path, &status) == 0)
            check_folder(doctor, path, &status);
        else
            check_missing(doctor, path);
    }
    free(path);
}

static void check_sessions(struct doctor *doctor)
{
    char *path = path_data("sessions.db");
    struct stat status;
    struct error error;
    bool there = path && *path && stat(path, &status) == 0;
    if (!path)
        doctor_no_memory(doctor, "sessions");
    else if (*path && !there)
        doctor_tell(doctor, FINDING_OK, "sessions", NULL, "none was kept yet");
    if (there && (status.st_mode & (S_IRWXG | S_IRWXO)))
        doctor_tell(doctor, FINDING_WARNING, "sessions", "chmod 600 ends that",
                    "'%s' can be used by others", path);
    if (there && !store_sqlite_check(path, &error))
        doctor_fail(doctor, "sessions", &error,
                    "use a mortise that is as new, or move the file away");
    else if (there)
        doctor_tell(doctor, FINDING_OK, "sessions", NULL, "'%s' is whole", path);
    free(path);
}

void doctor_places(struct doctor *doctor)
{
    check_place(doctor, path_data(""), "XDG_DATA_HOME");
    check_place(doctor, path_state(""), "XDG_STATE_HOME");
    check_sessions(doctor);
}
