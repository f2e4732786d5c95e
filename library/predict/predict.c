/* predict.c: the model, which is linear in its coefficients and gives the logarithm of a time. */
#include "library/predict/predict.h"

#include <math.h>

#include "base/memory/array.h"
#include "base/numbers/wide_vectors.h"
#include "gpu/architecture/arch.h"

#define AS_NAME(name, value, about) #name,
const char *const predict_names[PREDICT_COEFFICIENTS] = {PREDICT_LIST(AS_NAME)};
#undef AS_NAME

struct predict_model predict_default(void) {
#define AS_VALUE(name, value, about) value,
  return (struct predict_model){{PREDICT_LIST(AS_VALUE)}};
#undef AS_VALUE
}

bool predict_is_sensible(const struct predict_model *model) {
  for (int i = 0; i < PREDICT_COEFFICIENTS; i++) {
    const double value = model->coefficients[i], least = i < PREDICT_FEATURES ? -3 : 0;
    if (!(value >= least && value <= 3)) return false; /* refuses NaN, too */
  }
  return true;
}

/* Numbers that are used if they are not known of a GPU. */
static const double usual_sm_count = 100, usual_gbs = 2000, usual_l2_bytes = 40e6;

/* Share of the peak rate that the best kernels reach. */
static const double reached_share = 0.88;

const float predict_launch_ms[LAUNCH_MODE_COUNT] = {[LAUNCH_STREAM] = 0.0020F, [LAUNCH_GRAPH] = 0.0010F};

/* The bytes that a launch must move although the launch before left its fields in the L2 cache. On an H200 fields of
 * 1.5 times the cache still gain from it, fields of twice the cache do not. */
static double missed_bytes(double bytes, double l2_bytes) { return fmin(bytes, 2 * fmax(bytes - l2_bytes, 0)); }

/* 10^9 a second are 10^6 a millisecond. */
static const double giga_in_ms = 1e6;

/* The rate of fields that stay in the L2 cache, for each multiprocessor, in 10^9 bytes a second. This number gives an
 * H200 the rate of its memory, so that only the feature `cache` tells how much faster its cache is. */
static const double cached_gbs_sm = 36.47;

/* How much the rate of the memory counts for fields that stay in the cache. An H200 and an H100 have the same
 * multiprocessors, and memories of 4.8 and 3.35 TB/s. With 0.2 to 0.5, times of small fields on one are predicted best
 * from those on the other. */
static const double cached_memory_share = 0.3;

/* The logarithm of the milliseconds in which a GPU moves the bytes of a launch: at the rate of its memory those that
 * miss the cache, and at a rate between those of memory and cache the others. */
static float log_moving_ms(double bytes, double memory_gbs, double l2_bytes, double sm_count) {
  const double cached_gbs = cached_gbs_sm * sm_count, missed_share = missed_bytes(bytes, l2_bytes) / bytes,
               memory_share = missed_share + (1 - missed_share) * cached_memory_share;
  const float log_cached_ms = logf((float)(bytes / (cached_gbs * reached_share * giga_in_ms)));
  return log_cached_ms - (float)memory_share * logf((float)(memory_gbs / cached_gbs));
}

/* The time in which the fastest copy moves the bytes that must move; 0 where it is not known. */
static double copy_ms(const struct predict_gpu *gpu, double bytes) {
  const double fastest_gbs = gpu->copy_gbs > 0 ? gpu->copy_gbs : gpu->memory_gbs;
  if (!(fastest_gbs > 0 && gpu->l2_bytes > 0)) return 0;
  return missed_bytes(bytes, gpu->l2_bytes) / (fastest_gbs * giga_in_ms);
}

/* Shares of the peak rate of arithmetic. On an H200 the best kernels of wide boxes reach 0.70 to 0.76 in f32
 * (bench/results/wide-nvidia-h200.md). Kernels that win where memory is the limit reach about half for wide boxes,
 * because they read all taps again (bench/results/near-nvidia-h200.md). */
static const double tuned_share = 0.75, borrowed_share = 0.5;

/* The time in which a GPU computes so many operations; 0 where it is not known. */
static double arithmetic_ms(const struct predict_gpu *gpu, enum dtype dtype, double operations, double share) {
  const double gops = arch_peak_gops(gpu->capability, dtype) * gpu->sm_count * share;
  return gops > 0 ? operations / (gops * giga_in_ms) : 0;
}

static float log_or_none(double ms) { return ms > 0 ? logf((float)ms) : -INFINITY; }

static float clamp(float value, float low, float high) { return value < low ? low : value > high ? high : value; }

void predict_place_of(const struct predict_model *model, const struct predict_work *work, const struct predict_gpu *gpu,
                      struct predict_place *out) {
  const double l2_bytes = gpu->l2_bytes > 0 ? gpu->l2_bytes : usual_l2_bytes;
  const double gbs = gpu->memory_gbs > 0 ? gpu->memory_gbs : usual_gbs;
  const double bytes = work->bytes > 1 ? work->bytes : 1;
  *out = (struct predict_place){.work = work, .sm_count = gpu->sm_count > 0 ? gpu->sm_count : usual_sm_count};
  out->common.size.log2[0] = log2f((float)bytes);
  for (int axis = 0; axis < MAX_DIMS; axis++)
    out->common.size.log2[1 + axis] = log2f(fmaxf(1, (float)work->points[axis]));
  float *f = out->common.features;
  f[PREDICT_cache] = clamp(log2f((float)(bytes / l2_bytes)), -2, 1);
  f[PREDICT_row] = work->points[0] < 128 && work->points[0] > 0 ? log2f(128 / (float)work->points[0]) : 0;
  const long long row_bytes = (long long)work->row_bytes; /* a whole number */
  f[PREDICT_unaligned_128] = out->common.size.unaligned = row_bytes % 128 != 0 ? 1 : 0;
  f[PREDICT_unaligned_32] = row_bytes % 32 != 0 ? 1 : 0;
  out->common.log_streaming_ms = log_moving_ms(bytes, gbs, l2_bytes, out->sm_count);
  const double moving_ms = copy_ms(gpu, bytes);
  out->common.log_least_ms =
      log_or_none(fmax(moving_ms, arithmetic_ms(gpu, work->dtype, work->least_operations, tuned_share)));
  const double of_borrowed[2] = {work->operations, work->least_operations};
  for (int groups = 0; groups < 2; groups++)
    out->log_borrowed_ms[groups] =
        log_or_none(fmax(moving_ms, arithmetic_ms(gpu, work->dtype, of_borrowed[groups], borrowed_share)));
  predict_recost(model, &out->common);
}

void predict_cost_of_blocks(const struct predict_model *model, const struct block_terms *terms, int at,
                            const struct predict_place *place, struct predict_cost *out) {
  const struct block_terms *its = &terms[at / WIDE_LANES];
  const int lane = at % WIDE_LANES;
  *out = place->common;
  float *f = out->features;
  f[PREDICT_fill] = 0 - logf(its->fill[lane]);
  f[PREDICT_idle] = its->of_idle[lane] * logf(its->idle[lane]);
  f[PREDICT_tail] = logf(its->tail[lane]);
  f[PREDICT_edge] = logf(its->edge[lane]);
  f[PREDICT_reread] = logf(its->reread[lane]);
  out->dispatch_ms = its->dispatch_ms[lane];
  predict_recost(model, out);
}

void predict_cost_in(const struct predict_model *model, const struct predict_shape *shape,
                     const struct predict_place *place, struct predict_cost *out) {
  enum { TILE, BLOCKS = MAX_DIMS, BLOCKS_PER_SM, CLUSTER_BLOCKS, COLUMNS };
  float columns[COLUMNS][WIDE_LANES] = {{0}}; /* a whole vector takes less time than one variant alone */
  const struct shape_columns shapes = {.tile = {columns[TILE], columns[TILE + 1], columns[TILE + 2]},
                                       .blocks = columns[BLOCKS],
                                       .blocks_per_sm = columns[BLOCKS_PER_SM],
                                       .cluster_blocks = columns[CLUSTER_BLOCKS]};
  struct block_terms terms;
  for (int axis = 0; axis < MAX_DIMS; axis++) columns[TILE + axis][0] = shape->tile[axis];
  columns[BLOCKS][0] = shape->blocks;
  columns[BLOCKS_PER_SM][0] = shape->blocks_per_sm;
  columns[CLUSTER_BLOCKS][0] = shape->cluster_blocks;
  block_terms_of(&shapes, WIDE_LANES, place->work, place->sm_count, &terms);
  predict_cost_of_blocks(model, &terms, 0, place, out);
  out->unsteady = shape->unsteady;
}

void predict_cost(const struct predict_model *model, const struct predict_shape *shape, const struct predict_work *work,
                  const struct predict_gpu *gpu, struct predict_cost *out) {
  struct predict_place place;
  predict_place_of(model, work, gpu, &place);
  predict_cost_in(model, shape, &place, out);
}

bool predict_blocks_cost(const struct predict_model *model) {
  static const int of_blocks[] = {PREDICT_fill, PREDICT_idle, PREDICT_tail, PREDICT_edge, PREDICT_reread};
  for (size_t i = 0; i < COUNT(of_blocks); i++) {
    if (model->coefficients[of_blocks[i]] < 0) return false;
  }
  return true;
}

void predict_recost(const struct predict_model *model, struct predict_cost *cost) {
  cost->factor = 0;
  for (int i = 0; i < PREDICT_FEATURES; i++) cost->factor += (float)model->coefficients[i] * cost->features[i];
  const float streaming_ms = expf(cost->log_streaming_ms + cost->factor);
  for (int i = 0; i < LAUNCH_MODE_COUNT; i++) {
    const float ms = predict_launch_ms[i] + streaming_ms;
    cost->log_ms[i] = logf(ms);
    cost->launch_share[i] = predict_launch_ms[i] / ms;
  }
}

void predict_error_features(const struct predict_cost *measured, enum launch_mode from,
                            const struct predict_cost *asked, enum launch_mode to, float out[PREDICT_ERRORS]) {
  out[PREDICT_sigma - PREDICT_FEATURES] = 1;
  out[PREDICT_sigma_change - PREDICT_FEATURES] = fabsf(asked->factor - measured->factor);
  out[PREDICT_sigma_fill - PREDICT_FEATURES] = fabsf(asked->features[PREDICT_fill] - measured->features[PREDICT_fill]);
  out[PREDICT_sigma_launch - PREDICT_FEATURES] = fabsf(asked->launch_share[to] - measured->launch_share[from]);
  out[PREDICT_sigma_apart - PREDICT_FEATURES] = 1 - predict_nearness(&asked->size, &measured->size);
  out[PREDICT_sigma_unsteady - PREDICT_FEATURES] = asked->unsteady * asked->launch_share[to];
}

static float start_ms(const struct predict_cost *cost, enum launch_mode mode) {
  return predict_launch_ms[mode] + cost->dispatch_ms;
}

struct predict_bounds predict_bounds_of(const struct predict_cost *asked, enum launch_mode to) {
  return (struct predict_bounds){logf(start_ms(asked, to)), asked->log_least_ms};
}

struct predict_bounds predict_shares_of(double time_ms, const struct predict_cost *measured, enum launch_mode from) {
  const struct predict_bounds bounds = predict_bounds_of(measured, from);
  const float log_ms = logf((float)time_ms);
  return (struct predict_bounds){fminf(0, log_ms - bounds.log_start), fminf(0, log_ms - bounds.log_work)};
}

struct prediction predict(const struct predict_model *model, double time_ms, const struct predict_cost *measured,
                          enum launch_mode from, const struct predict_cost *asked, enum launch_mode to, double trend,
                          double kin_error) {
  float features[PREDICT_ERRORS];
  predict_error_features(measured, from, asked, to, features);
  const double scaled_ms = time_ms * exp((double)(asked->log_ms[to] - measured->log_ms[from]) + trend),
               log_least =
                   (double)predict_log_least(predict_shares_of(time_ms, measured, from), predict_bounds_of(asked, to));
  struct prediction prediction = {fmax(scaled_ms, exp(log_least)), kin_error};
  for (int i = 0; i < PREDICT_ERRORS; i++)
    prediction.error += model->coefficients[PREDICT_FEATURES + i] * (double)features[i];
  return prediction;
}
