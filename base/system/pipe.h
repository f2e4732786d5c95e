/* pipe.h: pipes that the user names: opened and waited for with a limit, and until the program is asked to stop. */
#ifndef BASE_PIPE_H
#define BASE_PIPE_H

#include <signal.h>
#include <stdbool.h>

#include "base/fail.h"

/* Let waits for pipes end when a flag is not 0. Call it before the program starts threads; NULL removes the flag. */
void pipe_stop_by(const volatile sig_atomic_t *stop);

/* How long a pipe that the user names is waited for while nothing comes through it: 10 minutes, or the seconds in
 * $HALOTUNE_PIPE_TIMEOUT (base/system/limit.h). */
double pipe_limit_ms(void);

/* Open a pipe, or another file that is not regular, for reading or writing (O_RDONLY, O_WRONLY), so that calls on it
 * do not block. A named pipe without a reader is waited for, for pipe_limit_ms.
 * Returns the descriptor; -1 with errno, which is ETIME if no reader came, and ECANCELED after a stop. */
int pipe_open(const char *path, int flags);

/* The same in an open folder. `flags` may contain O_NOFOLLOW. */
int pipe_open_at(int folder, const char *name, int flags);

/* Wait until a descriptor is ready for POLLIN or POLLOUT, or has an error.
 *   left_ms  the limit, may be INFINITY; less the time that was waited afterwards. A time in which the process was
 *            stopped counts as a tenth of a second at most
 * Returns false with errno: ETIME after the limit, ECANCELED after a stop. */
bool pipe_wait(int fd, short events, double *left_ms);

/* Make a failure of errno after one of these calls, or after a write.
 *   silence  what did not happen until the limit, for ETIME: "nobody has read this pipe"
 * Returns HALOTUNE_CANCELLED after a stop, else HALOTUNE_IO. */
halotune_status pipe_fail(const char *path, const char *silence);

#endif
