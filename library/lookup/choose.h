/* choose.h: chooses the configuration for a problem without a row of its own. It takes the row with the least predicted
 * time whose rules allow the problem, otherwise a default. */
#ifndef LIBRARY_LOOKUP_CHOOSE_H
#define LIBRARY_LOOKUP_CHOOSE_H

#include "library/lookup/question.h"

struct answer {
  halotune_match match;
  const struct served *row;     /* NULL for a default */
  int template_at;              /* in the catalog */
  bool is_stale;                /* halotune_lookup sets it */
  struct prediction prediction; /* of a launch on this problem and GPU; NaN if nothing was measured */
  struct configuration configuration;
  const char *settled; /* its text in the ctx, where similar_settle changed that of the row; NULL: it is the row's */
  int settled_count;   /* parameters in it */
};

/* Find whether a row of another problem is better than the question's own row, whose run was cut short. The other row
 * must be expected to be faster by more than the prediction's error. It is never worse than the answer before the
 * problem was tuned.
 *   partial  the row of the problem
 *   out      receives the better answer if there is one
 *   found    receives whether there is; false for a row of a whole run, and where no other row can be chosen
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status choose_instead(const struct question *question, const struct served *partial, struct answer *out,
                               bool *found);

/* Choose a configuration.
 * 1. Of the rows of the stencil, in both element types, on GPUs of the architecture, take the one that fits and has the
 *    least predicted time.
 * 2. If none fits, take one of these rows that fits after a change of few parameters.
 * 3. If there is none either, or if the prediction of 1 is doubtful, do the same with the rows of all stencils and
 *    GPUs, in the latter case with those that are surer.
 * 4. Otherwise take the default of the template that wins most often.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if nothing fits; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status choose(const struct question *question, struct answer *out);

/* The candidate that looks best among uncertain ones is mostly overrated. Its predicted time is multiplied by this
 * factor, which the answers of ten samples of random problems gave (bench/results/near-nvidia-h200.md).
 *   error  of the prediction, see struct prediction; NaN gives 1 */
double choose_overrated(double error);

/* A prediction is doubtful from this relative error on. Then rows of other stencils and GPUs are compared, too. */
extern const double choose_doubtful;

#endif
