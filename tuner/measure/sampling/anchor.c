/* anchor.c: keeps the readings of the anchor, and which variants were measured between them. */
#include "tuner/measure/sampling/anchor.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "tuner/measure/sampling/measure.h"
#include "tuner/measure/sampling/statistics.h"
#include "tuner/measure/sampling/steady.h"

enum cover_state { COVER_OPEN, COVER_FINE, COVER_AGAIN, COVER_ASKED, COVER_MARKED };

/* A variant that was measured after reading `reading`. */
struct cover {
  long number;
  int reading, attempts;
  bool is_spoilt;
  enum cover_state state;
};

/* A reading is spoilt if the GPU was slowed down in all of its attempts. */
struct anchor_reading {
  double time_ms;
  bool is_spoilt;
};

struct anchor {
  struct backend_handle *backend;
  struct time_source time;
  int slot, batch;
  int sample_count;    /* samples of a reading */
  double unit;         /* time of the variant in the slot over the time of the first variant */
  bool is_unit_spoilt; /* a slowdown spoilt the reading that gave the unit: the first clean reading gives another one */
  double taken_at_ms, busy_until_ms, period_ms;
  struct anchor_reading *readings;
  int reading_count, reading_capacity;
  struct cover *covers; /* one for each number */
  int cover_count, cover_capacity;
  int spoilt_in_a_row;
};

/* Take the median of some samples, and repeat it if the GPU throttles. */
static halotune_status take_median(struct anchor *anchor, struct anchor_reading *out, struct verdict *verdict) {
  struct backend_handle *backend = anchor->backend;
  const struct sample_plan plan = {
      .slots = &anchor->slot, .batches = &anchor->batch, .slot_count = 1, .rounds = anchor->sample_count + 1};
  double times_ms[ANCHOR_SAMPLES + 1];
  struct gpu_reading before, after;
  int failed, attempts = 0;
  do {
    *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
    halotune_status st = attempts++ > 0 ? steady_pause(backend) : HALOTUNE_OK;
    if (st != HALOTUNE_OK) return st;
    backend->table->read(backend->state, &before); /* a slowdown may begin or end between the samples */
    st = backend->table->sample(backend->state, &plan, times_ms, &failed, verdict);
    if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
    /* The first sample follows other kernels and data: it does not count. */
    out->time_ms = median_of(times_ms + 1, anchor->sample_count) / anchor->unit;
    backend->table->read(backend->state, &after);
    out->is_spoilt = reading_spoils(&before) || reading_spoils(&after);
  } while (out->is_spoilt && attempts <= THROTTLE_REPEATS);
  return HALOTUNE_OK;
}

static bool times_differ(double a, double b) { return fabs(a - b) > ANCHOR_TOLERANCE * fmin(a, b); }

/* Whether the slowdown does not end, so that it is useless to measure again. */
static bool is_slow_for_good(const struct anchor *anchor) { return anchor->spoilt_in_a_row >= ANCHOR_SPOILT_MOST; }

/* Judge the variants that waited for the reading that was just added. */
static void judge_covers(struct anchor *anchor) {
  const int last = anchor->reading_count - 1;
  const bool drifted = last > 0 && times_differ(anchor->readings[last - 1].time_ms, anchor->readings[last].time_ms);
  for (int i = 0; i < anchor->cover_count; i++) {
    struct cover *cover = &anchor->covers[i];
    if (cover->state != COVER_OPEN) continue;
    const bool is_fine = !drifted && !cover->is_spoilt;
    const bool is_worth = cover->attempts < ANCHOR_ATTEMPTS && (drifted || !is_slow_for_good(anchor));
    cover->state = is_fine ? COVER_FINE : is_worth ? COVER_AGAIN : COVER_MARKED;
  }
}

bool anchor_due(const struct anchor *anchor) {
  const double now_ms = time_now_ms(&anchor->time);
  return now_ms - anchor->taken_at_ms >= anchor->period_ms || now_ms - anchor->busy_until_ms > ANCHOR_GAP_MS;
}

/* The time of the nearest reading that is not spoilt, searched in one direction first. If all readings are spoilt, the
 * time of this one. */
static double clean_ms(const struct anchor *anchor, int reading, int direction) {
  for (int turn = 0; turn < 2; turn++, direction = -direction) {
    for (int i = reading; i >= 0 && i < anchor->reading_count; i += direction) {
      if (!anchor->readings[i].is_spoilt) return anchor->readings[i].time_ms;
    }
  }
  return anchor->readings[reading].time_ms;
}

/* Ask for another measurement of the variants that wait for the next reading, because the GPU was not checked after the
 * last reading. */
static void ask_open_again(struct anchor *anchor) {
  for (int i = 0; i < anchor->cover_count; i++) {
    struct cover *cover = &anchor->covers[i];
    if (cover->state == COVER_OPEN) cover->state = cover->attempts < ANCHOR_ATTEMPTS ? COVER_AGAIN : COVER_MARKED;
  }
}

/* Let the first clean reading of another variant count as equal to the last clean one of the variant before it.
 *   reading  receives that time */
static void correct_unit(struct anchor *anchor, struct anchor_reading *reading) {
  const double last_ms = clean_ms(anchor, anchor->reading_count - 1, -1);
  anchor->unit *= reading->time_ms / last_ms;
  anchor->is_unit_spoilt = false;
  reading->time_ms = last_ms;
  ask_open_again(anchor);
}

halotune_status anchor_take(struct anchor *anchor, struct verdict *verdict) {
  struct anchor_reading reading = {0};
  halotune_status st;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (time_now_ms(&anchor->time) - anchor->busy_until_ms > ANCHOR_GAP_MS &&
      (st = steady_wait(anchor->backend)) != HALOTUNE_OK) {
    return st;
  }
  st = take_median(anchor, &reading, verdict);
  anchor_busy(anchor);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
  if (anchor->is_unit_spoilt && !reading.is_spoilt) correct_unit(anchor, &reading);

  struct anchor_reading *grown =
      array_grow(anchor->readings, anchor->reading_count, &anchor->reading_capacity, sizeof *grown);
  if (!grown) return fail_memory();
  anchor->readings = grown;
  anchor->readings[anchor->reading_count++] = reading;
  anchor->taken_at_ms = time_now_ms(&anchor->time);
  judge_covers(anchor);
  return HALOTUNE_OK;
}

void anchor_busy(struct anchor *anchor) { anchor->busy_until_ms = time_now_ms(&anchor->time); }

void anchor_busy_until(struct anchor *anchor, double end_ms) {
  anchor->busy_until_ms = fmax(anchor->busy_until_ms, end_ms);
}

static struct cover *cover_find(const struct anchor *anchor, long number) {
  for (int i = anchor->cover_count - 1; i >= 0; i--) { /* usually one of the newest is wanted */
    if (anchor->covers[i].number == number) return &anchor->covers[i];
  }
  return NULL;
}

halotune_status anchor_cover(struct anchor *anchor, long number, bool is_spoilt) {
  struct cover *cover = cover_find(anchor, number);
  if (!cover) {
    struct cover *grown = array_grow(anchor->covers, anchor->cover_count, &anchor->cover_capacity, sizeof *grown);
    if (!grown) return fail_memory();
    anchor->covers = grown;
    cover = &anchor->covers[anchor->cover_count++];
    *cover = (struct cover){.number = number};
  }
  cover->reading = anchor->reading_count - 1;
  cover->attempts++;
  cover->state = COVER_OPEN;
  cover->is_spoilt = is_spoilt;
  anchor->spoilt_in_a_row = is_spoilt ? anchor->spoilt_in_a_row + 1 : 0;
  return HALOTUNE_OK;
}

long anchor_next_again(struct anchor *anchor) {
  for (int i = 0; i < anchor->cover_count; i++) {
    if (anchor->covers[i].state != COVER_AGAIN) continue;
    anchor->covers[i].state = COVER_ASKED;
    return anchor->covers[i].number;
  }
  return 0;
}

int anchor_attempts(const struct anchor *anchor, long number) {
  const struct cover *cover = cover_find(anchor, number);
  return cover ? cover->attempts : 0;
}

/* A variant that waits to be measured again is doubtful, too. */
bool anchor_is_marked(const struct anchor *anchor, long number) {
  const struct cover *cover = cover_find(anchor, number);
  return cover && (cover->state == COVER_AGAIN || cover->state == COVER_ASKED || cover->state == COVER_MARKED);
}

double anchor_scale(const struct anchor *anchor, long number) {
  const struct cover *cover = number ? cover_find(anchor, number) : NULL;
  const int last = anchor->reading_count - 1;
  const int before = cover ? cover->reading : last, after = before < last ? before + 1 : last;
  return 0.5 * (clean_ms(anchor, before, -1) + clean_ms(anchor, after, 1)) / clean_ms(anchor, 0, 1);
}

double anchor_time_ms(const struct anchor *anchor) { return anchor->readings[anchor->reading_count - 1].time_ms; }

double anchor_own_ms(const struct anchor *anchor) { return anchor_time_ms(anchor) * anchor->unit; }

static int samples_of(double sample_ms) {
  const double fitting = fmin(floor(ANCHOR_READING_MS / sample_ms), ANCHOR_SAMPLES);
  return (int)fmax(fitting, ANCHOR_SAMPLES_LEAST);
}

double anchor_period_ms(double sample_ms) {
  return fmax(ANCHOR_PERIOD_MS, ANCHOR_PERIOD_READINGS * (samples_of(sample_ms) + 1) * sample_ms);
}

static void plan_readings(struct anchor *anchor, double sample_ms) {
  anchor->sample_count = samples_of(sample_ms);
  anchor->period_ms = anchor_period_ms(sample_ms);
}

/* Find the batch of the variant in the slot. The GPU may have been idle before. */
static halotune_status find_batch(struct anchor *anchor, struct verdict *verdict) {
  double time_ms;
  halotune_status st = steady_wait(anchor->backend);
  if (st != HALOTUNE_OK) return st;
  st = measure_batch(anchor->backend, anchor->slot, MEASURE_SAMPLE_US / 1e3, &anchor->batch, &time_ms, verdict);
  anchor_busy(anchor);
  anchor->unit = 1;
  if (st == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) plan_readings(anchor, time_ms * anchor->batch);
  return st;
}

halotune_status anchor_replace(struct anchor *anchor, struct verdict *verdict) {
  struct anchor_reading reading = {0};
  halotune_status st = find_batch(anchor, verdict);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
  st = take_median(anchor, &reading, verdict);
  anchor_busy(anchor);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
  anchor->unit = reading.time_ms / clean_ms(anchor, anchor->reading_count - 1, -1);
  anchor->is_unit_spoilt = reading.is_spoilt;
  anchor->taken_at_ms = time_now_ms(&anchor->time);
  ask_open_again(anchor);
  return HALOTUNE_OK;
}

halotune_status anchor_make(struct backend_handle *backend, int slot, const struct time_source *time,
                            struct verdict *verdict, struct anchor **out) {
  struct anchor *anchor = calloc(1, sizeof *anchor);
  halotune_status st;
  *out = NULL;
  if (!anchor) return fail_memory();
  anchor->backend = backend;
  anchor->slot = slot;
  anchor->time = *time;
  st = find_batch(anchor, verdict);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) goto done;
  st = anchor_take(anchor, verdict);
  if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) goto done;
  *out = anchor;
  return HALOTUNE_OK;
done:
  anchor_free(anchor);
  return st;
}

void anchor_free(struct anchor *anchor) {
  if (!anchor) return;
  free(anchor->readings);
  free(anchor->covers);
  free(anchor);
}
