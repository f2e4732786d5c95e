/* process.h: starts other programs, reads their output, and ends them. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fail.h"
#include "base/system/ending.h"
#include "base/text/text.h"

/* A descriptor of this program, and the number that it gets in the started program. */
struct process_descriptor {
  int ours, theirs;
};

/* Start a program that inherits only the listed descriptors. If 0, 1 or 2 is not listed, it is /dev/null. The program
 * gets its own process group and blocks SIGINT, so that Ctrl-C does not end it.
 *   arguments    its path, or its name to be searched on PATH; then its arguments; NULL at the end
 *   descriptors  `ours` must be 10 or higher, see process_high_descriptor
 *   pid          receives its process, to be ended with process_wait_until or process_kill
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such program; HALOTUNE_IO. Threads: any number at once. */
halotune_status process_start(const char *const *arguments, const struct process_descriptor *descriptors, int count,
                              pid_t *pid);

/* Move a descriptor to 10 or higher, close-on-exec, so that it can be passed to process_start. Returns the new one, or
 * -1 with errno. The old one is closed in both cases. -1 gives -1. */
int process_high_descriptor(int descriptor);

/* Make a file in memory for a program's standard input: it has no name by which another user could reach it.
 * Returns a descriptor of 10 or higher, close-on-exec, at the file's beginning; -1 with errno. */
int process_input(const char *bytes, size_t length);

/* Whether a process has ended. If so, its end was read here, and nobody need wait for it. `wait_status` receives how it
 * ended (see waitpid), or exit code 255 where the system does not tell it, as in a program that ignores SIGCHLD. */
bool process_has_ended(pid_t pid, int *wait_status);

/* Wait for the end of a process that is about to end, and kill it at `until_ms` of clock_ms().
 * Returns its wait status; `is_late`, which may be NULL, receives whether it was killed. */
int process_wait_until(pid_t pid, double until_ms, bool *is_late);

/* Kill a process, and its whole group if it leads one, and wait for its end. The system can delay the end of a process
 * that was killed: one that is in a call of a driver that hangs does not end before this call does. After
 * PROCESS_KILLED_MS, or a limit of the caller's, such a process is left behind.
 * Returns its wait status; PROCESS_NOT_ENDED, which is none, if it has not ended. */
enum { PROCESS_KILLED_MS = 30000, PROCESS_NOT_ENDED = -1 };
int process_kill(pid_t pid);
int process_kill_within(pid_t pid, int limit_ms);

/* In a forked process: let the system kill it when the thread ends that forked it, also if that has ended already.
 *   parent  the process that forked it */
void process_die_with(pid_t parent);

/* Write how a process ended, as the end of a sentence that begins with "its process ": "was killed by signal 11
 * (Segmentation fault)".
 *   wait_status  see waitpid; or PROCESS_NOT_ENDED */
void process_tell_end(int wait_status, char *text, size_t bytes);

/* A shell that waits for the end of this program. */
struct process_guard {
  pid_t pid;    /* of the shell, and of its process group */
  int lifeline; /* our end of a pipe; the system closes it when this program ends, even if it is killed */
};

/* Start a shell that runs a script when this program ends, even if it is killed.
 *   script    shell commands
 *   argument  $1 of the script
 *   out       unchanged on failure
 * Returns HALOTUNE_OK, or the errors of process_start. */
halotune_status process_guard_start(const char *script, const char *argument, struct process_guard *out);

/* Run the script now, and wait for its end; after the limit the shell is killed. */
void process_guard_end(struct process_guard *guard, int limit_ms);

/* Start a program like process_start, and a guard: if this program ends first, even if it is killed, the other one and
 * all that it has started in its group are killed.
 *   variable  "NAME=value": replaces this variable in the program's environment; NULL: nothing
 *   guard     to be ended with process_group_end, after the program's end or before it
 *   pid       the program, to be waited for with process_wait_until or process_has_ended */
halotune_status process_start_guarded(const char *const *arguments, const char *variable,
                                      const struct process_descriptor *descriptors, int count,
                                      struct process_guard *guard, pid_t *pid);

/* Kill everything in the guard's group, and the guard. Its program must be waited for as well. */
void process_group_end(struct process_guard *guard);

struct process_result {
  bool timed_out;  /* the program was killed after its time */
  bool was_ended;  /* the program was killed because the ending came */
  int wait_status; /* see waitpid */
};

/* Run a program to its end. If this program ends first, the other one and its whole group are killed.
 *   variable    "NAME=value": replaces this variable in the program's environment; NULL: nothing
 *   input       the program's stdin
 *   inherited   a descriptor, 10 or higher, that the program gets under the same number; -1: none
 *   timeout_ms  wall-clock time after which the program and its whole group are killed
 *   ending      killed in the same way once it has come, a twentieth of a second later at most; NULL: nobody ends it
 *   output      the program's stdout and stderr are appended
 * Returns HALOTUNE_OK even if the program failed; else the errors of process_start, or HALOTUNE_MEMORY. */
halotune_status process_run(const char *const *arguments, const char *variable, const struct text *input, int inherited,
                            int timeout_ms, const struct ending *ending, struct text *output,
                            struct process_result *out);

#endif
