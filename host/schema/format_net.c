#include "schema/format_net.h"

#include <string.h>

#include "base/hex.h"

#define MAX_HOSTNAME ((size_t)253)
#define MAX_LABEL    ((size_t)63)
#define MAX_LOCAL    ((size_t)64)
#define MAX_EMAIL    ((size_t)254)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return hex_value(c) >= 0;
}

static bool is_among(char c, const char *set)
{
    return c && strchr(set, c);
}

/* ---- addresses ---- */

bool format_is_ipv4(const char *text, size_t length)
{
    size_t at = 0;
    for (int octet = 0; octet < 4; octet++) {
        if (octet && (at >= length || text[at++] != '.'))
            return false;
        size_t first = at;
        int value = 0;
        while (at < length && at - first < 3 && is_digit(text[at]))
            value = value * 10 + (text[at++] - '0');
        if (at == first || value > 255 || (text[first] == '0' && at - first > 1))
            return false;
    }
    return at == length;
}

/* The hexadecimal digits of one group, at most four; 0: none. */
static size_t group_length(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && digits < 4 && is_hex(text[digits]))
        digits++;
    return digits;
}

bool format_is_ipv6(const char *text, size_t length)
{
    int groups = 0;
    bool gap = length >= 2 && text[0] == ':' && text[1] == ':';
    size_t at = gap ? 2 : 0;
    while (at < length && groups < 8) {
        size_t digits = group_length(text + at, length - at);
        if (digits && at + digits < length && text[at + digits] == '.') {
            if (!format_is_ipv4(text + at, length - at))
                return false;
            groups += 2;
            at = length;
            break;
        }
        if (!digits)
            return false;
        groups++;
        at += digits;
        if (at == length)
            break;
        if (text[at++] != ':' || at == length)
            return false;
        if (text[at] == ':') {
            if (gap)
                return false;
            gap = true;
            at++;
        }
    }
    return at == length && (gap ? groups < 8 : groups == 8);
}

/* ---- names ---- */

static bool is_label(const char *text, size_t length)
{
    if (!length || length > MAX_LABEL || text[0] == '-' || text[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_letter(text[i]) && !is_digit(text[i]) && text[i] != '-')
            return false;
    return true;
}

bool format_is_hostname(const char *text, size_t length)
{
    if (length > MAX_HOSTNAME)
        return false;
    for (;;) {
        const char *dot = length ? memchr(text, '.', length) : NULL;
        size_t label = dot ? (size_t)(dot - text) : length;
        if (!is_label(text, label))
            return false;
        if (!dot)
            return true;
        text += label + 1;
        length -= label + 1;
    }
}

/* ---- e-mail ---- */

static bool is_atom_character(char c)
{
    return is_letter(c) || is_digit(c) || is_among(c, "!#$%&'*+-/=?^_`{|}~");
}

/* The bytes up to the "@" of a local part; 0: it is none. */
static size_t local_length(const char *text, size_t length)
{
    size_t at = 0;
    if (length && text[0] == '"') {
        for (at = 1; at < length && text[at] != '"'; at++) {
            if (text[at] == '\\')
                at++;
            if (at >= length || text[at] < ' ' || text[at] > '~')
                return 0;
        }
        return at < length ? at + 1 : 0;
    }
    while (at < length && (is_atom_character(text[at]) || text[at] == '.')) {
        if (text[at] == '.' && (at == 0 || text[at - 1] == '.'))
            return 0;
        at++;
    }
    return at && text[at - 1] != '.' ? at : 0;
}

static bool is_address_literal(const char *text, size_t length)
{
    static const char tag[] = "IPv6:";
    if (length < 2 || text[0] != '[' || text[length - 1] != ']')
        return false;
    text++;
    length -= 2;
    if (length > strlen(tag) && !memcmp(text, tag, strlen(tag)))
        return format_is_ipv6(text + strlen(tag), length - strlen(tag));
    return format_is_ipv4(text, length);
}

bool format_is_email(const char *text, size_t length)
{
    size_t local = length <= MAX_EMAIL ? local_length(text, length) : 0;
    if (!local || local > MAX_LOCAL || local >= length || text[local] != '@')
        return false;
    const char *domain = text + local + 1;
    size_t left = length - local - 1;
    return format_is_hostname(domain, left) || is_address_literal(domain, left);
}

/* ---- URIs ---- */

/* Whether all is unreserved, a sub-delimiter, percent-encoded, or among `more`. */
static bool is_made_of(const char *text, size_t length, const char *more)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%') {
            if (length - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))
                return false;
            i += 2;
        } else if (!is_letter(text[i]) && !is_digit(text[i]) &&
                   !is_among(text[i], "-._~!$&'()*+,;=") && !is_among(text[i], more)) {
            return false;
        }
    }
    return true;
}

static size_t scheme_length(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length &&
           (is_letter(text[at]) || (at && (is_digit(text[at]) || is_among(text[at], "+-.")))))
        at++;
    return at < length && text[at] == ':' ? at : 0;
}

/* vF.anything: an address of a kind that is still to come. */
static bool is_future_address(const char *text, size_t length)
{
    size_t at = 1;
    while (at < length && is_hex(text[at]))
        at++;
    return length && (text[0] == 'v' || text[0] == 'V') && at > 1 && at + 1 < length &&
           text[at] == '.' && !memchr(text + at, '%', length - at) &&
           is_made_of(text + at + 1, length - at - 1, ":");
}

/* host[:port] */
static bool is_host_and_port(const char *text, size_t length)
{
    size_t host = 0;
    if (length && text[0] == '[') {
        const char *end = memchr(text, ']', length);
        size_t inner = end ? (size_t)(end - text) - 1 : 0;
        if (!end || !(format_is_ipv6(text + 1, inner) || is_future_address(text + 1, inner)))
            return false;
        host = inner + 2;
    } else {
        const char *colon = length ? memchr(text, ':', length) : NULL;
        host = colon ? (size_t)(colon - text) : length;
        if (!is_made_of(text, host, ""))
            return false;
    }
    if (host < length && text[host++] != ':')
        return false;
    while (host < length && is_digit(text[host]))
        host++;
    return host == length;
}

static bool is_authority(const char *text, size_t length)
{
    const char *at = length ? memchr(text, '@', length) : NULL;
    if (!at)
        return is_host_and_port(text, length);
    size_t user = (size_t)(at - text);
    return is_made_of(text, user, ":") && is_host_and_port(at + 1, length - user - 1);
}

/* The bytes before the first of `ends`, or all. */
static size_t span_to(const char *text, size_t length, const char *ends)
{
    size_t at = 0;
    while (at < length && !is_among(text[at], ends))
        at++;
    return at;
}

bool format_is_uri(const char *text, size_t length)
{
    size_t scheme = scheme_length(text, length);
    if (!scheme)
        return false;
    text += scheme + 1;
    length -= scheme + 1;
    if (length >= 2 && text[0] == '/' && text[1] == '/') {
        size_t authority = span_to(text + 2, length - 2, "/?#");
        if (!is_authority(text + 2, authority))
            return false;
        text += 2 + authority;
        length -= 2 + authority;
    }
    size_t path = span_to(text, length, "?#");
    if (!is_made_of(text, path, ":@/"))
        return false;
    const char *hash = path < length ? memchr(text + path, '#', length - path) : NULL;
    size_t fragment = hash ? (size_t)(hash - text) + 1 : length;
    size_t query = path < length && text[path] == '?' ? path + 1 : path;
    size_t query_end = hash ? fragment - 1 : length;
    return is_made_of(text + query, query_end - query, ":@/?") &&
           is_made_of(text + fragment, length - fragment, ":@/?");
}
