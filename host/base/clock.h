/* clock - monotonic time, and the date.  Thread-safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_ns(void); /* monotonic */
int64_t clock_ms(void); /* monotonic */
int64_t clock_date_ms(void); /* since 1970 */

/* The moment that is `ms` or `us` (0 or more) away, for pthread_cond_clockwait() with
 * CLOCK_MONOTONIC. */
struct timespec clock_after_ms(int64_t ms);
struct timespec clock_after_us(int64_t us);

#endif
