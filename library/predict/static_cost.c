/* static_cost.c: evaluates the formulas of a template, and guesses what a thread keeps in registers. */
#include "library/predict/static_cost.h"

#include <math.h>
#include <string.h>

#include "library/predict/predict.h"
#include "stencil/template/access.h"

#define AS_NAME(name, weight, about) #name,
const char *const static_cost_names[STATIC_COST_FEATURES] = {STATIC_COST_LIST(AS_NAME)};
#undef AS_NAME
#define AS_WEIGHT(name, weight, about) weight,
const struct static_weights static_weights_built_in = {{STATIC_COST_LIST(AS_WEIGHT)}};
#undef AS_WEIGHT

bool static_weights_are_sensible(const struct static_weights *weights) {
  for (int i = 0; i < STATIC_COST_FEATURES; i++) {
    if (!(fabs(weights->of[i]) <= 3)) return false; /* refuses NaN, too */
  }
  return true;
}

/* Blocks that a multiprocessor has, and shared memory that each block takes in addition, on sm_80 and later. */
static const double most_blocks_sm = 32, block_reserve_bytes = 1024;

/* Where the copy engine copies, threads load next to nothing. */
static const double least_loads = 0.05;

/* The logarithm of a number that is 1 or more; 0 where it is not known. */
static double log_of(double value) { return isfinite(value) && value > 0 ? log(value) : 0; }

/* What is guessed of a thread. */
struct thread_guess {
  double in_x, in_y; /* points in a plane */
  double window;     /* points that it reads there */
  double registers;  /* what it should need */
};

/* Sums of a star keep no corners. In z, a thread keeps a sum, or a point, for each plane that it reaches. */
static struct thread_guess thread_of(const double facts[], const double block[MAX_DIMS],
                                     const struct predict_shape *shape) {
  const double reach_x = facts[FACT_low_x] + facts[FACT_high_x], reach_y = facts[FACT_low_y] + facts[FACT_high_y],
               reach_z = facts[FACT_low_z] + facts[FACT_high_z];
  static const double other_registers = 28;
  struct thread_guess out = {.in_x = fmax(1, (double)shape->tile[0] / block[0]),
                             .in_y = fmax(1, (double)shape->tile[1] / block[1])};
  const double points = out.in_x * out.in_y;
  out.window = facts[FACT_taps_on_axes] != 0 ? points + reach_x * out.in_y + reach_y * out.in_x
                                             : (out.in_x + reach_x) * (out.in_y + reach_y);
  out.registers = other_registers + facts[FACT_element_bytes] / 4 * (out.window + points * (1 + reach_z));
  return out;
}

/* The registers that a thread may have. */
static double most_registers(const struct bindings *bindings, double threads) {
  const double *facts = bindings->variables;
  const int parameter = template_parameter(bindings->template, "min_blocks", strlen("min_blocks"));
  const double min_blocks =
      parameter >= 0 ? bindings->template->parameters[parameter].values[bindings->choice[parameter]] : 1;
  return fmin(facts[FACT_max_registers], facts[FACT_registers_sm] / (threads * fmax(1, min_blocks)));
}

/* The blocks that a multiprocessor holds. */
static double blocks_sm_of(const double facts[], double threads, double shared_bytes, double registers) {
  const double by_threads = floor(facts[FACT_max_threads_sm] / threads),
               by_registers = floor(facts[FACT_registers_sm] / (threads * registers)),
               by_shared =
                   floor((facts[FACT_max_shared_bytes] + block_reserve_bytes) / (shared_bytes + block_reserve_bytes));
  return fmax(1, fmin(fmin(by_threads, by_registers), fmin(by_shared, most_blocks_sm)));
}

/* What a thread does in a plane. */
static void add_thread_features(const double block[MAX_DIMS], const struct thread_guess *thread, double element_bytes,
                                double features[STATIC_COST_FEATURES]) {
  const double points = thread->in_x * thread->in_y;
  features[STATIC_COST_row] = fmax(0, log(128 / (fmin(block[0], 32) * thread->in_x * element_bytes)));
  features[STATIC_COST_vector] = log(16 / (thread->in_x * element_bytes));
  features[STATIC_COST_points] = log(points);
  features[STATIC_COST_many_points] = fmax(0, log(points / 8));
  features[STATIC_COST_window] = log(thread->window / points);
}

/* What the facts tell of the problem. Inputs that do not lie along all axes count in full. */
static struct predict_work work_of(const double facts[]) {
  struct predict_work work = {.row_bytes = facts[FACT_row] * facts[FACT_element_bytes],
                              .bytes = (facts[FACT_inputs] + facts[FACT_outputs]) * facts[FACT_element_bytes],
                              .dtype = facts[FACT_element_bytes] > 4 ? DTYPE_F64 : DTYPE_F32};
  const int last = (int)facts[FACT_dims] - 1;
  work.depth = 1 + facts[FACT_low_x + last] + facts[FACT_high_x + last];
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    work.points[axis] = facts[FACT_points_in_x + axis];
    work.bytes *= facts[FACT_nx + axis];
  }
  return work;
}

void static_cost_features(const struct bindings *bindings, double out[STATIC_COST_FEATURES]) {
  const double *facts = bindings->variables, max_threads_sm = facts[FACT_max_threads_sm];
  const struct access access = access_of(bindings);
  const double shared_bytes = bindings_value(bindings, bindings->template->shared_bytes);
  double block[MAX_DIMS], threads = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++)
    threads *= block[axis] = fmax(1, bindings_value(bindings, bindings->template->block[axis]));
  struct predict_shape shape = predict_shape_of(bindings, 0, max_threads_sm);
  const struct thread_guess thread = thread_of(facts, block, &shape);
  const double registers = most_registers(bindings, threads);
  shape.blocks_per_sm = (float)blocks_sm_of(facts, threads, shared_bytes, fmin(thread.registers, registers));
  const struct predict_work work = work_of(facts);
  const struct predict_gpu gpu = {.sm_count = facts[FACT_multiprocessors]};
  const struct predict_model usual = predict_default();
  struct predict_cost cost;
  predict_cost(&usual, &shape, &work, &gpu, &cost);
  out[STATIC_COST_memory] = log_of(access.over_read);
  out[STATIC_COST_loads] = log(fmax(least_loads, isfinite(access.loads_per_point) ? access.loads_per_point : 1));
  out[STATIC_COST_conflicts] = log_of(access.bank_conflicts);
  out[STATIC_COST_spilled] = fmax(0, log(thread.registers / registers));
  out[STATIC_COST_occupancy] = fmax(0, log(max_threads_sm / 2 / (threads * (double)shape.blocks_per_sm)));
  out[STATIC_COST_fill] = (double)cost.features[PREDICT_fill];
  out[STATIC_COST_idle] = (double)cost.features[PREDICT_idle];
  out[STATIC_COST_tail] = (double)cost.features[PREDICT_tail];
  out[STATIC_COST_edge] = (double)cost.features[PREDICT_edge];
  out[STATIC_COST_reread] = (double)cost.features[PREDICT_reread];
  out[STATIC_COST_starts] = log1p((double)cost.dispatch_ms / exp((double)cost.log_streaming_ms));
  add_thread_features(block, &thread, facts[FACT_element_bytes], out);
}

double static_cost_sum(const struct static_weights *weights, const double features[STATIC_COST_FEATURES]) {
  double sum = 0;
  for (int i = 0; i < STATIC_COST_FEATURES; i++) sum += weights->of[i] * features[i];
  return sum;
}

double static_cost_log(const struct bindings *bindings, const struct static_weights *weights) {
  double features[STATIC_COST_FEATURES];
  static_cost_features(bindings, features);
  const double sum = static_cost_sum(weights ? weights : &static_weights_built_in, features);
  return isfinite(sum) ? sum : NAN;
}
