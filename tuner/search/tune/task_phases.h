/* task_phases.h: the search for the fastest variant of one task, from the first proposal to the stored winner. */
#ifndef SEARCH_TUNE_TASK_PHASES_H
#define SEARCH_TUNE_TASK_PHASES_H

#include "tuner/search/finals/final_inputs.h"
#include "tuner/search/tune/tune_inputs.h"

/* The result of a task. */
struct tune_result {
  bool is_complete;  /* there is a winner, and the search was complete; else `reason` says why not */
  bool is_exhausted; /* there is no winner although all that was asked for was tried: to go on would add nothing */
  char reason[256];
  char remark[320]; /* on learnt weights that make no sense, and the strategy's remark on its search; "" for none */
  struct tally tally;
  struct final_winner winner;
  struct crew_report crew; /* count 0: the device worked alone */
  double setup_s, search_s, final_s;
  enum launch_mode launch;
  long long bytes; /* compulsory traffic of one application */
};

/* Whether the deadline leaves enough time to begin a task: see schedule_leaves_time. */
bool tune_has_time(const struct tune_options *options, double now_ms);

/* Whether it also leaves enough time to read on in databases first: see schedule_leaves_reading. */
bool tune_has_time_to_read(const struct tune_options *options, double now_ms);

/* Tune one task. A variant that fails is stored with its failure, and the search goes on.
 *   templates       templates that may apply to the task
 *   copy            stencil `copy` on as many points as move the task's bytes, to measure the roof; NULL for none
 *   copy_templates  templates that may apply to the copy
 *   out             filled on success, and on failure as far as the task came
 * Returns HALOTUNE_OK, also if the task ended early; HALOTUNE_NOT_FOUND if no template has a variant; else what
 * backend, compiler or store return. All results are in the store by then. */
halotune_status tune(const struct tune_tools *tools, const struct task *task, const struct tune_templates *templates,
                     const struct task *copy, const struct tune_templates *copy_templates,
                     const struct tune_options *options, struct tune_result *out);

#endif
