/* process.h: other programs: started, listened to, ended. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fail.h"
#include "base/text.h"

/* Which of our descriptors becomes which of the program's. */
struct process_descriptor {
  int ours, theirs;
};

/* Start a program with no descriptors but those listed; 0, 1 and 2 are /dev/null where they are not. It gets a process group
 * of its own, so that Ctrl-C does not reach it.
 *   arguments    its path or, to be looked for on PATH, its name; then what follows; NULL at the end
 *   descriptors  `ours` must be 10 or higher, see process_high_descriptor
 *   pid          receives its process, to be ended with process_wait or process_kill
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where there is no such program; HALOTUNE_IO. Threads: any number at once. */
halotune_status process_start(const char *const *arguments, const struct process_descriptor *descriptors, int count,
                              pid_t *pid);

/* Move a descriptor to 10 or higher, close-on-exec, so that it can be passed to process_start. Returns the new one, or -1
 * with errno; the old one is closed in either case. -1 stays -1. */
int process_high_descriptor(int descriptor);

/* Wait for the end of a process. Returns its wait status (see waitpid). */
int process_wait(pid_t pid);

/* Kill a process, and all of its group where it leads one, and wait for its end. Returns its wait status. */
int process_kill(pid_t pid);

/* Write how a process ended, behind "its process ": "was killed by signal 11 (Segmentation fault)".
 *   wait_status  see waitpid */
void process_tell_end(int wait_status, char *text, size_t bytes);

/* A shell that waits for the end of this program. */
struct process_guard {
  pid_t pid;    /* of the shell, and of its process group */
  int lifeline; /* our end of a pipe: the system closes it when we end, also when we are killed */
};

/* Have the shell do something at this program's end, however it ends.
 *   script    what it does
 *   argument  its $1
 *   out       untouched on failure
 * Returns HALOTUNE_OK; else as process_start. */
halotune_status process_guard_start(const char *script, const char *argument, struct process_guard *out);

/* Have it done now, and wait for it. */
void process_guard_end(struct process_guard *guard);

struct process_result {
  bool timed_out;  /* it was killed */
  int wait_status; /* see waitpid */
};

/* Run a program to its end. If this program ends before it, however it does, it is killed, with all of its group.
 *   input       what it reads from stdin
 *   timeout_ms  wall clock; then it is killed, with all of its group
 *   output      what it wrote to stdout and stderr is appended
 * Returns HALOTUNE_OK also for a program that failed; else as process_start, or HALOTUNE_MEMORY. */
halotune_status process_run(const char *const *arguments, const struct text *input, int timeout_ms, struct text *output,
                            struct process_result *out);

#endif
