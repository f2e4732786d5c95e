/* tune_lock.h: lets processes of this user that tune the same thing on this machine wait for each other. */
#ifndef LIBRARY_TUNE_TUNE_LOCK_H
#define LIBRARY_TUNE_TUNE_LOCK_H

#include "library/tune/tune_listener.h"

/* A file that this process has locked. Start with -1; end with tune_lock_release. */
struct tune_lock {
  int descriptor;
};

/* Wait until no other process tunes what `key` names.
 *   wait_ms   the most time to wait
 *   listener  NULL: none
 *   waited    receives whether another process held the lock
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED by the listener; HALOTUNE_IO, also after `wait_ms`; HALOTUNE_MEMORY. Without
 * a cache folder there is no lock, and HALOTUNE_OK is returned. */
halotune_status tune_lock_take(const char *key, double wait_ms, struct tune_listener *listener, struct tune_lock *out,
                               bool *waited);

/* Try to take the lock of a key without waiting. The lock ends with tune_lock_release, or with the process.
 *   is_shared  several processes may share the lock; a call waits up to a second for processes that only look at it
 * Returns false if another process has it. Where files cannot be locked, there is no lock, and true is returned. */
bool tune_lock_try(const char *key, bool is_shared, struct tune_lock *out);

/* Whether a process has the lock of a key. No file is made. A lock in a folder that others can write does not count,
 * because tune_lock_try takes none there. */
bool tune_lock_is_held(const char *key);

void tune_lock_release(struct tune_lock *lock);

#endif
