/* trial.h: one variant on its way from a proposal to a result. */
#ifndef SEARCH_VARIANTS_TRIAL_H
#define SEARCH_VARIANTS_TRIAL_H

#include "db/store/store.h"
#include "gpu/workers/compiler.h"
#include "tuner/search/variants/search_space.h"
#include "tuner/search/variants/task.h"

enum { TRIAL_REASON_BYTES = 512 };

/* Start with trial_begin, end with trial_free. It must not move, because a loaded variant points into it. */
struct trial {
  struct proposal proposal;
  const struct template *template;
  struct variant_spec spec;
  struct generated generated;
  struct compiled compiled;        /* without a cubin until trial_take */
  bool is_over;                    /* no device is needed any more: the result says how the trial ended */
  bool is_recalled;                /* the result is an earlier run's */
  int64_t variant;                 /* row in the store */
  double recalled_scale;           /* how slow the GPU was in the earlier run, relative to now */
  long twin_of;                    /* the number of the result whose machine code and launch it has; 0: none */
  bool is_same;                    /* a twin whose source has a row already, its original's or another twin's */
  long again;                      /* the number of the result that this one replaces; 0: none */
  bool is_away;                    /* another GPU runs it, or ran it: nothing is generated here */
  double away_scale;               /* how slow that GPU was, relative to its own beginning */
  bool has_code;                   /* `code` is known without a cubin */
  struct identity code;            /* identity of launch and machine code */
  bool is_stand_in;                /* it gives no result: it replaces the default as the anchor */
  char why[MEASUREMENT_WHY_BYTES]; /* why it was proposed; "" if that is not known */
  struct measurement result;
  char reason[TRIAL_REASON_BYTES];
  float *samples;
};

/* A measurement in which nothing is known yet. */
struct measurement measurement_none(void);

/* Generate the source.
 *   grid  the task's, or another one
 *   out   the caller's. If the template cannot serve the configuration, it is over and has no source; its hash is then
 *         one of the specification
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status trial_begin(const struct task *task, const struct template *template, const struct proposal *proposal,
                            const struct grid *grid, struct trial **out);

/* Begin a trial that another GPU is to run: nothing is generated. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status trial_begin_away(const struct template *template, const struct proposal *proposal, struct trial **out);

/* Find the identity of a trial's launch and machine code. Returns false where there is none. */
bool trial_code(const struct trial *trial, struct identity *out);

/* The request for the cubin. It is valid as long as the trial. */
struct compile_request trial_request(const struct trial *trial, const struct task *task);

/* Take the compiler's result, and compute the kernel's use of a multiprocessor. The trial is over if the compile
 * failed, or if not even one block fits. */
void trial_take(struct trial *trial, const struct task *task, struct compile_result *result);

/* End a trial that failed. The format gives the reason. */
void trial_fail(struct trial *trial, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void trial_free(struct trial *trial);

#endif
