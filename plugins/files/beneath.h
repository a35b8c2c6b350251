/*
 * beneath - opens what lies below a folder, and nothing else, whoever moves or links what
 * meanwhile.
 *
 * The kernel does it (openat2).  Where it cannot, because it is old or a sandbox forbids the call,
 * the path is followed name by name from descriptor to descriptor.  Symbolic links are followed as
 * long as they stay below the folder; one with an absolute target counts as leading out, and so do
 * the links of /proc.  Any thread.
 */
#ifndef FILES_BENEATH_H
#define FILES_BENEATH_H

#include <stdbool.h>
#include <sys/stat.h>

/* A descriptor, with O_CLOEXEC; -1 with errno: EXDEV (it leads out), ELOOP (a link of /proc, or
 * links without end), or what open() says.  `root` is a folder's descriptor, `path` is relative
 * ("." is the folder itself), and `flags` are those of open() without O_CREAT. */
int beneath_open(int root, const char *path, int flags);

/* A regular file, for reading, or -1: EISDIR, EMEDIUMTYPE (a device, a pipe, a socket, or a file
 * system such as /proc), EMLINK (a hard link to a file of somebody who is neither the caller nor
 * the owner of `root`), or what beneath_open() says.  Nothing but a regular file is ever opened. */
int beneath_open_regular(int root, const char *path, struct stat *status);

/* A folder that can be read with fdopendir(); -1 as above. */
int beneath_open_folder(int root, const char *path);

/* The same two for `name` directly in `folder`, where no link is followed (ELOOP); `owner` is whose
 * hard links are trusted, the owner of the root. */
int beneath_open_entry(int folder, const char *name, uid_t owner, struct stat *status);
int beneath_open_subfolder(int folder, const char *name);

#endif
