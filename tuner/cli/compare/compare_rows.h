/* compare_rows.h: reads the winners of two sides, such as two databases, and pairs them. */
#ifndef CLI_COMPARE_COMPARE_ROWS_H
#define CLI_COMPARE_COMPARE_ROWS_H

#include <stdbool.h>

#include "base/text/date.h"
#include "db/store/store.h"

/* The rows that one side takes from its database. NULL or "" fits everything. */
struct compare_side {
  const char *device;         /* a UUID, or a part of the GPU's name in any case */
  const char *driver;         /* "580", or a whole version */
  const char *before, *since; /* dates: measured before `before`, and not before `since` */
  const char *stencil;
};

/* The winner of a problem. */
struct compare_row {
  char *problem; /* "star7 f32 512x512x512, graph" */
  char *key;     /* equal for two rows that can be compared */
  char *winner;  /* its template */
  char date[DATE_TEXT_BYTES], driver[64], device[128];
  double time_ms, low_ms, high_ms; /* low, high: NaN if the interval is not known */
  bool is_own;                     /* this user measured it */
};

/* Start with {0}, end with compare_rows_free. */
struct compare_rows {
  struct compare_row *list;
  int count, capacity;
};

/* Read the winners of a side, sorted by their keys. With a driver or a date, the newest winner that fits it counts,
 * even if it is no longer the best. Otherwise the current winner counts. Three kinds are left out: winners of
 * emulations, winners that are known to be wrong, and winners of runs that were cut short after a complete run had
 * found one.
 *   by_device  rows of different models of GPUs have different keys
 *   out        filled on success; compare_rows_free is right in each case
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status compare_rows_read(struct store *store, const struct compare_side *side, bool by_device,
                                  struct compare_rows *out);
void compare_rows_free(struct compare_rows *rows);

/* How a winner changed. */
enum change { CHANGE_NONE, CHANGE_FASTER, CHANGE_SLOWER };

/* Compare two times of one problem. They differ if the time changed by more than the tolerance, and the 95 % intervals
 * do not overlap.
 *   tolerance  such as 0.02 */
enum change compare_times(const struct compare_row *before, const struct compare_row *after, double tolerance);

#endif
