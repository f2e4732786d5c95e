/* tune.h: the search for the fastest variant of one task, from the first proposal to the stored winner. */
#ifndef SEARCH_TUNE_TUNE_H
#define SEARCH_TUNE_TUNE_H

#include "gpu/workers/compiler.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/finals/final_inputs.h"
#include "tuner/search/strategy/strategy.h"

/* What it works with; opened by the caller, for any number of tasks one after the other. */
struct tune_tools {
  struct backend_handle *backend;
  struct compiler *compiler; /* NULL with a recording, for which nothing is compiled */
  struct store *store;
  struct store *const *hints; /* databases whose winners are tried early, and as the roof, beside those of `store`; only
                                 read */
  int hint_count;
};

struct tune_options {
  const struct strategy *strategy;
  uint64_t seed;
  double budget_s;         /* for search and finals of one task, after its set-up; INFINITY: no clock ends the search */
  double deadline_ms;      /* on the clock of `time`: the task has to end then, as after `stop`; INFINITY for none */
  struct time_source time; /* {NULL, NULL}: the machine's clock */
  long max_variants;       /* 0: no bound */
  double good_enough;      /* the search ends when the best reaches this share of the driver's copy; 0: never */
  bool fresh;              /* measure again what an earlier run measured */
  bool no_hints;           /* begin blind: do not try first what databases know as winners */
  bool rematch; /* no search: the finals among the winners of earlier runs, and the fastest that they measured */
  int launch;   /* enum launch_mode; -1: graph where the default takes less than 20 us, else stream */
  enum cache_mode cache;
  const char *command, *host;        /* for the store */
  const volatile sig_atomic_t *stop; /* becomes 1 to end soon, with all results kept; may be NULL */
  void (*progress)(void *context, const struct tune_progress *progress); /* called often; may be NULL */
  void *context;
};

/* What came of it. */
struct tune_result {
  bool is_complete;  /* there is a winner, of a whole search; else `reason` says why not */
  bool is_exhausted; /* there is no winner although all that was asked for was tried: there is nothing to go on with */
  char reason[256];
  struct tally tally;
  struct final_winner winner;
  double setup_s, search_s, final_s;
  enum launch_mode launch;
  long long bytes; /* compulsory traffic of one application */
};

/* Whether the deadline leaves enough time to begin a task: see schedule_leaves_time. */
bool tune_has_time(const struct tune_options *options, double now_ms);

/* Templates to search. */
struct tune_templates {
  struct template *const *list;
  const struct fixed_parameters *fixed; /* a template each; NULL: nothing is fixed */
  int count;
};

/* Tune one task. What goes wrong with variants is stored, and costs nothing else.
 *   templates       that may apply to the task
 *   copy            stencil `copy` on as many points as move the task's bytes, to measure the roof; NULL for none
 *   copy_templates  that may apply to it
 *   out             filled on success, and as far as it came on failure
 * Returns HALOTUNE_OK, also where it ended early; HALOTUNE_NOT_FOUND where no template has a variant; else what
 * backend, compiler or store return. Every result was stored by then. */
halotune_status tune(const struct tune_tools *tools, const struct task *task, const struct tune_templates *templates,
                     const struct task *copy, const struct tune_templates *copy_templates,
                     const struct tune_options *options, struct tune_result *out);

#endif
