/* hex - the digits of hexadecimal numbers, whatever the locale is. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

/* 0 to 15; -1: it is no digit. */
int hex_value(char c);
/* The byte that two digits say, or -1.  The second one is looked at only behind a digit, so that
 * both may be the end of a string. */
int hex_byte(const char *digits);

#endif
