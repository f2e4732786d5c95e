/* measure.h: the time of one loaded variant, in the search phase. The result steers the search. The finals
 * (tuner/measure/finals/finals.h) decide the winner.
 *
 * 1. Batch: a sample is a batch of applications between two events. It takes at least MEASURE_SAMPLE_US, so that the
 *    resolution of events (about 0.5 us) is at most 0.25 % of it.
 * 2. Warm-up: single samples, at least MEASURE_WARM_SAMPLES, until two in a row agree within 2 %. It ends after
 *    MEASURE_WARM_SAMPLES_MOST samples or 300 ms, because a variant may be noisy for good.
 * 3. Screening: if the minimum of the warm-up is more than 1.15 times the best time, no more samples are taken. The
 *    first samples of a variant are slow for reasons that are not its own; the minimum is the fairest figure that few
 *    samples give. A single sample screens if it is at least MEASURE_SPAN_MS long and more than MEASURE_HOPELESS_RATIO
 *    times the best: no cold start and no disturbance slows such a long sample down so much.
 * 4. Samples: at least 8 over at least 5 ms. Their number is doubled until the 95 % interval is at most 1 % wide, or
 *    begins above 1.08 times the best (the variant cannot get into the finals), or 1 s is spent. Variants within 3 %
 *    of the best enter the finals, so an error of 0.5 % excludes none that could win. If a sample takes more than
 *    MEASURE_LONG_SAMPLE_MS, the sample that found the batch is the first of the warm-up, or the whole warm-up if no
 *    best time is known. The samples of the warm-up then count, and no more samples are begun than fit into 1 s with
 *    them.
 * 5. Clocks are read before 2 and after 4. If a reading tells of a slowdown (steady.h), 2 to 4 are repeated. They are
 *    repeated once, when the clock is steady, if a variant was screened while the clock rose by more than 3 %. Neither
 *    is done for a variant that was screened at more than MEASURE_HOPELESS_RATIO times the best: no state of the GPU
 *    explains that. */
#ifndef MEASURE_SAMPLING_MEASURE_H
#define MEASURE_SAMPLING_MEASURE_H

#include "tuner/measure/backends/backend.h"

enum {
  MEASURE_SAMPLE_US = 200,
  MEASURE_WARM_SAMPLES = 3,
  MEASURE_WARM_SAMPLES_MOST = 32,
  MEASURE_SAMPLES = 8, /* least number of samples */
  MEASURE_SPAN_MS = 5, /* least time of all samples together */
  MEASURE_SPAN_MOST_MS = 1000,
  MEASURE_LONG_SAMPLE_MS = 100, /* three samples of this length are the longest warm-up */
  MEASURE_BATCH_MOST = 4096     /* applications of one sample */
};

/* Ratios to the best time, above which a variant is not measured more closely. */
#define MEASURE_SCREEN_RATIO 1.15
#define MEASURE_CHANCE_RATIO 1.08
#define MEASURE_HOPELESS_RATIO 10

struct measure_request {
  int slot;
  /* Time of the best variant so far, as the GPU is now; see anchor_scale(). 0: there is none, or the measurement is
   * full: no screening, and no early end for slow variants. */
  double best_ms;
};

/* The result. End with measured_free. */
struct measured {
  struct verdict verdict; /* OUTCOME_MEASURED, OUTCOME_SCREENED, or what went wrong */
  struct timing timing;   /* its samples are `samples` below; those of the warm-up if the variant was screened */
  float *samples;
  int batch; /* applications of one sample */
  struct gpu_reading before, after;
  int attempts;   /* 1, and one more for each repetition */
  bool is_marked; /* the GPU was still slowed down at the last attempt */
};

/* Measure a slot. A variant that was measured is rechecked at the end (backend.h). A variant that was screened is not,
 * because its time is not used.
 * Returns HALOTUNE_OK whatever the verdict is; the backend's status if it cannot go on; or HALOTUNE_MEMORY.
 * measured_free(out) is right in each case. Threads: as the backend. */
halotune_status measure_slot(struct backend_handle *backend, const struct measure_request *request,
                             struct measured *out);

void measured_free(struct measured *measured);

/* Find the smallest batch whose sample takes at least `sample_ms`, by trying.
 *   out      receives the batch
 *   time_ms  receives the time of one application, roughly
 *   verdict  receives what went wrong, or OUTCOME_MEASURED */
halotune_status measure_batch(struct backend_handle *backend, int slot, double sample_ms, int *out, double *time_ms,
                              struct verdict *verdict);

/* Time a loaded slot roughly: the shortest of a few samples, or one sample if it is long. An idle GPU gets work first.
 *   slot     loaded, or one that every backend has
 *   time_ms  receives the time of one application; NaN where the variant failed, and the slot is empty then
 * Returns HALOTUNE_OK or what the backend returns. */
halotune_status measure_roughly(struct backend_handle *backend, int slot, double *time_ms);

/* Whether a variant is so much slower than the best that no state of the GPU explains it. */
static inline bool measure_is_hopeless(double time_ms, double best_ms) {
  return best_ms > 0 && time_ms > MEASURE_HOPELESS_RATIO * best_ms;
}

/* The batch for a known time of one application. */
int batch_of(double time_ms, double sample_ms);

#endif
