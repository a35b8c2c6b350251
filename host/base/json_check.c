#include "base/json_check.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

enum { MAX_DEPTH = 2048 };

struct scan {
    const char *at;
    const char *end;
    unsigned depth;
};

static bool scan_value(struct scan *scan);

static int peek(const struct scan *scan)
{
    return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

static bool take(struct scan *scan, char byte)
{
    if (peek(scan) != (unsigned char)byte)
        return false;
    scan->at++;
    return true;
}

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->end && strchr(" \t\r\n", *scan->at) && *scan->at)
        scan->at++;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static bool scan_digits(struct scan *scan)
{
    const char *start = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > start;
}

static bool scan_number(struct scan *scan)
{
    take(scan, '-');
    if (!take(scan, '0') && !scan_digits(scan))
        return false;
    if (take(scan, '.') && !scan_digits(scan))
        return false;
    if (!take(scan, 'e') && !take(scan, 'E'))
        return true;
    if (!take(scan, '+'))
        take(scan, '-');
    return scan_digits(scan);
}

/* The four digits of \uXXXX; -1: they are none. */
static int scan_unit(struct scan *scan)
{
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = peek(scan);
        if (digit < 0 || !isxdigit(digit))
            return -1;
        unit = unit * 16 + (digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
        scan->at++;
    }
    return unit;
}

static bool scan_escape(struct scan *scan)
{
    int letter = peek(scan);
    if (letter <= 0)
        return false;
    scan->at++;
    if (letter != 'u')
        return strchr("\"\\/bfnrt", letter) != NULL;
    int unit = scan_unit(scan);
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit >= 0;
    if (unit > 0xDBFF || !scan_word(scan, "\\u"))
        return false;
    unit = scan_unit(scan);
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

static bool scan_string(struct scan *scan)
{
    if (!take(scan, '"'))
        return false;
    while (scan->at < scan->end) {
        unsigned char byte = (unsigned char)*scan->at++;
        if (byte == '"')
            return true;
        if (byte < 0x20 || (byte == '\\' && !scan_escape(scan)))
            return false;
    }
    return false;
}

static bool scan_member(struct scan *scan)
{
    skip_space(scan);
    if (!scan_string(scan))
        return false;
    skip_space(scan);
    return take(scan, ':') && scan_value(scan);
}

/* Behind the opening bracket: elements with commas between them, and the closing one. */
static bool scan_list(struct scan *scan, bool (*element)(struct scan *scan), char close)
{
    bool good = ++scan->depth <= MAX_DEPTH;
    skip_space(scan);
    if (good && !take(scan, close)) {
        do {
            good = element(scan);
        } while (good && take(scan, ','));
        good = good && take(scan, close);
    }
    scan->depth--;
    return good;
}

static bool scan_one(struct scan *scan)
{
    switch (peek(scan)) {
    case '{':
        scan->at++;
        return scan_list(scan, scan_member, '}');
    case '[':
        scan->at++;
        return scan_list(scan, scan_value, ']');
    case '"':
        return scan_string(scan);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

static bool scan_value(struct scan *scan)
{
    skip_space(scan);
    bool good = scan_one(scan);
    skip_space(scan);
    return good;
}

bool json_is_valid(const char *data, size_t length)
{
    struct scan scan = {data, data + length, 0};
    return data && utf8_valid(data, length) == length && scan_value(&scan) && scan.at == scan.end;
}
