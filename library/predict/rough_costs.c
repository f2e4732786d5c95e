/* rough_costs.c: the sums of predict_recost() with quick logarithms and powers. */
#include "library/predict/rough_costs.h"

#include "base/numbers/branchless.h"
#include "base/numbers/wide_vectors.h"

const float rough_error = 1e-4F;

INTO_WIDE_VECTORS void compute_costs(const struct predict_model *model, const struct block_terms *terms, int count,
                                     const struct predict_place *place, float launch_ms,
                                     struct rough_costs *restrict out) {
  const double *c = model->coefficients;
  const float fill = (float)c[PREDICT_fill], idle = (float)c[PREDICT_idle], tail = (float)c[PREDICT_tail],
              edge = (float)c[PREDICT_edge], reread = (float)c[PREDICT_reread], common = place->common.factor,
              log_streaming_ms = place->common.log_streaming_ms;
  for (int first = 0; first < count; first += WIDE_LANES) {
    const struct block_terms *t = &terms[first / WIDE_LANES];
    for (int i = 0; i < WIDE_LANES; i++) {
      const float of_wave = pick(t->fill[i] < 1, -fill, tail); /* one of both terms is 1 */
      const float log_waves = rough_log(t->fill[i] * t->tail[i]);
      const float factor = common + of_wave * log_waves + idle * t->of_idle[i] * rough_log(t->idle[i]) +
                           edge * rough_log(t->edge[i]) + reread * rough_log(t->reread[i]);
      const float ms = launch_ms + rough_exp(log_streaming_ms + factor);
      out->factor[first + i] = factor;
      out->fill[first + i] = pick(t->fill[i] < 1, -log_waves, 0);
      out->log_ms[first + i] = rough_log(ms);
      out->launch_share[first + i] = launch_ms / ms;
      out->log_start[first + i] = rough_log(launch_ms + t->dispatch_ms[i]);
    }
  }
}

WITH_WIDE_VECTORS static void compute_costs_wide(const struct predict_model *model, const struct block_terms *terms,
                                                 int count, const struct predict_place *place, float launch_ms,
                                                 struct rough_costs *restrict out) {
  compute_costs(model, terms, count, place, launch_ms, out);
}

void rough_costs_of(const struct predict_model *model, const struct block_terms *terms, int count,
                    const struct predict_place *place, enum launch_mode mode, struct rough_costs *out) {
  if (HAS_WIDE_VECTORS) compute_costs_wide(model, terms, count, place, predict_launch_ms[mode], out);
  else compute_costs(model, terms, count, place, predict_launch_ms[mode], out);
}
