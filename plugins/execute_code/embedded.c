#include "embedded.h"

#include <string.h>

const char *embedded_text(const char *kind, const char *path)
{
    const struct embedded_file *file = embedded_files;
    while (strcmp(file->kind, kind) != 0 || strcmp(file->path, path) != 0)
        file++;
    return (const char *)file->text;
}
