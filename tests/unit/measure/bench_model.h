/* bench_model.h: a simulated backend. Its variants have known times, its GPU has the faults of real ones, and it has
 * its own clock. Tests compare the results of the protocol with the known times. */
#ifndef MEASURE_BENCH_MODEL_H
#define MEASURE_BENCH_MODEL_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/random.h"
#include "base/system/clock.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/measure/sampling/steady.h"

enum { MODEL_VARIANTS = 320, MODEL_MHZ = 1980 };

enum model_noise {
  NOISE_NONE,        /* exact times */
  NOISE_INDEPENDENT, /* 0.6 % for each sample */
  NOISE_CORRELATED,  /* AR(1) with 1 % in all, shared by all variants; a sample keeps 95 % of the one before */
  NOISE_RAMP,        /* after idling, the clock begins at 70 % and recovers within about 30 ms of work */
  NOISE_DRIFT,       /* 6 % slower within a minute, and waves of 1 % */
  NOISE_OUTLIERS,    /* 5 % of the samples take up to three times as long */
  NOISE_THROTTLE,    /* 1.4 times as long for 120 of each 1500 ms, which NVML reports */
  NOISE_COUNT
};
static const char *const noise_names[NOISE_COUNT] = {"none",  "independent", "correlated", "ramp",
                                                     "drift", "outliers",    "throttle"};

struct model {
  enum model_noise noise;
  uint64_t seed, drawn;
  double now_ms, idle_from_ms;
  /* clock_share: share of the time that depends on the SM clock */
  double true_ms[MODEL_VARIANTS], clock_share[MODEL_VARIANTS];
  double empty_ms, memcpy_ms, load_ms;
  int in_slot[BACKEND_ALL_SLOTS]; /* the variant in each slot; -1: none */
  int last_slot;
  double clock, correlated;                /* clock: of the SM, relative to its highest */
  bool hides_clock;                        /* NVML reports no clocks */
  bool is_constant;                        /* the backend reports that all samples have one value */
  double throttle_from_ms, throttle_to_ms; /* throttled between these times, for tests that choose them */
  /* Power at work; 0: as all others. energy_failing: the variant that fails while its energy is measured; -1: none */
  double power_w[MODEL_VARIANTS], idle_w;
  bool has_counter, counter_stands;
  int energy_failing;
  long energy_samples, counter_stops_after; /* samples; 0: never */
  double energy_beside_ms;                  /* of each sample */
  /* The variant that fails, at which of its samples, and how. */
  int failing, samples_to_failure;
  enum outcome failure;
  bool is_wrong[MODEL_VARIANTS]; /* found by its recheck */
  long samples, calls, single_calls, loads, rechecks, unwarmed_switches;
  long first_in_round[BACKEND_ALL_SLOTS]; /* of plans with untimed applications */
};

static inline double model_uniform(struct model *model) {
  return ((double)(random_bits(model->seed, model->drawn++) >> 11) + 0.5) * 0x1p-53;
}

/* The method of G. E. P. Box and M. E. Muller, 1958. */
static inline double model_gauss(struct model *model) {
  const double radius = sqrt(-2 * log(model_uniform(model)));
  return radius * cos(2 * 3.14159265358979323846 * model_uniform(model));
}

static inline double model_now(void *state) { return ((struct model *)state)->now_ms; }

static inline bool model_throttles(const struct model *model) {
  if (model->now_ms >= model->throttle_from_ms && model->now_ms < model->throttle_to_ms) return true;
  return model->noise == NOISE_THROTTLE && fmod(model->now_ms, 1500) < 120;
}

/* Time passes with work (model_work) or without (model_idle). */
static inline void model_work(struct model *model, double ms) {
  model->clock += (1 - model->clock) * (1 - exp(-ms / 30));
  model->now_ms += ms;
  model->idle_from_ms = model->now_ms;
}

static inline void model_idle(struct model *model, double ms) {
  model->now_ms += ms;
  if (model->noise == NOISE_RAMP) model->clock = 0.7 + (model->clock - 0.7) * exp(-ms / 40);
}

static inline double model_true_ms(const struct model *model, int slot) {
  if (slot == SLOT_EMPTY) return model->empty_ms;
  if (slot == SLOT_MEMCPY) return model->memcpy_ms;
  return model->true_ms[model->in_slot[slot]];
}

/* The factor by which a sample that begins now takes longer than its true time. */
static inline double model_factor(struct model *model, int slot) {
  const int variant = slot < BACKEND_SLOTS ? model->in_slot[slot] : -1;
  const double share = variant >= 0 ? model->clock_share[variant] : 0;
  double factor = 1 + share * (1 / model->clock - 1);
  if (model->noise == NOISE_NONE) return factor * (model_throttles(model) ? 1.4 : 1);
  factor *= 1 + (model->noise == NOISE_INDEPENDENT ? 0.006 : 0.001) * model_gauss(model);
  if (model->noise == NOISE_CORRELATED) {
    model->correlated = 0.95 * model->correlated + sqrt(1 - 0.95 * 0.95) * 0.01 * model_gauss(model);
    factor *= 1 + model->correlated;
  }
  if (model->noise == NOISE_DRIFT) factor *= 1 + 0.06 * model->now_ms / 60e3 + 0.01 * sin(model->now_ms / 3000);
  if (model->noise == NOISE_OUTLIERS && model_uniform(model) < 0.05) factor *= 1.2 + 1.8 * model_uniform(model);
  if (model_throttles(model)) factor *= 1.4;
  return factor;
}

static inline halotune_status model_sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                           struct verdict *verdict) {
  struct model *model = state;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  model->calls++;
  model->single_calls += plan->rounds * plan->slot_count == 1;
  if (plan->warm) model->first_in_round[plan->slots[0]]++;
  model_idle(model, 0.05); /* the round trip to the worker */
  for (int i = 0; i < plan->rounds * plan->slot_count; i++) {
    const int slot = plan->slots[i % plan->slot_count], batch = plan->batches[i % plan->slot_count];
    const int variant = slot < BACKEND_SLOTS ? model->in_slot[slot] : -1;
    if (slot < BACKEND_SLOTS && variant < 0) return fail(HALOTUNE_ARGUMENT, "slot %d is empty", slot);
    if (variant >= 0 && variant == model->failing && model->samples_to_failure-- <= 0) {
      *failed = slot;
      verdict->outcome = model->failure;
      snprintf(verdict->reason, sizeof verdict->reason, "made to fail");
      model->in_slot[slot] = -1;
      model_idle(model, 300); /* another process starts */
      return HALOTUNE_OK;
    }
    const double one_ms = model_true_ms(model, slot);
    double batch_ms = one_ms * batch * model_factor(model, slot);
    if (plan->warm) model_work(model, one_ms);
    /* The first application takes a tenth longer, because the caches hold another kernel's data. */
    if (slot != model->last_slot && !plan->warm) batch_ms += 0.1 * one_ms, model->unwarmed_switches++;
    model->last_slot = slot;
    times_ms[i] = batch_ms / batch;
    model_work(model, batch_ms);
    model->samples++;
  }
  return HALOTUNE_OK;
}

static inline halotune_status model_recheck(void *state, int slot, struct verdict *verdict) {
  struct model *model = state;
  model->rechecks++;
  model_work(model, 2);
  *verdict = (struct verdict){.outcome = model->is_wrong[model->in_slot[slot]] ? OUTCOME_WRONG : OUTCOME_MEASURED};
  return HALOTUNE_OK;
}

static inline bool model_is_constant(void *state, int slot) {
  (void)slot;
  return ((const struct model *)state)->is_constant;
}

static inline void model_read(void *state, struct gpu_reading *out) {
  struct model *model = state;
  *out = (struct gpu_reading){.sm_mhz = model->hides_clock ? -1 : (int)(MODEL_MHZ * model->clock),
                              .memory_mhz = 3201,
                              .temperature_c = 50,
                              .power_w = 400,
                              /* The power cap is no fault. */
                              .throttle = model->hides_clock       ? -1
                                          : model_throttles(model) ? NVML_THROTTLE_HW_THERMAL
                                                                   : 0x4};
  model_idle(model, 0.2);
}

static inline halotune_status model_keep_warm(void *state, double time_ms) {
  model_work(state, time_ms);
  return HALOTUNE_OK;
}

static inline halotune_status model_energy(void *state, const struct energy_plan *plan, struct energy_sample *out,
                                           struct verdict *verdict) {
  struct model *model = state;
  const int variant = plan->slot == ENERGY_IDLE ? -1 : model->in_slot[plan->slot];
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (model->counter_stands || (model->counter_stops_after > 0 && model->energy_samples == model->counter_stops_after))
    return fail(HALOTUNE_NOT_FOUND, "the counter does not change");
  model->energy_samples++;
  if (variant < 0) model_idle(model, plan->least_ms + model->energy_beside_ms);
  else model_work(model, fmax(plan->least_ms, 64 * model->true_ms[variant]) + model->energy_beside_ms);
  if (variant >= 0 && variant == model->energy_failing) {
    verdict->outcome = OUTCOME_CRASHED;
    return HALOTUNE_OK;
  }
  const double usual_w = 400, power_w = variant < 0 ? model->idle_w : model->power_w[variant];
  out->span_ms = plan->least_ms;
  out->energy_mj = plan->least_ms * (power_w > 0 ? power_w : usual_w);
  out->applications = variant < 0 ? 0 : (long)(plan->least_ms / model->true_ms[variant]);
  out->changes = plan->least_changes;
  return HALOTUNE_OK;
}

static inline bool model_counts_energy(void *state) { return ((const struct model *)state)->has_counter; }

static const struct backend model_backend = {.name = "model",
                                             .sample = model_sample,
                                             .recheck = model_recheck,
                                             .is_constant = model_is_constant,
                                             .energy = model_energy,
                                             .counts_energy = model_counts_energy,
                                             .read = model_read,
                                             .keep_warm = model_keep_warm};

/* Put a variant into a slot, as backend.load does. */
static inline void model_load(struct model *model, int slot, int variant) {
  model->in_slot[slot] = variant;
  model->loads++;
  model_work(model, model->load_ms);
}

static inline void model_make(struct model *model, enum model_noise noise, uint64_t seed) {
  *model = (struct model){.noise = noise,
                          .seed = seed,
                          .clock = 1,
                          .empty_ms = 0.002,
                          .memcpy_ms = 0.25,
                          .load_ms = 5,
                          .failing = -1,
                          .energy_failing = -1,
                          .idle_w = 90,
                          .has_counter = true,
                          .last_slot = -1};
  for (int i = 0; i < BACKEND_ALL_SLOTS; i++) model->in_slot[i] = -1;
}

static inline struct backend_handle model_handle(struct model *model) {
  return (struct backend_handle){.table = &model_backend, .state = model};
}

static inline struct time_source model_time(struct model *model) {
  return (struct time_source){.now_ms = model_now, .state = model};
}

#endif
