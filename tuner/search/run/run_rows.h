/* run_rows.h: the ids of a run's rows in the store, and the end of a run there. */
#ifndef SEARCH_RUN_RUN_ROWS_H
#define SEARCH_RUN_RUN_ROWS_H

#include "tuner/search/variants/trial.h"

/* Ids in the store. */
struct run_rows {
  struct store *store;
  int64_t stencil, problem;
  int64_t run;              /* 0 until the run is in the store */
  const int64_t *templates; /* one id for each template of the search space */
  const char *driver;       /* the driver of the backend */
  const char *warnings;     /* warnings of the time when the search began, one a line */
  char nvrtc[32];           /* "13.0" */
};

/* The store's key of a trial's variant. */
struct variant_key run_rows_key(const struct run_rows *rows, const struct trial *trial);

/* End the run without a winner. A run that is not in the store stays out of it.
 *   memcpy_ms  of the driver's copy; NaN where it was not measured
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status run_rows_end(const struct run_rows *rows, const char *reason, double memcpy_ms);

#endif
