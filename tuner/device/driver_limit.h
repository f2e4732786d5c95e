/* driver_limit.h: a limit for calls of NVIDIA's driver and of NVML in this process. Nothing can interrupt such a call:
 * the program ends if one does not return. */
#ifndef DEVICE_DRIVER_LIMIT_H
#define DEVICE_DRIVER_LIMIT_H

enum { DRIVER_LIMIT_MS = 60000 };

/* The exit code: NO_GPU of tuner/cli/options/command.h. */
enum { DRIVER_LIMIT_EXIT = 3 };

/* The limit is counted in so many parts. A part in which the process was stopped or the machine slept counts once,
 * however long it took. */
enum { DRIVER_LIMIT_PARTS = 12 };

/* These two functions stand around calls that may never return. After DRIVER_LIMIT_MS the program says so on standard
 * error and ends, and its workers end with it. Stored results stay. In a nested section the limit begins anew, with the
 * inner limit and sentence, which then hold until the outer section ends. Signals: SIGALRM is this file's; calls that
 * it interrupts are restarted where the system can do so. Threads: any, but one section at a time. */
void driver_limit_begin(void);
void driver_limit_end(void);

/* Like driver_limit_begin, with another limit and sentence.
 *   limit_ms  rounded to DRIVER_LIMIT_PARTS parts of whole milliseconds
 *   sentence  printed on standard error, with its line end; lives until driver_limit_end */
void driver_limit_begin_for(int limit_ms, const char *sentence);

#endif
