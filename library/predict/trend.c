/* trend.c: solves the equations of kriging when a family is asked for the first time. */
#include "library/predict/trend.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers/cholesky.h"
#include "base/numbers/wide_vectors.h"

/* Variances of the parts of a residual, in units of that of the function of the grid. They were chosen on an H200,
 * where half and twice these values predict equally well. The variance of the constant is large, because nothing is
 * known of it in advance. */
static const double of_constant = 100, of_configuration = 0.6, of_chance = 0.4;

/* The limit of a trend, so that rows from a disturbed GPU do not pull the others farther. */
const float trend_most = 0.5F;

/* Choose the rows that are used, evenly over the list. Returns their number. */
static int choose_rows(const struct trend_row *rows, int count, int chosen[TREND_MOST_ROWS]) {
  long usable = 0, seen = 0;
  int used = 0;
  for (int i = 0; i < count; i++) usable += isfinite(rows[i].residual);
  for (int i = 0; i < count; i++) {
    if (!isfinite(rows[i].residual)) continue;
    const long share = TREND_MOST_ROWS * seen++ / usable, next_share = TREND_MOST_ROWS * seen / usable;
    if (usable <= TREND_MOST_ROWS || share < next_share) chosen[used++] = i;
  }
  return used;
}

static double covariance(const struct trend_row *a, const struct trend_row *b) {
  double sum = of_constant + (double)predict_nearness(&a->size, &b->size);
  if (a->configuration == b->configuration) sum += of_configuration;
  if (a == b) sum += of_chance;
  return sum;
}

halotune_status trend_make(const struct trend_row *rows, int count, struct trend *out) {
  int chosen[TREND_MOST_ROWS];
  double x[TREND_MOST_ROWS];
  double *matrix = calloc((size_t)TREND_MOST_ROWS * TREND_MOST_ROWS, sizeof *matrix);
  *out = (struct trend){0};
  if (!matrix) return fail_memory();
  out->count = choose_rows(rows, count, chosen);
  for (int i = 0; i < out->count; i++) {
    const struct trend_row *row = &rows[chosen[i]];
    x[i] = row->residual;
    for (int k = 0; k <= i; k++) matrix[(size_t)i * TREND_MOST_ROWS + (size_t)k] = covariance(row, &rows[chosen[k]]);
    for (int axis = 0; axis < PREDICT_SIZES; axis++) out->sizes[axis][i] = row->size.log2[axis];
    out->unaligned[i] = row->size.unaligned;
  }
  if (!cholesky_factor(matrix, TREND_MOST_ROWS, out->count, 0)) out->count = 0; /* chance makes it regular */
  cholesky_solve_lower(matrix, TREND_MOST_ROWS, 0, out->count, x);
  cholesky_solve_upper(matrix, TREND_MOST_ROWS, out->count, x);
  for (int i = 0; i < out->count; i++) out->weights[i] = (float)x[i];
  free(matrix);
  return HALOTUNE_OK;
}

static inline float weighted_sum(const struct trend *trend, const struct predict_size *size) {
  float sums[TREND_LANES] = {0}, sum = 0;
  for (int first = 0; first < trend->count; first += TREND_LANES) {
    for (int lane = 0; lane < TREND_LANES; lane++) {
      const int i = first + lane;
      const struct predict_size its = {{trend->sizes[0][i], trend->sizes[1][i], trend->sizes[2][i], trend->sizes[3][i]},
                                       trend->unaligned[i]};
      sums[lane] += trend->weights[i] * predict_nearness(size, &its);
    }
  }
  for (int lane = 0; lane < TREND_LANES; lane++) sum += sums[lane];
  return sum;
}

WITH_WIDE_VECTORS static float weighted_sum_wide(const struct trend *trend, const struct predict_size *size) {
  return weighted_sum(trend, size);
}

float trend_at(const struct trend *trend, const struct predict_size *size) {
  const float sum = HAS_WIDE_VECTORS ? weighted_sum_wide(trend, size) : weighted_sum(trend, size);
  return fmaxf(-trend_most, fminf(sum, trend_most));
}
