/* process.h: starts other programs, reads their output, and ends them. */
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

/* Start a program that inherits the listed descriptors alone; each of 0, 1 and 2 that is not listed is /dev/null. The program gets a
 * process group of its own, so that Ctrl-C does not reach it.
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

/* Start a shell that runs a script when this program ends, even when it is killed.
 *   script    shell commands
 *   argument  its $1
 *   out       untouched on failure
 * Returns HALOTUNE_OK; else as process_start. */
halotune_status process_guard_start(const char *script, const char *argument, struct process_guard *out);

/* Run the script now, and wait for its end. */
void process_guard_end(struct process_guard *guard);

struct process_result {
  bool timed_out;  /* it was killed */
  int wait_status; /* see waitpid */
};

/* Run a program to its end. It is killed, with all of its group, when this program ends first.
 *   input       the program's stdin
 *   timeout_ms  wall clock; the program and all of its group are killed then
 *   output      the program's stdout and stderr are appended
 * Returns HALOTUNE_OK even if the program failed; else as process_start, or HALOTUNE_MEMORY. */
halotune_status process_run(const char *const *arguments, const struct text *input, int timeout_ms, struct text *output,
                            struct process_result *out);

#endif
