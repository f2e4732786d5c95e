/* fit.h: finds the coefficients of predictions, and the weights of static costs, that fit a database's own measurements
 * best, and keeps them in it. */
#ifndef LIBRARY_PREDICT_FIT_H
#define LIBRARY_PREDICT_FIT_H

#include "db/store/store.h"
#include "library/predict/predict.h"
#include "library/predict/static_fit.h"

/* What a fit found for a model of GPU. */
struct fit_result {
  const char *device;               /* name of the model */
  long times;                       /* measured times of variants that were measured on several grids */
  long variants;                    /* number of these variants */
  double error_before, error_after; /* median error of a variant's time on one grid from its time on another: with the
                                     * default coefficients, and with the new ones */
  int pairs;                        /* times on two grids that were compared for these errors */
  bool is_kept;                     /* false: too few times, or no sensible coefficients, so that none is stored */
  struct predict_model model;
  struct static_fit costs; /* weights of static costs */
};

/* Fit coefficients and weights for each model of GPU in a database, and store them. Times of an emulation are not used.
 * The coefficients are found by least squares on logarithms of times, among the times of one variant on several grids;
 * fast variants count more. The weights are found among the times of the variants of one problem. This user's earlier
 * ones are removed. Those that a document brought are replaced; they stay if no new ones are kept.
 *   templates  the installed ones, whose formulas give static costs
 *   tell       called for each model
 * Returns HALOTUNE_OK, HALOTUNE_PARSE, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status predict_fit(struct store *store, struct template *const *templates, int template_count,
                            void (*tell)(void *context, const struct fit_result *result), void *context);

#endif
