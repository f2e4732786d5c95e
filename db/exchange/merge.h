/* merge.h: the rows of one database into another. */
#ifndef DB_EXCHANGE_MERGE_H
#define DB_EXCHANGE_MERGE_H

#include "db/store/store.h"

/* Two databases have different current bests of one problem. Valid during the call of conflict(). */
struct merge_conflict {
  const char *stencil, *dtype, *device, *launch, *cache;
  struct grid grid;
  double ours_ms, theirs_ms;
  bool is_taken;   /* theirs is the current one now */
  const char *why; /* "newer, measured with the same driver and NVRTC" */
};

struct merge_options {
  const char *origin; /* what rows are said to come from: the other database's file; one printable line */
  bool trust;         /* lookup may use them: their code will run on this machine's GPU. What their runs found right is
                         believed */
  void (*conflict)(void *context, const struct merge_conflict *conflict); /* NULL: nobody wants to know */
  void *context;
};

struct merge_counts {
  long runs, measurements, bests; /* rows that were not there before */
  long taken, kept;               /* conflicts that were decided for theirs, and for ours */
  long retired;                   /* bests of ours that are served no more, since theirs know them to be wrong */
  long refuted;                   /* bests of theirs that are not served, since they are known to be wrong */
};

/* Merge all of `from` into `to`, in one transaction: all of it or nothing. Rows that are already there stay; a run that was still
 * running takes over how it ended. Which best of a problem is current then is the rule of db/exchange/merge_best.h, which does not
 * depend on the order in which several databases are merged.
 *   counts  may be NULL
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_merge(struct store *to, struct store *from, const struct merge_options *options,
                            struct merge_counts *counts);

#endif
