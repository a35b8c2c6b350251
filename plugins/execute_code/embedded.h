/* embedded - the scripts that are in the plugin, put there by cmake/embed.cmake. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *kind; /* the folder … */
    const char *path; /* … and the name */
    const unsigned char *text; /* with a NUL behind it */
    size_t length;
};

extern const struct embedded_file embedded_files[];

/* Of one that is there. */
const char *embedded_text(const char *kind, const char *path);

#endif
