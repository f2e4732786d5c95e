/* session.h: the state of one tune, shared by its phases. */
#ifndef SEARCH_TUNE_SESSION_H
#define SEARCH_TUNE_SESSION_H

#include "tuner/search/hints/hints.h"
#include "tuner/search/tune/tune.h"
#include "tuner/search/variants/pipeline.h"
#include "tuner/search/variants/proposals.h"
#include "tuner/search/variants/timed.h"
#include "tuner/search/variants/twins.h"
#include "tuner/verify/scene.h"

struct session {
  const struct tune_tools *tools;
  const struct task *task, *copy; /* copy: NULL for none */
  const struct tune_options *options;
  struct tune_result *result;

  const struct tune_templates *copy_templates;
  struct template **templates; /* those that apply */
  struct bindings *bindings;
  struct fixed_parameters *fixed;
  struct search_space space;
  struct proposal_list recorded; /* the space of a recording */
  struct proposal_list hints;    /* hints.h */
  struct proposal_list starts;   /* starts.h */
  long space_size;
  struct trial *first; /* the default variant, compiled; NULL where no template's default works */
  double first_ms;     /* about what it takes */

  struct scene scene;
  enum launch_mode launch;
  int64_t stencil_id, problem_id, run_id; /* run_id: 0 until the run is in the store */
  int64_t *template_ids;

  void *strategy;
  struct pipeline *pipeline;
  double start_ms, search_end_ms, end_ms; /* clock_ms() */
  bool has_deadline;                      /* it comes before the end of the budget */
  bool is_too_late;                       /* it leaves too little time to begin */
  bool is_cut;                            /* by it, before the search was over */
  bool is_over;                           /* the search had all that was asked for: the same again has nothing to try */
  double memcpy_ms;                       /* of the roof's bytes, at the start; NaN */
  double scale;                           /* anchor_scale() at the end of the search */
  struct timed_list timed;
  struct twins twins;
  double next_progress_ms;
};

/* Phases, in their order. Each returns HALOTUNE_OK also when it ends early. */
halotune_status session_open(struct session *session);   /* scene, problem on the device, run in the store */
halotune_status session_search(struct session *session); /* proposals to timed variants */
halotune_status session_finals(struct session *session); /* timed variants to the stored winner */

/* Whether to end soon, by a signal or at the deadline; and the word for it. */
bool session_is_stopped(const struct session *session);
const char *session_stop_reason(const struct session *session);

/* The search is over: time, number of variants, or good enough. */
bool session_is_searched(const struct session *session);
bool session_is_good_enough(const struct session *session);

/* Tell how far it is. */
void session_show(struct session *session, const char *phase);

/* The run ends without a winner; it is in the store by now, or there is none. */
halotune_status session_end_early(struct session *session, const char *reason);

/* Generate and compile one variant, and wait for it; nothing else may be in the pipeline. The trial may be over, if
 * that failed. */
halotune_status session_build(struct session *session, const struct task *task, const struct template *template,
                              const struct proposal *proposal, struct trial **out);

/* Load a trial's variant into a slot, as backend.load. */
halotune_status session_load(struct session *session, int slot, const struct trial *trial, bool is_roof,
                             struct verdict *verdict);

/* Find what the search begins with, as its options say, and show it to the strategy: hints first, then the starts, which begin
 * with the hints. */
halotune_status session_find_hints(struct session *session);
halotune_status session_find_starts(struct session *session);

/* Where hints are read, and what they are compared with.
 *   task  the session's, or that of its roof */
struct hint_sources session_hint_sources(const struct session *session);
struct hint_target session_hint_target(const struct session *session, const struct task *task);

/* Whether it is the default variant. */
bool session_is_first(const struct session *session, const struct proposal *proposal);

/* What the store calls a trial's variant. */
struct variant_key session_key(const struct session *session, const struct trial *trial);

/* "13.0", as the store has it. */
struct nvrtc_name {
  char text[32];
};
struct nvrtc_name session_nvrtc(const struct session *session);

/* Kernels of stencil `copy` that are loaded to measure the roof. Start with {0}. */
enum { MOST_ROOFS = 4 };
struct roof {
  struct trial *trials[MOST_ROOFS];
  int slots[MOST_ROOFS + 1]; /* with SLOT_MEMCPY */
  int count;                 /* of slots */
};

/* Load what measures the roof: the driver's copy, and the best kernels that are known or found quickly.
 *   first_slot  the first of MOST_ROOFS + 1 that may be loaded */
halotune_status roof_open(struct session *session, int first_slot, struct roof *out);

/* Unload them. */
void roof_close(struct session *session, struct roof *roof);

/* Run a variant on another grid, with awkward extents and other coefficients. It unloads all slots, and leaves that
 * grid on the device. grid     receives the grid, as "509x251x499"; "" where the rules leave the variant out on every
 * such grid verdict  what came of it; OUTCOME_MEASURED also where it is left out, with the reason */
halotune_status second_grid_check(struct session *session, const struct proposal *proposal, char grid[64],
                                  struct verdict *verdict);

#endif
