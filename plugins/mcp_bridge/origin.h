/*
 * origin - what a URL says of the server it leads to: where it is, and whether another URL leads to
 * the same one.
 */
#ifndef ORIGIN_H
#define ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

enum { ORIGIN_URL_BYTES = 4096 };

/* "example.com:8080" for messages: never the name and password that may stand before it. */
void origin_host(const char *url, char *out, size_t size);
bool origin_is_https(const char *url);
/* Its host is this machine, whatever a name server says. */
bool origin_is_loopback(const char *url);
/* Scheme, host and port are the same. */
bool origin_is_same(const char *a, const char *b);
/* What the Location of an answer from `base` leads to.  False: nowhere, or it is too long. */
bool origin_resolve(const char *base, const char *location, char *out, size_t size);

#endif
