#include "link.h"

#include <string.h>

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'F') ||
           (byte >= 'a' && byte <= 'f');
}

/* Where the host's name is over; brackets within it are those of an IPv6 address. */
static const char *behind_host(const char *href)
{
    const char *slashes = strstr(href, "//");
    if (!slashes || (slashes != href && slashes[-1] != ':'))
        return href;
    return slashes + 2 + strcspn(slashes + 2, "/?#");
}

static bool is_plain(const char *at, const char *behind)
{
    unsigned char byte = (unsigned char)*at;
    if (byte == '%')
        return is_hex(at[1]) && is_hex(at[2]);
    if (byte == '[' || byte == ']')
        return at < behind;
    return byte > ' ' && byte < 0x7f && !strchr("\"<>\\^`{|}", byte);
}

bool link_clean(const char *href, char *out, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char space[] = " \t\r\n\f";
    href += strspn(href, space);
    const char *end = href + strlen(href), *behind = behind_host(href);
    size_t used = 0;
    while (end > href && strchr(space, end[-1]))
        end--;
    for (; href < end; href++) {
        if (used + 4 > size)
            return false;
        unsigned char byte = (unsigned char)*href;
        if (is_plain(href, behind)) {
            out[used++] = *href;
        } else if (!strchr("\t\r\n", byte)) {
            out[used++] = '%';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 15];
        }
    }
    out[used] = '\0';
    return true;
}
