/* format_net - the formats of names and addresses on a network; see format.h. */
#ifndef SCHEMA_FORMAT_NET_H
#define SCHEMA_FORMAT_NET_H

#include <stdbool.h>
#include <stddef.h>

bool format_is_ipv4(const char *text, size_t length);
bool format_is_ipv6(const char *text, size_t length);
bool format_is_hostname(const char *text, size_t length);
bool format_is_email(const char *text, size_t length);
bool format_is_uri(const char *text, size_t length);

#endif
