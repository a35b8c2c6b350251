/*
 * embedded - files that are in the binary, put there by cmake/embed.cmake.
 */
#ifndef COMMAND_EMBEDDED_H
#define COMMAND_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *kind; /* the first folder of its path … */
    const char *path; /* … and the rest */
    const unsigned char *text;
    size_t length;
};

/* Each ends with a kind of NULL. */

/* What `mortise new` writes: kinds "tool" and "hook", those of plugin-sdk/example.  In them, also in
 * their paths, your-tool or your-hook stands for the plugin's name, and your_tool or your_hook for
 * what it is called in C. */
extern const struct embedded_file template_files[];
/* What `mortise completion` prints, one file for each kind of shell (host/completion). */
extern const struct embedded_file completion_files[];

#endif
