/* tune_inputs.h: what a tune works with: tools, templates and options. */
#ifndef SEARCH_TUNE_TUNE_INPUTS_H
#define SEARCH_TUNE_TUNE_INPUTS_H

#include "gpu/workers/compiler.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/run/crew.h"
#include "tuner/search/run/run_progress.h"
#include "tuner/search/strategy/strategy.h"

/* The caller opens the tools. They serve any number of tasks, one after the other. */
struct tune_tools {
  struct backend_handle *backend;
  struct compiler *compiler; /* NULL with a recording, for which nothing is compiled */
  struct store *store;
  struct store *const *hints; /* more databases whose winners are tried early, and as the roof; only read */
  int hint_count;
  const struct crew *crew; /* other GPUs that take part in each task; NULL for none */
};

enum { TUNE_MOST_IN_FLIGHT = 256 };

struct tune_options {
  const struct strategy *strategy;
  uint64_t seed;
  double budget_s;    /* time for search and finals of one task, after its set-up; INFINITY: no clock ends the search */
  double deadline_ms; /* the task ends at this time of the clock `time`, as after `stop`; INFINITY for none */
  struct time_source time; /* {NULL, NULL}: the machine's clock */
  bool is_scout;           /* the finals keep at most 20 % of the budget, however short it is */
  long max_variants;       /* 0: no bound */
  double good_enough;      /* the search ends when the best reaches this share of the driver's copy; 0: never */
  /* variants that are proposed and have no result, at most; 0: enough to keep compilers and device busy */
  int in_flight;
  enum objective objective; /* what the finals rank by; energy only if the backend counts it */
  bool in_full;             /* measure each variant with all samples, also one that is clearly slower than the best */
  bool fresh;               /* measure all variants again, also those that earlier runs measured */
  bool no_hints;            /* do not begin with the winners that databases know */
  bool leads_only;          /* the crew alone runs what the strategy proposes */
  /* no search: only finals, among the winners of earlier runs and the fastest variants that these measured */
  bool rematch;
  int launch; /* enum launch_mode; -1: graph where the default takes less than 20 us, else stream */
  enum cache_mode cache;
  const char *command, *host;        /* stored with the run */
  const volatile sig_atomic_t *stop; /* becomes 1 to end soon, with all results kept; may be NULL */
  void (*progress)(void *context, const struct tune_progress *progress); /* called often; may be NULL */
  proposal_told *proposed; /* told why each variant is proposed; may be NULL */
  void *context;
};

/* Templates to search. */
struct tune_templates {
  struct template *const *list;
  const struct fixed_parameters *fixed; /* one for each template; NULL: nothing is fixed */
  int count;
};

#endif
