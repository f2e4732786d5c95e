/* merge.h: the rows of one database into another. */
#ifndef DB_EXCHANGE_MERGE_H
#define DB_EXCHANGE_MERGE_H

#include "db/store/store.h"

/* Two databases have different current bests of one problem. Valid during the call of conflict(). */
struct merge_conflict {
  const char *stencil, *dtype, *device, *launch, *cache;
  struct grid grid;
  int steps; /* time steps of a launch */
  double ours_ms, theirs_ms;
  bool is_taken;   /* theirs is the current one now */
  const char *why; /* "newer, measured with the same driver and NVRTC" */
};

/* Where rows come from; the columns of the table origin. */
struct origin {
  const char *kind;     /* "imported" or "shipped" */
  const char *name;     /* the file's; one printable line */
  const char *signer;   /* the name that the user gave to the key that signed the document, or "" */
  const char *key;      /* that public key in hexadecimal digits, or "" */
  const char *document; /* its identity in hexadecimal digits, or "" */
};

struct merge_options {
  struct origin origin; /* of rows that are new */
  bool without_code;    /* machine code is not taken: it is compiled when it is first needed */
  void (*conflict)(void *context, const struct merge_conflict *conflict); /* NULL: nobody wants to know */
  void *context;
};

struct merge_counts {
  long runs, measurements, bests; /* rows that were not there before */
  long taken, kept;               /* conflicts that were decided for theirs, and for ours */
  long retired;                   /* bests of ours that are served no more, since theirs know them to be wrong */
  long refuted;                   /* bests of theirs that are not served, since they are known to be wrong */
  long left;                      /* coefficients of theirs that are not taken, since ours are of another fit */
};

/* Merge all of `from`, which is trusted, into `to`, in one transaction: all of it or nothing. Rows that are already
 * there stay. A run that was still running takes over how it ended, with its measurements. Where a row has the key of
 * one that is there, and other content, nothing is taken. Which best of a problem is current then is the rule of
 * db/exchange/merge_best.h, which does not depend on the order in which several databases are merged.
 * Several files in one transaction take less time: begin it on the connection of `to` before the first call, and end it
 * with query_finish after the last one. After a failure it can only be rolled back, with all of these files.
 * Coefficients of predicted times are taken for a GPU that has none, and replace all that the same signer gave before.
 *   counts  may be NULL
 * Returns HALOTUNE_OK; HALOTUNE_DB, also for a row in conflict, which the detail names; or HALOTUNE_MEMORY. */
halotune_status store_merge(struct store *to, struct store *from, const struct merge_options *options,
                            struct merge_counts *counts);

#endif
