/* wait_in_parts.h: waits for a descriptor. A time in which the process was suspended hardly counts. */
#ifndef BASE_WAIT_IN_PARTS_H
#define BASE_WAIT_IN_PARTS_H

#include <stdbool.h>

/* Wait until a descriptor is ready, or has an error, which the next call on it reports. The wait is made of parts. If
 * the process is suspended during a part, that part counts once.
 *   events      of poll
 *   left_ms     the limit, less the time that was waited afterwards; 0: look once
 *   part_ms     the longest part
 *   is_stopped  asked after each part, and ends the wait; NULL: nothing does
 * Returns false when the time is over, or when is_stopped() says so. */
bool wait_in_parts(int fd, short events, double *left_ms, double part_ms, bool (*is_stopped)(void));

#endif
