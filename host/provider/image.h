/* image - what the first bytes of an image say: providers refuse a whole request for one whose
 * kind is not what was announced, or that is too large. */
#ifndef PROVIDER_IMAGE_H
#define PROVIDER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
    const char *mime_type; /* static: what it really is */
    uint32_t width, height;
};

/* False: it is no JPEG, PNG, GIF or WebP, or it breaks off before its size. */
bool image_look(struct image *image, const void *data, size_t length);

#endif
