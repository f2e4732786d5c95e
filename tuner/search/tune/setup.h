/* setup.h: what is made before a search begins, and only read after that. */
#ifndef SEARCH_TUNE_SETUP_H
#define SEARCH_TUNE_SETUP_H

#include "tuner/search/hints/other_problems.h"
#include "tuner/search/hints/predicted.h"
#include "tuner/search/hints/stored_weights.h"
#include "tuner/search/run/run_progress.h"
#include "tuner/search/run/run_rows.h"
#include "tuner/search/run/schedule.h"
#include "tuner/search/tune/tune_inputs.h"
#include "tuner/search/variants/pipeline.h"
#include "tuner/verify/scene.h"

/* What the set-up reads; tools->backend gets the task's problem, tools->store the run. */
struct setup_inputs {
  const struct tune_tools *tools;
  const struct task *task, *copy; /* copy: NULL for none */
  const struct tune_templates *templates;
  const struct tune_options *options;
  const struct schedule *schedule;
  struct run_progress *progress; /* told what the set-up does; NULL: nobody is */
};

/* End with setup_free. */
struct setup {
  struct search_space space;   /* points to the arrays below and to the variants that are tried first */
  struct template **templates; /* templates that apply */
  struct bindings *bindings;
  struct fixed_parameters *fixed;
  int64_t *template_ids;
  long space_size;               /* variants that the rules keep */
  struct proposal_list recorded; /* the variants of a recording */
  struct predicted predicted;    /* result of predicted_find */
  struct proposal_list hints;    /* result of hints_find */
  struct known known;            /* result of known_find */
  struct static_weights weights; /* result of stored_weights_find */
  enum static_stored weights_found;
  struct proposal_list starts; /* result of starts_find */
  struct scene scene;
  struct text warnings; /* warnings of the backend and about the problem on the device, one a line */
  struct pipeline *pipeline;
  struct trial *first; /* the default variant, compiled; NULL where no template's default works */
  double first_ms;     /* time of one application of the default variant, roughly */
  double memcpy_ms;    /* time of the driver's copy of the roof's bytes; NaN where there is none */
  enum launch_mode launch;
  struct run_rows rows; /* rows.run is 0 where the set-up was stopped before the run was in the store */
};

/* Find the templates that apply, make the inputs and the reference, put the problem on the device, find the default
 * variant, put the run into the store, and find the variants to be tried first.
 * Returns HALOTUNE_OK, also where the schedule stopped it; HALOTUNE_NOT_FOUND where no template has a variant;
 * HALOTUNE_ARGUMENT where no point of the grid is computed; else what backend, compiler or store return.
 * setup_free(out) is right in each case. */
halotune_status setup_make(const struct setup_inputs *in, struct setup *out);
void setup_free(struct setup *setup);

/* Bring the problem to the device once more, for another way to launch. Returns the backend's status. */
halotune_status setup_change_launch(const struct setup_inputs *in, struct setup *setup, enum launch_mode launch);

/* Find the search space of the task: templates, bindings, fixed parameters, and the number of variants. In
 * setup_space.c. Returns HALOTUNE_OK, also where the schedule stopped it; HALOTUNE_NOT_FOUND where no template has a
 * variant; HALOTUNE_PARSE where the rules of one cannot be walked (space_is_walkable); or HALOTUNE_MEMORY. */
halotune_status setup_find_space(const struct setup_inputs *in, struct setup *out);

/* Find what lookups would choose and the winners that databases know, and show them to the strategy if the options say
 * so. */
halotune_status setup_find_hints(const struct setup_inputs *in, struct setup *setup);

/* Find the variants that are tried first, and show them to the strategy if it takes hints. The hints must be known. */
halotune_status setup_find_starts(const struct setup_inputs *in, struct setup *setup);

/* Find where hints are read, until an end, and the problem that they are compared with.
 *   task  the task, or the copy, for which only winners of its own stencil count */
struct hint_sources setup_hint_sources(const struct setup_inputs *in, struct hint_end end);
struct hint_target setup_hint_target(const struct setup_inputs *in, const struct setup *setup, const struct task *task);

#endif
