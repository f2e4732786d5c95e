/* transfer.h: all of the bytes through a descriptor, however many calls and interrupts that takes. */
#ifndef BASE_TRANSFER_H
#define BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

/* Return false on an error (errno tells it) and, for reading, when the end comes first. */
bool read_all(int fd, char *bytes, size_t length);
bool write_all(int fd, const char *bytes, size_t length);

/* How a transfer with a deadline ended. */
enum transfer_end {
  TRANSFER_DONE,
  TRANSFER_BROKEN, /* the other side is gone, or the descriptor has an error */
  TRANSFER_LATE,
};

/* The same until a deadline, for a process that may be dead or hang.
 *   until_ms  by clock_ms()
 * socket_write_until is for sockets: it waits for nothing else than the socket, and a socket that the other side has closed raises
 * no signal. */
enum transfer_end read_until(int fd, char *bytes, size_t length, double until_ms);
enum transfer_end socket_write_until(int socket, const char *bytes, size_t length, double until_ms);

/* Wait until a descriptor is ready for POLLIN or POLLOUT, or has an error. Returns false when the time is over. */
bool ready_until(int fd, short events, double until_ms);

#endif
