/* Where a text can be cut. */
#include "internal.h"

static bool is_inside(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t mortise_cut(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t start = length;
    while (start > 0 && length - start < 3 && is_inside(bytes[start - 1]))
        start--;
    if (start == 0 || bytes[start - 1] < 0xc0)
        return length;
    unsigned char first = bytes[start - 1];
    size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    return length - (start - 1) < wanted ? start - 1 : length;
}
