#include "base/part.h"

void part_size(struct text *out, size_t bytes)
{
    if (bytes < 1000)
        text_printf(out, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
    else if (bytes < 999950) /* more is rounded to 1.0 MB */
        text_printf(out, "%.1f kB", (double)bytes / 1e3);
    else
        text_printf(out, "%.1f MB", (double)bytes / 1e6);
}

void part_describe(struct text *out, const char *mime_type, const char *name, size_t bytes,
                   const char *uri)
{
    text_puts(out, mime_type);
    if (!uri) {
        text_puts(out, ", ");
        part_size(out, bytes);
    }
    if (name)
        text_printf(out, ", '%s'", name);
    if (uri)
        text_printf(out, ", %s", uri);
}
