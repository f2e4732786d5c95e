/* lost_run.h: runs whose process was lost, and who goes on with them. */
#ifndef DB_STORE_LOST_RUN_H
#define DB_STORE_LOST_RUN_H

#include "db/store/store.h"

/* End a run whose process cannot do so any more: it is partial, for the reason "lost: WHY". A run that has not ended
 * would count as one that goes on. A run that has ended stays as it is. Nobody stores into the run any more, should its
 * process wake up again.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_run_lose(struct store *store, int64_t run, const char *why);

/* Make lost runs of the same problem on other GPUs of the model earlier runs of this problem, in one transaction, so
 * that a search takes up their results. Their measurements name the GPU that they are of; what is known of it otherwise
 * stays. Runs of imported files are left alone.
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status store_adopt_lost(struct store *store, int64_t problem);

#endif
