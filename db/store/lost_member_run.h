/* lost_member_run.h: ends runs of a team whose member was lost, and lets another GPU go on with
 * them. A process that was killed alone leaves its run as `running`, and its results count in the next one. */
#ifndef DB_STORE_LOST_MEMBER_RUN_H
#define DB_STORE_LOST_MEMBER_RUN_H

#include "db/store/store.h"

/* End a run whose process can no longer do so. The run becomes partial, with the reason "lost: WHY"; otherwise it would
 * count as still running. A run that has ended does not change. If the process wakes up again, it can store nothing
 * into the run any more.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_run_lose(struct store *store, int64_t run, const char *why);

/* In one transaction, turn lost runs of the same problem on other GPUs of the model into earlier runs of this problem,
 * so that a search takes up their results. Their measurements get the name of the GPU that measured them; all other
 * rows of that GPU stay. Runs of imported files do not change.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_adopt_lost(struct store *store, int64_t problem);

#endif
