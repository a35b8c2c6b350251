#include "provider/image.h"

#include <string.h>

struct bytes_in {
    const unsigned char *data;
    size_t length;
};

static uint32_t big(const unsigned char *at, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value = value << 8 | at[i];
    return value;
}

static uint32_t little(const unsigned char *at, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = count; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static bool starts_with(const struct bytes_in *in, size_t at, const char *start, size_t length)
{
    return in->length >= at + length && memcmp(in->data + at, start, length) == 0;
}

static bool look_png(struct image *image, const struct bytes_in *in)
{
    if (!starts_with(in, 0, "\x89PNG\r\n\x1A\n", 8) || in->length < 24)
        return false;
    *image = (struct image){"image/png", big(in->data + 16, 4), big(in->data + 20, 4)};
    return true;
}

static bool look_gif(struct image *image, const struct bytes_in *in)
{
    if ((!starts_with(in, 0, "GIF87a", 6) && !starts_with(in, 0, "GIF89a", 6)) || in->length < 10)
        return false;
    *image = (struct image){"image/gif", little(in->data + 6, 2), little(in->data + 8, 2)};
    return true;
}

/* Three forms: lossy, lossless, and extended. */
static bool look_webp(struct image *image, const struct bytes_in *in)
{
    const unsigned char *data = in->data;
    if (!starts_with(in, 0, "RIFF", 4) || !starts_with(in, 8, "WEBP", 4) || in->length < 30)
        return false;
    *image = (struct image){.mime_type = "image/webp"};
    if (starts_with(in, 12, "VP8 ", 4)) {
        image->width = little(data + 26, 2) & 0x3FFF;
        image->height = little(data + 28, 2) & 0x3FFF;
    } else if (starts_with(in, 12, "VP8L", 4)) {
        uint32_t bits = little(data + 21, 4);
        image->width = (bits & 0x3FFF) + 1;
        image->height = (bits >> 14 & 0x3FFF) + 1;
    } else if (starts_with(in, 12, "VP8X", 4)) {
        image->width = little(data + 24, 3) + 1;
        image->height = little(data + 27, 3) + 1;
    }
    return image->width > 0;
}

/* The segments that say how large it is: all "start of frame" but three that share their range. */
static bool is_frame(unsigned char marker)
{
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool look_jpeg(struct image *image, const struct bytes_in *in)
{
    const unsigned char *data = in->data;
    if (!starts_with(in, 0, "\xFF\xD8\xFF", 3))
        return false;
    for (size_t at = 2; at + 9 <= in->length;) {
        if (data[at] != 0xFF)
            return false;
        unsigned char marker = data[at + 1];
        if (is_frame(marker)) {
            *image = (struct image){"image/jpeg", big(data + at + 7, 2), big(data + at + 5, 2)};
            return true;
        }
        if (marker == 0xFF) /* a filler */
            at++;
        else if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8))
            at += 2;
        else
            at += 2 + big(data + at + 2, 2);
    }
    return false;
}

bool image_look(struct image *image, const void *data, size_t length)
{
    const struct bytes_in in = {data, length};
    return (look_png(image, &in) || look_gif(image, &in) || look_webp(image, &in) ||
            look_jpeg(image, &in)) &&
           image->width && image->height;
}
