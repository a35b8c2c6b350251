/* part - how a file or an image is named to people and models, the same everywhere. */
#ifndef BASE_PART_H
#define BASE_PART_H

#include <stddef.h>

#include "base/text.h"

/* Appends "1 byte", "68 bytes", "3.1 kB", "10.5 MB". */
void part_size(struct text *out, size_t bytes);
/* Appends "image/png, 12.3 kB, 'plot.png'", or where it is instead of its size. */
void part_describe(struct text *out, const char *mime_type, const char *name, size_t bytes,
                   const char *uri);

#endif
