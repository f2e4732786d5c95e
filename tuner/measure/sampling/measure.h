/* measure.h: the time of one loaded variant, in the search phase. The result steers the search; it decides no
 * winner, which tuner/measure/finals/finals.h does.
 *
 * 1. Batch: as many applications between two events as take MEASURE_SAMPLE_US, so that the events' resolution (about
 *    0.5 us) is 0.25 % of a sample at most.
 * 2. Warm-up: single samples, at least MEASURE_WARM_SAMPLES, until two that follow each other agree within 2 %; at
 *    most MEASURE_WARM_SAMPLES_MOST samples or 300 ms, since a variant may be noisy for good.
 * 3. Screening: where the warm-up's minimum is more than 1.15 times the best time, that is all. The first samples of
 *    a variant are slow for reasons that are not its own; the minimum of several is the fairest that few samples
 *    give. But where the sample that found the batch is MEASURE_SPAN_MS long at least, and more than
 *    MEASURE_HOPELESS_RATIO times the best, it alone screens: no cold start and no disturbance does that to one so
 *    long.
 * 4. Samples: at least 8 over at least 5 ms, then twice as many again and again until the 95 % interval is at most
 *    1 % wide, or begins above 1.08 times the best (it cannot get into the finals), or 1 s is spent. 1 % is a third of
 *    the 3 % by which finals are entered: an error of half of that leaves no variant out that belongs there. Where a
 *    sample takes more than MEASURE_LONG_SAMPLE_MS, that which found the batch is the first of the warm-up, or all
 *    of it where no best time is known; and these count: no more are begun than fit in 1 s with them.
 * 5. Readings of clocks before 2 and after 4. Where a reading tells of a slowdown (steady.h), 2 to 4
 *    are repeated; and once, when the clock is steady, where a variant was screened while the clock rose by more
 *    than 3 %. Neither is done where it was screened at more than MEASURE_HOPELESS_RATIO times the best, however long
 *    its samples are: no state of the GPU explains that. */
#ifndef MEASURE_SAMPLING_MEASURE_H
#define MEASURE_SAMPLING_MEASURE_H

#include "tuner/measure/backends/backend.h"

enum {
  MEASURE_SAMPLE_US = 200,
  MEASURE_WARM_SAMPLES = 3,
  MEASURE_WARM_SAMPLES_MOST = 32,
  MEASURE_SAMPLES = 8, /* at least */
  MEASURE_SPAN_MS = 5, /* all samples together, at least */
  MEASURE_SPAN_MOST_MS = 1000,
  MEASURE_LONG_SAMPLE_MS = 100, /* three of them are the longest warm-up */
  MEASURE_BATCH_MOST = 4096     /* applications of one sample */
};

/* Times above these, relative to the best, are not looked at more closely. */
#define MEASURE_SCREEN_RATIO 1.15
#define MEASURE_CHANCE_RATIO 1.08
#define MEASURE_HOPELESS_RATIO 10

struct measure_request {
  int slot;
  double best_ms; /* of the best variant so far, by the GPU's present state: see anchor_scale(); 0: none */
  bool is_full;   /* no screening, and no early end for what is slow */
  /* For the samples of 4; 0: MEASURE_SPAN_MOST_MS. It wins over the 8 samples; 3 are always taken, but of long ones. */
  double limit_ms;
};

/* What came of it. End with measured_free. */
struct measured {
  struct verdict verdict; /* OUTCOME_MEASURED, OUTCOME_SCREENED, or what went wrong */
  struct timing timing;   /* samples: points to `samples` below; those of the warm-up for a variant that was screened */
  float *samples;
  int batch; /* applications of one sample */
  struct gpu_reading before, after;
  int attempts;   /* 1, and one more for each repetition */
  bool is_marked; /* still slowed down at the last attempt */
};

/* Measure a slot. A variant that was measured is rechecked at the end (backend.h); one that was screened is not,
 * since nothing will come of its time.
 * Returns HALOTUNE_OK whatever the verdict; the backend's status where it cannot go on; HALOTUNE_MEMORY. In each case
 * measured_free(out) is right. Threads: as the backend. */
halotune_status measure_slot(struct backend_handle *backend, const struct measure_request *request,
                             struct measured *out);

void measured_free(struct measured *measured);

/* The smallest batch whose sample takes at least `sample_ms`, found by trying.
 *   out      receives it
 *   time_ms  receives about the time of one application
 *   verdict  what went wrong, or OUTCOME_MEASURED */
halotune_status measure_batch(struct backend_handle *backend, int slot, double sample_ms, int *out, double *time_ms,
                              struct verdict *verdict);

/* Time a loaded slot roughly: the shortest of a few samples, or one sample if it is long. An idle GPU gets work first.
 *   slot     loaded, or one that every backend has
 *   time_ms  receives the time of one application; NaN where the variant failed, and the slot is empty then
 * Returns HALOTUNE_OK or what the backend returns. */
halotune_status measure_roughly(struct backend_handle *backend, int slot, double *time_ms);

/* Whether a variant of this time is so much slower than the best that no state of the GPU explains it. */
static inline bool measure_is_hopeless(double time_ms, double best_ms) {
  return best_ms > 0 && time_ms > MEASURE_HOPELESS_RATIO * best_ms;
}

/* The batch for a time that is known. */
int batch_of(double time_ms, double sample_ms);

#endif
