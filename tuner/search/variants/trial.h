/* trial.h: one variant on its way from a proposal to a result. */
#ifndef SEARCH_VARIANTS_TRIAL_H
#define SEARCH_VARIANTS_TRIAL_H

#include "db/store/store.h"
#include "gpu/workers/compiler.h"
#include "tuner/search/variants/search_space.h"
#include "tuner/search/variants/task.h"

enum { TRIAL_REASON_BYTES = 512 };

/* Start with trial_begin, end with trial_free. Does not move: the specification of what runs points into it. */
struct trial {
  struct proposal proposal;
  const struct template *template;
  struct variant_spec spec;
  struct generated generated;
  struct compiled compiled; /* without a cubin until trial_take */
  bool is_over;             /* no device is needed any more: the result says how it ended */
  bool is_recalled;         /* the result is that of an earlier run, */
  int64_t variant;          /* and this its variant in the store, */
  double recalled_scale;    /* how slow the GPU was then, beside now */
  long twin_of;             /* the number of the result whose machine code and launch it has; 0: none */
  bool is_same;             /* a twin with the very source of its original, and so the same row in the store */
  long again;               /* the number of the result that this one replaces; 0: none */
  bool is_stand_in;         /* it gives no result: it is to be the anchor in the default's place */
  struct measurement result;
  char reason[TRIAL_REASON_BYTES];
  float *samples;
};

/* A measurement of which nothing is known yet. */
struct measurement measurement_none(void);

/* Generate the source.
 *   grid  the task's, or another one
 *   out   the caller's; is_over where the template cannot serve the configuration: there is no source then, and its
 * hash is one of the specification Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status trial_begin(const struct task *task, const struct template *template, const struct proposal *proposal,
                            const struct grid *grid, struct trial **out);

/* The compile that makes the cubin; valid as long as the trial. */
struct compile_request trial_request(const struct trial *trial, const struct task *task);

/* Take what the compiler made, and compute what the kernel takes of a multiprocessor; is_over where the compile failed,
 * or where not even one block fits. */
void trial_take(struct trial *trial, const struct task *task, struct compile_result *result);

/* It failed. */
void trial_fail(struct trial *trial, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void trial_free(struct trial *trial);

#endif
