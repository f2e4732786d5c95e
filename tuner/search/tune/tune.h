/* tune.h: the search for the fastest variant of one task, from the first proposal to the stored winner. */
#ifndef SEARCH_TUNE_TUNE_H
#define SEARCH_TUNE_TUNE_H

#include <signal.h>

#include "gpu/workers/compiler.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/variants/task.h"

/* What it works with; opened by the caller, for any number of tasks one after the other. */
struct tune_tools {
  struct backend_handle *backend;
  struct compiler *compiler; /* NULL with a recording, for which nothing is compiled */
  struct store *store;
  struct store *const *hints; /* databases whose winners are tried early, and as the roof, beside those of `store`; only
                                 read */
  int hint_count;
};

/* How far it is. */
struct tune_progress {
  const char *phase; /* "reference", "search", "finals", "second grid" */
  long tried, space; /* variants with a result; variants that the rules keep */
  long failed;       /* of those tried: neither measured nor screened nor pruned */
  double best_ms;    /* INFINITY at first */
  double roof_share; /* of the best, against the driver's copy; NaN while unknown */
  double variants_per_s;
  double left_s; /* of the budget; INFINITY without one */
};

struct tune_options {
  const struct strategy *strategy;
  uint64_t seed;
  double budget_s;    /* for search and finals of one task, after its set-up; INFINITY: no clock ends the search */
  double deadline_ms; /* clock_ms() at which it is to end, as after `stop`; INFINITY for none */
  long max_variants;  /* 0: no bound */
  double good_enough; /* the search ends when the best reaches this share of the driver's copy; 0: never */
  bool fresh;         /* measure again what an earlier run measured */
  bool no_hints;      /* begin blind: do not try first what databases know as winners */
  bool rematch;       /* no search: the finals among the winners of earlier runs, and the fastest that they measured */
  int launch;         /* enum launch_mode; -1: graph where the default takes less than 20 us, else stream */
  enum cache_mode cache;
  const char *command, *host;        /* for the store */
  const volatile sig_atomic_t *stop; /* becomes 1 to end soon, with all results kept */
  void (*progress)(void *context, const struct tune_progress *progress); /* called often */
  void *context;
};

/* What came of it. */
struct tune_result {
  bool has_winner;
  bool is_complete; /* the search was not cut short, and the finals ended; else `reason` says why not */
  bool
      is_exhausted; /* without a winner: all variants that were asked for were tried, so that there is nothing to go on with */
  char reason[256];
  enum outcome first_failure; /* what came of the first variant that failed, where one did; */
  char first_reason[512];     /* and why */
  long tried, recalled,
      twins;   /* variants with a result; of these from earlier runs; of these with the machine code of another */
  long hinted; /* measured since a database has them as winners */
  long outcomes[OUTCOME_COUNT];
  double setup_s, search_s, final_s;
  enum launch_mode launch;
  char template_name[64];
  char parameters[1024]; /* "block_x=32 storage=planes" */
  char second_grid[64]; /* where the winner was verified as well: "509x251x499"; "" where its rules keep no such grid */
  struct timing timing; /* without samples */
  double default_ms, roof_ms, roof_ratio, roof_ratio_low, roof_ratio_high, empty_ms; /* NaN where not measured */
  int finalists, ties;
  int other_processes; /* that computed on the GPU when the finals began */
  bool is_hinted;      /* the winner is one of `hinted` */
  bool is_current;     /* it became what lookup serves */
  long long bytes;
};

/* Whether the deadline leaves enough time to begin a task: half of its budget, or 10 s where that is less. In less the
 * default would win for want of others. */
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
