#include "base/json_write.h"

#include <math.h>

void json_put_comma(struct text *out)
{
    char last = out->length ? out->data[out->length - 1] : '[';
    if (last != '{' && last != '[')
        text_putc(out, ',');
}

void json_put_key(struct text *out, const char *key)
{
    json_put_comma(out);
    text_putc(out, '"');
    text_puts(out, key);
    text_append(out, "\":", 2);
}

void json_put_text(struct text *out, const char *key, const char *data, size_t length)
{
    json_put_key(out, key);
    text_json_string(out, data, length);
}

void json_put_string(struct text *out, const char *key, const char *string)
{
    if (string) {
        json_put_text(out, key, string, strlen(string));
    } else {
        json_put_key(out, key);
        text_puts(out, "null");
    }
}

void json_put_boolean(struct text *out, const char *key, bool value)
{
    json_put_key(out, key);
    text_puts(out, value ? "true" : "false");
}

static void put_digits(struct text *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    text_append(out, digits + at, sizeof(digits) - at);
}

void json_put_integer(struct text *out, const char *key, int64_t value)
{
    json_put_key(out, key);
    if (value < 0)
        text_putc(out, '-');
    put_digits(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* A tool may have set a locale: then the decimal point is a comma.  JSON has no infinity. */
void json_put_number(struct text *out, const char *key, double value)
{
    json_put_key(out, key);
    size_t start = out->length;
    text_printf(out, "%.15g", isfinite(value) ? value : 0.0);
    char *comma = out->failed ? NULL : strchr(out->data + start, ',');
    if (comma)
        *comma = '.';
}
