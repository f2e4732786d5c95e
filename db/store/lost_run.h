/* lost_run.h: runs whose process was lost or killed, and who goes on with them. */
#ifndef DB_STORE_LOST_RUN_H
#define DB_STORE_LOST_RUN_H

#include "db/store/store.h"

/* End a run whose process cannot do so any more: it is partial, for the reason "lost: WHY". A run that has not ended
 * would count as one that goes on. A run that has ended stays as it is. Nobody stores into the run any more, should its
 * process wake up again.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_run_lose(struct store *store, int64_t run, const char *why);

/* End the runs of this user and host that have not ended though their process has: they are partial, as of their last
 * result, and say that they were killed. Other GPUs do not take them up.
 *   has_ended  whether no process tunes on this GPU into this database. It is asked after a run was seen open
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_end_killed(struct store *store, bool (*has_ended)(void *context, const char *uuid),
                                 void *context);

/* Make lost runs of the same problem on other GPUs of the model earlier runs of this problem, in one transaction, so
 * that a search takes up their results. Their measurements name the GPU that they are of; what is known of it otherwise
 * stays. Runs of imported files are left alone.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_adopt_lost(struct store *store, int64_t problem);

#endif
