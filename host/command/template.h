/*
 * template - the files that `mortise new` writes.
 *
 * They are those of plugin-sdk/example, put into the binary by cmake/embed.cmake.  In them, also
 * in their paths, your-tool or your-hook stands for the plugin's name, and your_tool or your_hook
 * for what it is called in C.
 */
#ifndef COMMAND_TEMPLATE_H
#define COMMAND_TEMPLATE_H

#include <stddef.h>

struct template_file {
    const char *kind; /* "tool" or "hook" */
    const char *path; /* in the plugin's folder, which has no others in it */
    const unsigned char *text;
    size_t length;
};

/* Ends with a kind of NULL. */
extern const struct template_file template_files[];

#endif
