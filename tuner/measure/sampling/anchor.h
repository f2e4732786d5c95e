/* anchor.h: what tells that the GPU itself has changed. One variant, the default or one that takes its place, stays loaded and is timed again
 * and again: every ANCHOR_PERIOD_MS, and after each gap in the GPU's work. Every measured variant so lies between
 * two readings of the anchor. Where they differ by more than 1 %, what lies between them has to be measured again,
 * at most ANCHOR_ATTEMPTS times in all, then it is marked. Where the GPU changes slowly, anchor_scale() says by how
 * much, so that early and late times can be compared.
 *
 * The search's loop:
 *   if (anchor_due(a)) anchor_take(a, &verdict);
 *   while ((number = anchor_next_again(a)) != 0) ... variants to measure once more
 *   load, measure_slot(), then anchor_busy(a); anchor_cover(a, number, measured.is_marked);
 * and at its end, anchor_take() once more. Threads: as the backend. */
#ifndef MEASURE_SAMPLING_ANCHOR_H
#define MEASURE_SAMPLING_ANCHOR_H

#include "base/clock.h"
#include "tuner/measure/backends/backend.h"

enum {
  ANCHOR_PERIOD_MS = 2000, /* or ANCHOR_PERIOD_READINGS times what a reading takes, if that is longer */
  ANCHOR_PERIOD_READINGS = 20,
  ANCHOR_GAP_MS = 50,  /* without work, the GPU lowers its clocks */
  ANCHOR_ATTEMPTS = 3, /* measurements of one variant */
  ANCHOR_SAMPLES = 7,  /* of one reading, which is their median; fewer where they would take more than */
  ANCHOR_READING_MS = 100,
  ANCHOR_SAMPLES_LEAST = 3,
  ANCHOR_SLOW_MS = 10,    /* see anchor_is_slow */
  ANCHOR_SPOILT_MOST = 16 /* so many spoilt measurements in a row, and spoilt ones are no longer repeated */
};

/* Two readings that differ by more than this part of the smaller one say that the GPU has changed. */
#define ANCHOR_TOLERANCE 0.01

/* An anchor need not be slow to be steady. One that takes more than ANCHOR_SLOW_MS, and more than this times the
 * best, is too slow: it takes time from the search, and says no more than a faster one. */
#define ANCHOR_SLOW_RATIO 5

/* Whether a variant is too slow for an anchor.
 *   time_ms  of one application of it
 *   best_ms  of the fastest variant so far */
static inline bool anchor_is_slow(double time_ms, double best_ms) {
  return time_ms > ANCHOR_SLOW_MS && time_ms > ANCHOR_SLOW_RATIO * best_ms;
}

/* From one reading to the next, for an anchor whose samples take so long. */
double anchor_period_ms(double sample_ms);

struct anchor; /* one for each problem */

/* Find the anchor's batch, and take the first reading.
 *   backend  must live as long as the anchor
 *   slot     of the default variant, loaded; it must stay so
 *   verdict  what went wrong with the variant, or OUTCOME_MEASURED; where it is something else there is no anchor
 *   out      the caller's, ended with anchor_free; NULL on failure and where the verdict is not OUTCOME_MEASURED
 * Returns HALOTUNE_OK, the backend's status, or HALOTUNE_MEMORY. */
halotune_status anchor_make(struct backend_handle *backend, int slot, const struct time_source *time,
                            struct verdict *verdict, struct anchor **out);
void anchor_free(struct anchor *anchor);

/* Whether a reading has to be taken before the next variant is measured. */
bool anchor_due(const struct anchor *anchor);

/* Take a reading: after a gap, work first until the SM clock is steady (steady.h); one sample that does not count,
 * then the median of ANCHOR_SAMPLES; repeated where the GPU throttles. What was measured since the reading before is
 * now judged.
 *   verdict  what went wrong with the anchor itself, or OUTCOME_MEASURED. Then there is no reading; the variants
 *            that wait for one keep waiting. Load the slot again and take another, or load another variant there and call
 *            anchor_replace. */
halotune_status anchor_take(struct anchor *anchor, struct verdict *verdict);

/* Go on with another variant, which is in the slot now, where the one before failed or was too slow. Its time stands
 * for the last reading: what the GPU changed since then is not seen, so that what was measured meanwhile has to be
 * measured again.
 *   verdict  what went wrong with it, or OUTCOME_MEASURED. Then there is still no variant to go on with. */
halotune_status anchor_replace(struct anchor *anchor, struct verdict *verdict);

/* The GPU has just done some work: no gap yet. */
void anchor_busy(struct anchor *anchor);

/* A variant was measured since the last reading. Covering a number again counts as its next attempt.
 *   number     the variant's, above 0
 *   is_spoilt  measured.is_marked: the GPU was slowed down all the time. Later, it may not be: the variant has to be
 *              measured again even if the readings agree
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status anchor_cover(struct anchor *anchor, long number, bool is_spoilt);

/* The number of a variant that has to be measured again, each once; 0 for none. */
long anchor_next_again(struct anchor *anchor);

/* How often a variant was measured, and whether its last time is doubtful: the readings around it differ, or it is
 * spoilt. 0 and false for unknown ones. */
int anchor_attempts(const struct anchor *anchor, long number);
bool anchor_is_marked(const struct anchor *anchor, long number);

/* How slow the GPU was when this variant was measured: the mean of the readings around it over the first one;
 * readings that a slowdown spoilt are replaced by their neighbours. 1.02: 2 % slower. Divide a time by it to compare
 * it with others of the session; and what
 * measure_slot() is given as the best time is the best of such quotients, times the scale of now. Number 0, or one that no reading follows yet: by the last reading. */
double anchor_scale(const struct anchor *anchor, long number);

/* The last reading, ms; as the first variant would have it, where another one has taken its place. */
double anchor_time_ms(const struct anchor *anchor);

/* The same as the variant in the slot has it. */
double anchor_own_ms(const struct anchor *anchor);

#endif
