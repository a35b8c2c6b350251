/* clock - monotonic time.  Thread-safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic */
int64_t clock_ms(void); /* monotonic */

#endif
