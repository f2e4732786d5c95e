/* rough.c: the sums of predict_recost() with quick logarithms and powers. */
#include "library/predict/rough.h"

#include "base/numbers/branchless.h"
#include "base/numbers/wide_vectors.h"

const float rough_error = 1e-4F;

INTO_WIDE_VECTORS void compute_costs(const struct predict_model *model, const struct block_terms *restrict terms,
                                     int count, const struct predict_place *place, float launch_ms,
                                     struct rough_costs *restrict out) {
  const double *c = model->coefficients;
  const float fill = (float)c[PREDICT_fill], idle = (float)c[PREDICT_idle], tail = (float)c[PREDICT_tail],
              edge = (float)c[PREDICT_edge], reread = (float)c[PREDICT_reread], common = place->common.factor,
              log_streaming_ms = place->common.log_streaming_ms;
  for (int i = 0; i < count; i++) {
    const float of_wave = pick(terms->fill[i] < 1, -fill, tail); /* one of both terms is 1 */
    const float factor = common + of_wave * rough_log(terms->fill[i] * terms->tail[i]) +
                         idle * terms->of_idle[i] * rough_log(terms->idle[i]) + edge * rough_log(terms->edge[i]) +
                         reread * rough_log(terms->reread[i]);
    const float ms = launch_ms + rough_exp(log_streaming_ms + factor);
    out->factor[i] = factor;
    out->log_ms[i] = rough_log(ms);
    out->launch_share[i] = launch_ms / ms;
    out->log_start[i] = rough_log(launch_ms + terms->dispatch_ms[i]);
  }
}

WITH_WIDE_VECTORS static void compute_costs_wide(const struct predict_model *model,
                                                 const struct block_terms *restrict terms, int count,
                                                 const struct predict_place *place, float launch_ms,
                                                 struct rough_costs *restrict out) {
  compute_costs(model, terms, count, place, launch_ms, out);
}

void rough_costs_of(const struct predict_model *model, const struct shape_columns *shapes, int first, int count,
                    const struct predict_place *place, enum launch_mode mode, struct rough_costs *out) {
  struct block_terms terms;
  block_terms_of(shapes, first, count, place, &terms);
  if (HAS_WIDE_VECTORS) compute_costs_wide(model, &terms, count, place, predict_launch_ms[mode], out);
  else compute_costs(model, &terms, count, place, predict_launch_ms[mode], out);
}
