/* clock - monotonic time; the wall clock is for people only.  Thread-safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic */
int64_t clock_ms(void); /* monotonic */
/* UTC as "2026-01-31T12:34:56.789Z": 24 bytes and a NUL. */
void clock_utc(char out[25]);

#endif
