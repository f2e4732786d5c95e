/* run_print.h: the result of `halotune run`, as text and as JSON. */
#ifndef CLI_RUN_RUN_PRINT_H
#define CLI_RUN_RUN_PRINT_H

#include "base/text/json.h"
#include "tuner/cli/run/run_files.h"

struct run_result {
  const struct run_problem *problem;
  const struct run_files *files;
  const struct run_backend *backend;
  struct run_facts facts;
  double time_ms;                             /* time of all steps, without files and copies */
  struct run_written written[2 * MAX_FIELDS]; /* written results (run_problem.h) */
};

/* Print "heat on 512x512 points, 100 steps, f64, on CPU", before the run. */
void run_print_title(const struct run_result *result);

/* Print the rest after the run. */
void run_print(const struct run_result *result);

/* A new reference; NULL when memory is out. */
json_t *run_json(const struct run_result *result);

#endif
