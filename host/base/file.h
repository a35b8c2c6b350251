/* file - whole files, read with a limit, and the folders of new ones. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Appends the file's bytes.  Larger than `max` bytes, a directory or unreadable: false
 * with "cannot read 'PATH': …" (kind config), and nothing appended.  "-" is not special
 * here. */
bool file_read(const char *path, size_t max, struct text *out, struct error *error);
/* The same for an open descriptor; `name` is for the message. */
bool file_read_fd(int fd, const char *name, size_t max, struct text *out, struct error *error);

/* The folders above the file, for the user alone (0700) where they are new.  The path is as
 * before when it returns. */
bool file_make_folders(char *path, struct error *error);

/* Writes all of it, whatever signals come.  False with errno set. */
bool file_write_fd(int fd, const char *data, size_t length);

#endif
