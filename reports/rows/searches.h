/* searches.h: how many variants each run of a problem tried, and whether the database has all their results. */
#ifndef REPORTS_ROWS_SEARCHES_H
#define REPORTS_ROWS_SEARCHES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "db/store/outcome.h"

/* One run. An export may keep a run and its finalists, and leave out its other results. */
struct search {
  int64_t run;
  bool is_running;              /* it has not ended, or it was killed */
  bool is_recorded;             /* `recorded` is known */
  bool is_whole;                /* all its results are in the database; set by searches_judge */
  long recorded[OUTCOME_COUNT]; /* variants by outcome, as the run counted them at its end */
  long found, most;             /* results in the database; the highest number among them */
};

/* Start with {0}, end with searches_free. */
struct searches {
  struct search *list;
  int count, capacity;
};

/* Read the runs of a problem, the oldest first.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. Call searches_free in any case. */
halotune_status searches_read(sqlite3 *db, int64_t problem, struct searches *out);

void searches_free(struct searches *searches);

/* Count a result of a run.
 *   number  its position in the run, from 1 */
void searches_count(struct searches *searches, int64_t run, long number);

/* Decide for each run whether the database has all its results. Call it after every result was counted. */
void searches_judge(struct searches *searches);

/* Whether the database has all results of this run. */
bool searches_have(const struct searches *searches, int64_t run);

/* Whether the database has all results of some run that tried variants. Also true if no run has tried any yet. */
bool searches_have_any(const struct searches *searches);

/* How many variants a run tried; -1 if neither the run nor its results show this. */
long search_tried(const struct search *search);

/* Add the counts that runs recorded, by outcome. Returns false if there is no run, or if a run recorded none. */
bool searches_recorded(const struct searches *searches, long out[OUTCOME_COUNT]);

#endif
