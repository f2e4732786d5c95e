/* tune_program.h: runs `halotune tune` for one problem, at most one at a time on this machine. */
#ifndef LIBRARY_TUNE_TUNE_PROGRAM_H
#define LIBRARY_TUNE_TUNE_PROGRAM_H

#include <stdbool.h>

#include "base/fail.h"

/* A run of the program. Texts belong to the caller. */
struct tune_program {
  const char *program;              /* path or name, see path_of_program */
  const char *const *arguments;     /* of the command `tune`, ended by NULL */
  const char *input;                /* a text for its standard input, a file in memory; NULL: none */
  double budget_s;                  /* the program gets two minutes more before it is killed */
  double wait_ms;                   /* for another process that tunes the same problem */
  double start_ms;                  /* of clock_ms(): `progress` is told the time since */
  halotune_tune_progress *progress; /* may be NULL */
  void *user;
};

/* A file that this process has locked. Start with -1; end with tune_lock_release. */
struct tune_lock {
  int descriptor;
};

/* Wait until no other process tunes what `key` names.
 *   waited  receives whether another process held the lock
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED by the callback; HALOTUNE_IO, also after `wait_ms`; HALOTUNE_MEMORY. Without
 * a cache folder there is no lock, and HALOTUNE_OK is returned. */
halotune_status tune_lock_take(const char *key, const struct tune_program *program, struct tune_lock *out,
                               bool *waited);

/* Try to take the lock of a key without waiting. The lock ends with tune_lock_release, or with the process.
 *   is_shared  several processes may share the lock; a call waits up to a second for processes that only look at it
 * Returns false if another process has it. Where files cannot be locked, there is no lock, and true is returned. */
bool tune_lock_try(const char *key, bool is_shared, struct tune_lock *out);
/* Whether a process has the lock of a key. No file is made. A lock in a folder that others can write does not count,
 * because tune_lock_try takes none there. */
bool tune_lock_is_held(const char *key);
void tune_lock_release(struct tune_lock *lock);

/* Run the program to its end. If this process ends first, the program is killed.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such program, or if it found nothing to tune;
 * HALOTUNE_CANCELLED; HALOTUNE_NO_GPU, HALOTUNE_PARSE, HALOTUNE_DB, HALOTUNE_ARGUMENT or HALOTUNE_IO as its exit code
 * tells; the detail has its last line. */
halotune_status tune_program_run(const struct tune_program *program);

#endif
