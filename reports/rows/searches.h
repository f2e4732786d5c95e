/* searches.h: how many variants each run of a problem tried, and whether the database has the results of all of them. */
#ifndef REPORTS_ROWS_SEARCHES_H
#define REPORTS_ROWS_SEARCHES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "db/store/outcome.h"

/* One run. An export may keep a run and its finalists, and leave its other results out. */
struct search {
  int64_t run;
  bool is_running;              /* it has not ended, or it was killed */
  bool is_recorded;             /* `recorded` is known */
  bool is_whole;                /* every result is in the database; set by searches_judge */
  long recorded[OUTCOME_COUNT]; /* variants by outcome, as the run counted them when it ended */
  long found, most;             /* its results in the database; the highest number among them */
};

/* Start with {0}, end with searches_free. */
struct searches {
  struct search *list;
  int count, capacity;
};

/* Read the runs of a problem, the oldest first.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY; searches_free is due in any case. */
halotune_status searches_read(sqlite3 *db, int64_t problem, struct searches *out);

void searches_free(struct searches *searches);

/* Count a result of a run.
 *   number  its order within the run, from 1 */
void searches_count(struct searches *searches, int64_t run, long number);

/* Decide of each run whether the database has all of its results. Call it when every result was counted. */
void searches_judge(struct searches *searches);

/* Whether the database has all results of this run. */
bool searches_have(const struct searches *searches, int64_t run);

/* Whether it has all results of a run that tried something; true also where no run has tried anything yet. */
bool searches_have_any(const struct searches *searches);

/* How many variants a run tried; -1 where neither the run nor its results tell. */
long search_tried(const struct search *search);

/* Add what all runs recorded, by outcome. False where no run did, or where one did not. */
bool searches_recorded(const struct searches *searches, long out[OUTCOME_COUNT]);

#endif
