/* run_rows.h: the rows of one run in the store: which they are, and how the run ends there. */
#ifndef SEARCH_RUN_RUN_ROWS_H
#define SEARCH_RUN_RUN_ROWS_H

#include "tuner/search/variants/trial.h"

/* Ids in the store. */
struct run_rows {
  struct store *store;
  int64_t stencil, problem;
  int64_t run;              /* 0 until the run is in the store */
  const int64_t *templates; /* one id for each template of the search space */
  const char *driver;       /* of the backend */
  const char *warnings;     /* when the search began, a line each */
  char nvrtc[32];           /* "13.0" */
};

/* What the store calls a trial's variant. */
struct variant_key run_rows_key(const struct run_rows *rows, const struct trial *trial);

/* End the run without a winner. A run that is not in the store stays out of it.
 *   memcpy_ms  of the driver's copy; NaN where it was not measured
 * Returns HALOTUNE_OK or HALOTUNE_DB. */
halotune_status run_rows_end(const struct run_rows *rows, const char *reason, double memcpy_ms);

#endif
