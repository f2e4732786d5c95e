/* measure.c: finds the batch, warms up, screens, and takes samples. */
#include "tuner/measure/sampling/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "tuner/measure/sampling/statistics.h"
#include "tuner/measure/sampling/steady.h"

#define WARM_AGREEMENT 0.02
#define WARM_MOST_MS 300.0
#define NARROW_WIDTH 0.01
#define RISING_CLOCK 1.03
enum { BATCH_TRIES = 8 };

/* The samples of one variant, and room to sort them in. */
struct samples {
  double *times_ms, *sorted;
  int count, capacity, sorted_capacity;
};

static void samples_free(struct samples *samples) {
  free(samples->times_ms);
  free(samples->sorted);
}

static halotune_status samples_reserve(struct samples *samples, int count) {
  double *times_ms = array_reserve(samples->times_ms, count, &samples->capacity, sizeof *times_ms);
  if (times_ms) samples->times_ms = times_ms;
  double *sorted = array_reserve(samples->sorted, count, &samples->sorted_capacity, sizeof *sorted);
  if (sorted) samples->sorted = sorted;
  return times_ms && sorted ? HALOTUNE_OK : fail_memory();
}

static struct summary samples_summary(const struct samples *samples) {
  for (int i = 0; i < samples->count; i++) samples->sorted[i] = samples->times_ms[i];
  return summary_of(samples->sorted, samples->count);
}

/* Take more samples of one slot. */
static halotune_status take_samples(struct backend_handle *backend, int slot, int batch, int more,
                                    struct samples *samples, struct verdict *verdict) {
  const struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = more};
  int failed = slot;
  halotune_status st = samples_reserve(samples, samples->count + more);
  if (st == HALOTUNE_OK) {
    st = backend->table->sample(backend->state, &plan, samples->times_ms + samples->count, &failed, verdict);
  }
  if (st == HALOTUNE_OK && verdict->outcome == OUTCOME_MEASURED) samples->count += more;
  return st;
}

int batch_of(double time_ms, double sample_ms) {
  if (!(time_ms > 0)) return MEASURE_BATCH_MOST;
  return (int)fmin(fmax(ceil(sample_ms / time_ms), 1), MEASURE_BATCH_MOST);
}

halotune_status measure_batch(struct backend_handle *backend, int slot, double sample_ms, int *out, double *time_ms,
                              struct verdict *verdict) {
  struct samples samples = {0};
  halotune_status st = HALOTUNE_OK;
  int batch = 1;
  double ms = 0;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  /* The first launches cost more than those that follow, so that the first guess is too small. */
  for (int i = 0; i < BATCH_TRIES; i++) {
    samples.count = 0;
    if ((st = take_samples(backend, slot, batch, 1, &samples, verdict)) != HALOTUNE_OK) goto done;
    if (verdict->outcome != OUTCOME_MEASURED) goto done;
    ms = samples.times_ms[0];
    if (ms * batch >= sample_ms || batch == MEASURE_BATCH_MOST) break;
    const int wanted = batch_of(ms, 1.05 * sample_ms); /* a little more, so that noise does not ask for another try */
    batch = wanted > batch ? wanted : batch + 1;
  }
  *out = batch;
  *time_ms = ms;
done:
  samples_free(&samples);
  return st;
}

/* Take samples one by one until two in a row agree. */
static halotune_status warm_up(struct backend_handle *backend, int slot, int batch, struct samples *samples,
                               struct verdict *verdict) {
  double spent_ms = 0;
  for (;;) {
    halotune_status st = take_samples(backend, slot, batch, 1, samples, verdict);
    if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
    const int count = samples->count;
    const double last_ms = samples->times_ms[count - 1];
    spent_ms += last_ms * batch;
    if (count < MEASURE_WARM_SAMPLES) continue;
    if (fabs(last_ms - samples->times_ms[count - 2]) <= WARM_AGREEMENT * last_ms) return HALOTUNE_OK;
    if (count >= MEASURE_WARM_SAMPLES_MOST || spent_ms >= WARM_MOST_MS) return HALOTUNE_OK;
  }
}

static bool is_enough(const struct summary *times, const struct measure_request *request) {
  if (times->high - times->low <= NARROW_WIDTH * times->median) return true;
  return request->best_ms > 0 && times->low > MEASURE_CHANCE_RATIO * request->best_ms;
}

/* Take samples until their median is known well enough.
 *   is_long  samples are so long that those of the warm-up count, too */
static halotune_status sample_fully(struct backend_handle *backend, const struct measure_request *request, int batch,
                                    bool is_long, double time_ms, struct samples *samples, struct verdict *verdict) {
  const double sample_ms =
      fmax(time_ms * batch, MEASURE_SAMPLE_US / 1e3); /* a time that is too short for the clock is 0 */
  const int fitting = (int)floor(MEASURE_SPAN_MOST_MS / sample_ms);
  const int most = is_long || fitting > MEASURE_WARM_SAMPLES ? fitting : MEASURE_WARM_SAMPLES;
  int more = (int)fmin(fmax(MEASURE_SAMPLES, ceil(MEASURE_SPAN_MS / sample_ms)), most);
  if (!is_long) samples->count = 0;
  more -= samples->count;
  while (more > 0) {
    halotune_status st = take_samples(backend, request->slot, batch, more, samples, verdict);
    if (st != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) return st;
    const struct summary times = samples_summary(samples);
    if (is_enough(&times, request)) return HALOTUNE_OK;
    more = samples->count < most - samples->count ? samples->count : most - samples->count;
  }
  return HALOTUNE_OK;
}

/* Whether one sample is enough to screen the variant. A short sample is not: another process's turn on the GPU, which
 * lasts some milliseconds, may have slowed it down. */
static bool is_hopeless(const struct measure_request *request, double time_ms, int batch) {
  return time_ms * batch >= MEASURE_SPAN_MS && measure_is_hopeless(time_ms, request->best_ms);
}

/* Use the sample that found the batch in place of a warm-up. Take two more if they are needed to screen.
 *   first_ms  time of an application in that sample */
static halotune_status start_with(struct backend_handle *backend, const struct measure_request *request, int batch,
                                  double first_ms, struct samples *samples, struct verdict *verdict) {
  const int more = request->best_ms > 0 && !is_hopeless(request, first_ms, batch) ? MEASURE_WARM_SAMPLES - 1 : 0;
  halotune_status st = samples_reserve(samples, 1);
  if (st != HALOTUNE_OK) return st;
  samples->times_ms[0] = first_ms;
  samples->count = 1;
  return more > 0 ? take_samples(backend, request->slot, batch, more, samples, verdict) : HALOTUNE_OK;
}

/* Measure once, from the batch to the samples, between two readings of the clocks. */
static halotune_status attempt_measurement(struct backend_handle *backend, const struct measure_request *request,
                                           struct samples *samples, struct measured *out) {
  double time_ms;
  halotune_status st;
  samples->count = 0;
  out->verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  backend->table->read(backend->state, &out->before);
  st = measure_batch(backend, request->slot, MEASURE_SAMPLE_US / 1e3, &out->batch, &time_ms, &out->verdict);
  if (st != HALOTUNE_OK || out->verdict.outcome != OUTCOME_MEASURED) goto done;
  const bool is_long = time_ms * out->batch > MEASURE_LONG_SAMPLE_MS;
  st = is_long || is_hopeless(request, time_ms, out->batch)
           ? start_with(backend, request, out->batch, time_ms, samples, &out->verdict)
           : warm_up(backend, request->slot, out->batch, samples, &out->verdict);
  if (st != HALOTUNE_OK || out->verdict.outcome != OUTCOME_MEASURED) goto done;
  time_ms = samples_summary(samples).minimum;
  if (request->best_ms > 0 && time_ms > MEASURE_SCREEN_RATIO * request->best_ms) {
    out->verdict.outcome = OUTCOME_SCREENED;
    goto done;
  }
  /* The variant may be faster now than when its batch was found. */
  if (time_ms * out->batch < MEASURE_SAMPLE_US / 1e3) out->batch = batch_of(time_ms, MEASURE_SAMPLE_US / 1e3);
  st = sample_fully(backend, request, out->batch, is_long, time_ms, samples, &out->verdict);
done:
  if (st == HALOTUNE_OK) backend->table->read(backend->state, &out->after);
  return st;
}

/* Whether the variant was screened while the clock was rising. Its samples may agree nevertheless, because the clock
 * rises little from one sample to the next. */
static bool is_cold(const struct measured *measured) {
  return measured->verdict.outcome == OUTCOME_SCREENED && measured->before.sm_mhz > 0 &&
         measured->after.sm_mhz > RISING_CLOCK * measured->before.sm_mhz;
}

halotune_status measure_slot(struct backend_handle *backend, const struct measure_request *request,
                             struct measured *out) {
  struct samples samples = {0};
  bool was_cold = false;
  halotune_status st;
  *out = (struct measured){0};
  for (;;) {
    out->attempts++;
    if ((st = attempt_measurement(backend, request, &samples, out)) != HALOTUNE_OK) goto done;
    if (!outcome_has_time(out->verdict.outcome)) goto done;
    out->is_marked = reading_spoils(&out->before) || reading_spoils(&out->after);
    const bool is_screened = out->verdict.outcome == OUTCOME_SCREENED;
    if (is_screened && measure_is_hopeless(samples_summary(&samples).minimum, request->best_ms)) break;
    if (out->is_marked && out->attempts <= THROTTLE_REPEATS) {
      st = steady_pause(backend);
    } else if (is_cold(out) && !was_cold) {
      was_cold = true;
      st = steady_wait(backend);
    } else {
      break;
    }
    if (st != HALOTUNE_OK) goto done;
  }

  if (out->verdict.outcome == OUTCOME_MEASURED) {
    if ((st = backend->table->recheck(backend->state, request->slot, &out->verdict)) != HALOTUNE_OK) goto done;
    if (out->verdict.outcome != OUTCOME_MEASURED) goto done; /* a wrong result has no time */
  }
  if (!(out->samples = calloc((size_t)samples.count + 1, sizeof *out->samples))) {
    st = fail_memory();
    goto done;
  }
  for (int i = 0; i < samples.count; i++) out->samples[i] = (float)samples.times_ms[i];
  const struct summary times = samples_summary(&samples);
  const bool is_constant = backend_is_constant(backend, request->slot);
  out->timing = is_constant ? timing_of_one(&times, out->samples) : timing_of(&times, out->samples);
done:
  samples_free(&samples);
  return st;
}

void measured_free(struct measured *measured) {
  free(measured->samples);
  *measured = (struct measured){0};
}

/* Disturbances only add time: the shortest sample is the most accurate. */
halotune_status measure_roughly(struct backend_handle *backend, int slot, double *time_ms) {
  enum { FEW_SAMPLES = 9, WARM_MS = 2, SPAN_MOST_MS = 100 };
  struct verdict verdict = {.outcome = OUTCOME_MEASURED};
  double samples_ms[FEW_SAMPLES], best_ms = INFINITY;
  int failed, batch;
  *time_ms = NAN;
  halotune_status status = backend->table->keep_warm(backend->state, WARM_MS);
  if (status == HALOTUNE_OK)
    status = measure_batch(backend, slot, MEASURE_SAMPLE_US * 1e-3, &batch, &best_ms, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  const int count = (int)fmin(SPAN_MOST_MS / (best_ms * batch), FEW_SAMPLES);
  if (count == 0) {
    *time_ms = best_ms;
    return HALOTUNE_OK;
  }
  struct sample_plan plan = {.slots = &slot, .batches = &batch, .slot_count = 1, .rounds = count};
  status = backend->table->sample(backend->state, &plan, samples_ms, &failed, &verdict);
  if (status != HALOTUNE_OK || verdict.outcome != OUTCOME_MEASURED) return status;
  for (int i = 0; i < count; i++) best_ms = fmin(best_ms, samples_ms[i]);
  *time_ms = best_ms;
  return HALOTUNE_OK;
}
