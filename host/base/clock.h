/* clock - monotonic time, and the date.  Thread-safe. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void); /* monotonic */
int64_t clock_ms(void); /* monotonic */
int64_t clock_date_ms(void); /* since 1970 */

#endif
