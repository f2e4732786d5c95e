/* driver_limit.h: a limit for calls of NVIDIA's driver and of NVML in this process. Nothing can interrupt such a call:
 * the program ends if one does not return. */
#ifndef DEVICE_DRIVER_LIMIT_H
#define DEVICE_DRIVER_LIMIT_H

enum { DRIVER_LIMIT_MS = 60000 };

/* The exit code: NO_GPU of tuner/cli/options/command.h. */
enum { DRIVER_LIMIT_EXIT = 3 };

/* Stand around calls that may never return. After DRIVER_LIMIT_MS the program says so on standard error, and ends; what
 * it stored stays. Its workers end with it. Sections of several threads, and one within another, end with the last.
 * Signals: SIGALRM is this file's. */
void driver_limit_begin(void);
void driver_limit_end(void);

/* The same with a limit of its own, for tests. */
void driver_limit_begin_within(int limit_ms);

#endif
