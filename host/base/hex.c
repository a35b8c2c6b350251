#include "base/hex.h"

int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int hex_byte(const char *digits)
{
    int high = hex_value(digits[0]);
    int low = high < 0 ? -1 : hex_value(digits[1]);
    return low < 0 ? -1 : high * 16 + low;
}
