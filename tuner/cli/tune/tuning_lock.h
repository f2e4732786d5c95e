/* tuning_lock.h: the lock that a process holds, shared, while it tunes on a GPU into a database. It ends with its
 * process, so that `halotune fleet status` shows who tunes, and `db forget` and `db refresh` leave alone what a tune
 * uses. A free lock does not show that nobody tunes: the lock lies in the cache folder, and a process may have another
 * one, or none. So nothing may end a run because of it. If the user forgets a run that goes on unseen, its process
 * stops (store_require_open in db/store/store_parts.h). */
#ifndef CLI_TUNE_TUNING_LOCK_H
#define CLI_TUNE_TUNING_LOCK_H

#include <stdbool.h>

#include "library/tune/tune_lock.h"

/* Take the lock. Where there is none, as in a cache folder that others can write, the process tunes without it, and is
 * not shown as running.
 *   lock  ends with tune_lock_release */
void tuning_lock_take(const char *database, const char *uuid, struct tune_lock *lock);

/* Whether a process tunes on this GPU into this database. Only processes with the same cache folder are seen. */
bool tuning_lock_is_held(const char *database, const char *uuid);

#endif
