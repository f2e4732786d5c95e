/* tuning_lock.h: the lock that a process holds, shared, while it tunes on a GPU into a database. It ends with its
 * process, so that others see who tunes, and which runs were killed. */
#ifndef CLI_TUNE_TUNING_LOCK_H
#define CLI_TUNE_TUNING_LOCK_H

#include "db/store/store.h"
#include "library/tune/tune_program.h"

/* End the runs of this host whose process has ended without their end, and then take the lock. Where files cannot be
 * locked, nothing is known of other processes, and there is no lock.
 *   lock  ends with tune_lock_release
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status tuning_lock_take(struct store *store, const char *uuid, struct tune_lock *lock);

/* Whether a process tunes on this GPU into this database. Only processes with the same cache folder are seen. */
bool tuning_lock_is_held(const char *database, const char *uuid);

#endif
