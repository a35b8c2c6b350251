/* artifact_name - which names and types an artifact can have. */
#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "service/artifact_folder.h"

#define NAME_RULE                                                                                  \
    "a name is 1 to 200 bytes of UTF-8 without control characters and '/', and does not begin "    \
    "with '.'"
#define TYPE_RULE "a media type is like \"image/png\", and at most 100 bytes long"

_Static_assert(ARTIFACT_NAME_MAX == 200 && ARTIFACT_TYPE_MAX == 100, "as the rules say");

/* C0, DEL and, in UTF-8, C1. */
static bool has_control(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (byte < 0x20 || byte == 0x7f ||
            (byte == 0xC2 && i + 1 < length && (unsigned char)name[i + 1] < 0xA0))
            return true;
    }
    return false;
}

const char *artifact_name_problem(const char *name)
{
    size_t length = name ? strnlen(name, ARTIFACT_NAME_MAX + 1) : 0;
    bool good = length > 0 && length <= ARTIFACT_NAME_MAX && name[0] != '.' &&
                !memchr(name, '/', length) && utf8_valid(name, length) == length &&
                !has_control(name, length);
    return good ? NULL : NAME_RULE;
}

/* Its letters are few enough that the name of a file has room for them. */
const char *artifact_type_problem(const char *mime_type)
{
    size_t length = mime_type ? strnlen(mime_type, ARTIFACT_TYPE_MAX + 1) : 0;
    const char *slash = length ? memchr(mime_type, '/', length) : NULL;
    struct text file = TEXT_INIT;
    bool good = length <= ARTIFACT_TYPE_MAX && slash && slash > mime_type && slash[1];
    for (size_t i = 0; good && i < length; i++)
        good = isprint((unsigned char)mime_type[i]) && (unsigned char)mime_type[i] < 0x80;
    if (good)
        artifact_file_name(&file, UINT32_MAX, mime_type);
    good = good && file.length < 250;
    text_release(&file);
    return good ? NULL : TYPE_RULE;
}

void artifact_make_name(struct text *out, const char *from)
{
    size_t length = strnlen(from, ARTIFACT_NAME_MAX);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)from[i];
        bool plain = byte < 0x80 && (isalnum(byte) || strchr("_-", byte) || (byte == '.' && i > 0));
        text_putc(out, plain ? from[i] : '_');
    }
    if (length == 0)
        text_putc(out, '_');
}
