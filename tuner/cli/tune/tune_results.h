/* tune_results.h: what came of the tasks of a `halotune tune`, as a table and as JSON. */
#ifndef CLI_TUNE_TUNE_RESULTS_H
#define CLI_TUNE_TUNE_RESULTS_H

#include "tuner/cli/output/output.h"
#include "tuner/cli/tune/tune_plan.h"
#include "tuner/search/tune/tune.h"

/* A task that was tuned, or not. */
struct tuned {
  const struct planned_task *task;
  struct tune_result result;
  bool reproducible; /* as the task was */
  bool is_recorded;  /* replayed: nothing ran */
  bool is_emulated;  /* its times say nothing about a GPU */
  bool is_done;
  bool is_refused; /* it cannot be tuned, so that there is nothing to go on with */
};

/* The table, with a line of failures by kind for each task that had any. */
void tune_table_print(const struct tuned *rows, int count);

/* A new reference; NULL when memory is out. */
json_t *tuned_json(const struct tuned *row);

#endif
