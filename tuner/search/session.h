/* session.h: the state of one tune, shared by its phases. */
#ifndef TUNER_SEARCH_SESSION_H
#define TUNER_SEARCH_SESSION_H

#include "tuner/search/trial.h"
#include "tuner/search/tune.h"
#include "tuner/verify/scene.h"

/* A variant with a time, for the finals. */
struct timed_variant {
  struct proposal proposal;
  int64_t variant; /* in the store */
  long number;     /* of its result in this run; 0: of an earlier one */
  enum outcome outcome;
  double median_ms, minimum_ms;
  double scale; /* anchor_scale() of it: how slow the GPU was then */
  double rms_error, max_error, max_error_units; /* of the verification before */
  int registers, shared_bytes;
  bool is_default;
};

struct session {
  const struct tune_tools *tools;
  const struct task *task, *copy;
  const struct tune_options *options;
  struct tune_result *result;

  const struct tune_templates *copy_templates;
  struct template **templates; /* those that apply */
  struct bindings *bindings;
  struct search_space space;
  long space_size;
  struct proposal first; /* the default variant, the anchor */

  struct scene scene;
  enum launch_mode launch;
  int64_t stencil_id, problem_id, run_id;
  int64_t *template_ids;

  void *strategy;
  double start_ms, search_end_ms, end_ms; /* clock_ms() */
  double memcpy_ms;                        /* of the roof's bytes, at the start; NaN */
  double best_ms;                          /* of scaled times */
  double scale;                            /* anchor_scale() at the end of the search */
  long number;                             /* of the last result stored by this run */
  struct timed_variant *timed;
  long timed_count, timed_capacity;
  double next_progress_ms;
};

/* Phases, in their order. Each returns HALOTUNE_OK also when it ends early. */
halotune_status session_open(struct session *session);   /* scene, problem on the device, run in the store */
halotune_status session_search(struct session *session); /* proposals to timed variants */
halotune_status session_finals(struct session *session); /* timed variants to the stored winner */
void session_close(struct session *session);

/* Whether to end soon. */
bool session_is_stopped(const struct session *session);

/* The search is over: time, number of variants, or good enough. */
bool session_is_searched(const struct session *session);

void session_show(struct session *session, const char *phase);

/* Remember a variant with a time; `best_ms` is of scaled times. */
halotune_status session_add_timed(struct session *session, const struct timed_variant *timed);

/* Generate and compile one variant, and wait for it; nothing else may be with the compiler. The trial may be over, if that failed. */
halotune_status session_build(struct session *session, const struct task *task, const struct template *template,
                              const struct proposal *proposal, const struct grid *grid, struct trial **out);

/* What the store calls a trial's variant. */
struct variant_key session_key(const struct session *session, const struct trial *trial);

/* --- parts of the finals --- */

/* Kernels of stencil `copy` that are loaded to measure the roof. Start with {0}. */
enum { MOST_ROOFS = 4 };
struct roof {
  struct trial *trials[MOST_ROOFS];
  int slots[MOST_ROOFS + 1]; /* with SLOT_MEMCPY */
  int count;                 /* of slots */
};

/* Load what measures the roof: the driver's copy, and the best kernels that are known or found quickly.
 *   first_slot  the first of MOST_ROOFS that may be loaded */
halotune_status roof_open(struct session *session, int first_slot, struct roof *out);

/* Unload them. */
void roof_close(struct session *session, struct roof *roof);

/* Run a variant on another grid, with awkward extents and other coefficients. It unloads all slots, and leaves that grid on the
 * device.
 *   grid     receives the grid, as "509x251x499"; "" where the rules leave the variant out on every such grid
 *   verdict  what came of it; OUTCOME_MEASURED also where it is left out, with the reason */
halotune_status second_grid_check(struct session *session, const struct proposal *proposal, char grid[64], struct verdict *verdict);

#endif
