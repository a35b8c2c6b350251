#include "schema/pattern_syntax.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hex.h"

/* What \s is besides the spaces of ASCII: the separators, and the byte order mark. */
#define MORE_SPACE "\\p{Z}\xEF\xBB\xBF"

static const struct {
    const char *name, *letter;
} categories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

struct reader {
    const char *data;
    size_t length;
    bool in_class;
};

/* ---- what an escape becomes; each returns the bytes that it took, 0: it is not this one ---- */

static size_t space(const struct reader *reader, struct text *out)
{
    if (reader->length < 2 || (reader->data[1] != 's' && reader->data[1] != 'S'))
        return 0;
    bool negated = reader->data[1] == 'S';
    if (reader->in_class)
        text_puts(out, negated ? "\\S" : "\\s" MORE_SPACE);
    else
        text_puts(out, negated ? "[^\\s" MORE_SPACE "]" : "[\\s" MORE_SPACE "]");
    return 2;
}

static bool drop_prefix(const char **name, size_t *length, const char *prefix)
{
    size_t bytes = strlen(prefix);
    if (*length < bytes || memcmp(*name, prefix, bytes) != 0)
        return false;
    *name += bytes;
    *length -= bytes;
    return true;
}

/* \p{Letter}, \P{gc=Letter} */
static size_t category(const struct reader *reader, struct text *out)
{
    if (reader->length < 4 || (reader->data[1] != 'p' && reader->data[1] != 'P') ||
        reader->data[2] != '{')
        return 0;
    const char *name = reader->data + 3;
    const char *end = memchr(name, '}', reader->length - 3);
    if (!end)
        return 0;
    size_t length = (size_t)(end - name);
    bool named =
        drop_prefix(&name, &length, "General_Category=") || drop_prefix(&name, &length, "gc=");
    const char *letter = NULL;
    for (size_t i = 0; !letter && i < sizeof(categories) / sizeof(categories[0]); i++)
        if (strlen(categories[i].name) == length && !memcmp(categories[i].name, name, length))
            letter = categories[i].letter;
    if (!letter && !named)
        return 0;
    text_append(out, reader->data, 3);
    text_append(out, letter ? letter : name, letter ? strlen(letter) : length);
    text_putc(out, '}');
    return (size_t)(end - reader->data) + 1;
}

/* The value of \uXXXX; 0: it is none. */
static unsigned unit(const char *data, size_t length)
{
    if (length < 6 || data[0] != '\\' || data[1] != 'u')
        return 0;
    int high = hex_byte(data + 2), low = hex_byte(data + 4);
    return high < 0 || low < 0 ? 0 : (unsigned)(high * 256 + low);
}

static size_t surrogates(const struct reader *reader, struct text *out)
{
    unsigned high = unit(reader->data, reader->length);
    if (high < 0xD800 || high > 0xDBFF)
        return 0;
    unsigned low = unit(reader->data + 6, reader->length - 6);
    if (low < 0xDC00 || low > 0xDFFF)
        return 0;
    unsigned point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    text_putc(out, (char)(0xF0 | point >> 18));
    text_putc(out, (char)(0x80 | (point >> 12 & 0x3F)));
    text_putc(out, (char)(0x80 | (point >> 6 & 0x3F)));
    text_putc(out, (char)(0x80 | (point & 0x3F)));
    return 12;
}

static size_t escape(const struct reader *reader, struct text *out)
{
    size_t taken = space(reader, out);
    if (!taken)
        taken = category(reader, out);
    if (!taken)
        taken = surrogates(reader, out);
    if (!taken) {
        taken = reader->length < 2 ? reader->length : 2;
        text_append(out, reader->data, taken);
    }
    return taken;
}

/* One character or escape; returns the bytes that it took. */
static size_t step(struct reader *reader, struct text *out)
{
    char c = reader->data[0];
    if (c == '\\')
        return escape(reader, out);
    if (c == '[' && reader->in_class)
        text_putc(out, '\\');
    if (c == '[')
        reader->in_class = true;
    if (c == ']')
        reader->in_class = false;
    text_putc(out, c);
    return 1;
}

/* Until the translation has `limit` bytes; returns how much of the expression that took. */
static size_t translate(const char *regex, size_t length, struct text *out, size_t limit)
{
    struct reader reader = {.data = regex, .length = length};
    size_t begin = out->length;
    while (reader.length && out->length - begin < limit && !out->failed) {
        size_t taken = step(&reader, out);
        reader.data += taken;
        reader.length -= taken;
    }
    return length - reader.length;
}

void pattern_translate(const char *regex, size_t length, struct text *out)
{
    translate(regex, length, out, SIZE_MAX);
}

size_t pattern_origin(const char *regex, size_t length, size_t offset)
{
    struct text scratch = TEXT_INIT;
    size_t origin = translate(regex, length, &scratch, offset);
    text_release(&scratch);
    return origin;
}
