/* transfer.h: reads and writes all bytes of a transfer, however many calls and interrupts it takes. */
#ifndef BASE_TRANSFER_H
#define BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

/* All return false on an error (see errno). read_all also returns false if the end of the file comes first. On a
 * descriptor that does not block, write_all waits for the reader of a pipe, as long as pipe_limit_ms allows for each
 * piece; then errno is ETIME, or ECANCELED after a stop (base/system/pipe.h).
 *   limit_ms  for each piece, in place of pipe_limit_ms; INFINITY waits for any reader */
bool read_all(int fd, char *bytes, size_t length);
bool write_all(int fd, const char *bytes, size_t length);
bool write_all_within(int fd, const char *bytes, size_t length, double limit_ms);

/* How a transfer with a deadline ended. */
enum transfer_end {
  TRANSFER_DONE,
  TRANSFER_BROKEN, /* the other side is gone, or the descriptor has an error */
  TRANSFER_LATE,
};

/* Like read_all and write_all, with a deadline, for a partner process that may be dead or hang.
 *   until_ms  time of clock_ms()
 * socket_write_until is for sockets. It waits only for the socket, and raises no signal if the other side has closed
 * it. */
enum transfer_end read_until(int fd, char *bytes, size_t length, double until_ms);
enum transfer_end socket_write_until(int socket, const char *bytes, size_t length, double until_ms);

/* Wait until a descriptor is ready for POLLIN or POLLOUT, or has an error. A time in which the process was stopped
 * counts as a twelfth of the wait at most. Returns false when the time is over. */
bool ready_until(int fd, short events, double until_ms);

#endif
