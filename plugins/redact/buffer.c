#include "buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void buffer_add(struct buffer *buffer, const char *bytes, size_t length)
{
    if (buffer->failed || length == 0)
        return;
    if (buffer->capacity - buffer->length <= length) {
        size_t wanted = buffer->capacity ? buffer->capacity : 256;
        while (wanted - buffer->length <= length && wanted <= SIZE_MAX / 2)
            wanted *= 2;
        char *data = wanted - buffer->length <= length ? NULL : realloc(buffer->data, wanted);
        if (!data) {
            buffer->failed = true;
            return;
        }
        buffer->data = data;
        buffer->capacity = wanted;
    }
    memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}
