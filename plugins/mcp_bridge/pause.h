/*
 * pause - how long to wait before something is tried again: as a server asks, or longer each time.
 */
#ifndef PAUSE_H
#define PAUSE_H

#include <stdint.h>

enum { PAUSE_MOST_MS = 60000 }; /* before one attempt, and for all attempts of a request together */

int64_t pause_now_ms(void); /* of a clock that only goes forward */
/* The value of a header Retry-After: seconds, perhaps with a fraction, or a date (one that is over:
 * 0).  -1: neither. */
int64_t pause_read(const char *value);
/* The value of retry-after-ms. */
int64_t pause_read_ms(const char *value);
/* Anything up to a limit that doubles with every attempt, from 1 on, so that those who failed
 * together do not come back together. */
int64_t pause_before(unsigned attempt);

#endif
