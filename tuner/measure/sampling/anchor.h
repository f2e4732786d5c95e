/* anchor.h: tells whether the GPU itself has changed. One variant, the default or one in its place, stays loaded and is
 * timed again and again: every ANCHOR_PERIOD_MS, and after each gap in the GPU's work. Each measured variant thus lies
 * between two readings of the anchor. If the readings differ by more than 1 %, the variants between them have to be
 * measured again, at most ANCHOR_ATTEMPTS times in all; then they are marked. If the GPU changes slowly, anchor_scale()
 * says by how much, so that early and late times can be compared.
 *
 * The search's loop:
 *   if (anchor_due(a)) anchor_take(a, &verdict);
 *   while ((number = anchor_next_again(a)) != 0) ... variants to measure once more
 *   load, measure_slot(), then anchor_busy(a); anchor_cover(a, number, measured.is_marked);
 * and at its end, anchor_take() once more. Threads: as the backend. */
#ifndef MEASURE_SAMPLING_ANCHOR_H
#define MEASURE_SAMPLING_ANCHOR_H

#include "base/system/clock.h"
#include "tuner/measure/backends/backend.h"

enum {
  ANCHOR_PERIOD_MS = 2000, /* or ANCHOR_PERIOD_READINGS times the length of a reading if that is longer */
  ANCHOR_PERIOD_READINGS = 20,
  ANCHOR_GAP_MS = 50,  /* after such a gap without work, the GPU has lowered its clocks */
  ANCHOR_ATTEMPTS = 3, /* measurements of one variant */
  ANCHOR_SAMPLES = 7,  /* a reading is the median of so many samples; fewer if they take more than ANCHOR_READING_MS */
  ANCHOR_READING_MS = 100,
  ANCHOR_SAMPLES_LEAST = 3,
  ANCHOR_SLOW_MS = 10,    /* see anchor_is_slow */
  ANCHOR_SPOILT_MOST = 16 /* after so many spoilt measurements in a row, spoilt ones are no longer repeated */
};

/* If two readings differ by more than this part of the smaller one, the GPU has changed. */
#define ANCHOR_TOLERANCE 0.01

/* An anchor that takes more than ANCHOR_SLOW_MS, and more than this times the best, is too slow: it takes time from
 * the search, and a faster one tells as much. */
#define ANCHOR_SLOW_RATIO 5

/* Whether a variant is too slow for an anchor.
 *   time_ms  time of one application of it
 *   best_ms  time of the fastest variant so far */
static inline bool anchor_is_slow(double time_ms, double best_ms) {
  return time_ms > ANCHOR_SLOW_MS && time_ms > ANCHOR_SLOW_RATIO * best_ms;
}

/* The time from one reading to the next, for an anchor whose samples take this long. */
double anchor_period_ms(double sample_ms);

struct anchor; /* each problem has its own anchor */

/* Find the anchor's batch, and take the first reading.
 *   backend  must live as long as the anchor
 *   slot     of the anchor's variant, which must stay loaded
 *   verdict  receives what went wrong with the variant, or OUTCOME_MEASURED
 *   out      ended with anchor_free; NULL on failure, and if the verdict is not OUTCOME_MEASURED
 * Returns HALOTUNE_OK, the backend's status, or HALOTUNE_MEMORY. */
halotune_status anchor_make(struct backend_handle *backend, int slot, const struct time_source *time,
                            struct verdict *verdict, struct anchor **out);
void anchor_free(struct anchor *anchor);

/* Whether a reading has to be taken before the next variant is measured. */
bool anchor_due(const struct anchor *anchor);

/* Take a reading, which judges the variants that were measured since the reading before. After a gap, the GPU works
 * first until the SM clock is steady (steady.h). A reading is one sample that does not count, then the median of
 * ANCHOR_SAMPLES. It is repeated if the GPU throttles.
 *   verdict  receives OUTCOME_MEASURED; or what went wrong with the anchor itself. Then there is no reading, and the
 *            variants that wait for one keep waiting: load the slot again and take another reading, or load another
 *            variant and call anchor_replace */
halotune_status anchor_take(struct anchor *anchor, struct verdict *verdict);

/* Continue with another variant, which is in the slot now, because the earlier one failed or was too slow. Its time
 * counts as equal to the last reading. A change of the GPU since that reading is not seen, so that variants that were
 * measured since then have to be measured again. If a slowdown spoils this time, then both sentences hold for the first
 * time of the variant in anchor_take without a slowdown.
 *   verdict  receives OUTCOME_MEASURED; or what went wrong with the variant. Then there is still no anchor */
halotune_status anchor_replace(struct anchor *anchor, struct verdict *verdict);

/* Note that the GPU has just done some work, so no gap has begun. */
void anchor_busy(struct anchor *anchor);

/* Note work that ended earlier. A gap began then, unless the GPU worked later.
 *   end_ms  on the anchor's clock; 0 for no work */
void anchor_busy_until(struct anchor *anchor, double end_ms);

/* Note that a variant was measured since the last reading. A number that is covered again counts as its next attempt.
 *   number     number of the variant, above 0
 *   is_spoilt  measured.is_marked: the GPU was slowed down all the time. The variant has to be measured again even if
 *              the readings agree, because the slowdown may end
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status anchor_cover(struct anchor *anchor, long number, bool is_spoilt);

/* The number of a variant that has to be measured again; 0 for none. Each number is returned once. */
long anchor_next_again(struct anchor *anchor);

/* How often a variant was measured; and whether its last time is doubtful: the readings around it differ, or it is
 * spoilt. 0 and false for unknown numbers. */
int anchor_attempts(const struct anchor *anchor, long number);
bool anchor_is_marked(const struct anchor *anchor, long number);

/* How slow the GPU was when this variant was measured: the mean of the readings around it over the first reading. 1.02
 * is 2 % slower. A reading that a slowdown spoilt is replaced by its neighbour. Divide a time by its scale to compare
 * it with other times of the session. The best time for measure_slot() is the smallest of such quotients times the
 * scale of now.
 *   number  0, or one that no reading follows yet: the scale by the last reading */
double anchor_scale(const struct anchor *anchor, long number);

/* The last reading. If another variant has replaced the first one, the time that the first one would have now. */
double anchor_time_ms(const struct anchor *anchor);

/* The last reading of the variant in the slot. */
double anchor_own_ms(const struct anchor *anchor);

#endif
