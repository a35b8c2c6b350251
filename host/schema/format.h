/*
 * format - whether a string is a date, an address, a URI, … as JSON Schema's "format" names them.
 *
 * Only for those who ask: in a schema the word is an annotation, as the standard has it, and
 * schema.h never refuses for it.  Hand-written, one pass, no allocation.  Thread-safe.
 */
#ifndef SCHEMA_FORMAT_H
#define SCHEMA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* "date-time", "date", "time", "email", "uri", "uuid", "ipv4", "ipv6" and "hostname". */
bool format_is_known(const char *name);

/* Whether the text is of this format; of one that is not known everything is.
 *   date-time, date, time   RFC 3339: with an offset, days of the month, leap years and seconds
 *   email                   RFC 5321's mailbox; ASCII
 *   uri                     RFC 3986, with a scheme
 *   uuid                    RFC 4122, 8-4-4-4-12 hexadecimal digits of any version
 *   ipv4, ipv6              four decimal octets; RFC 4291 without zone and brackets
 *   hostname                RFC 1123: the letters of a label that begins with "xn--" are checked,
 *                           not what they stand for */
bool format_matches(const char *name, const char *text, size_t length);

#endif
