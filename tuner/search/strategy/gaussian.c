/* gaussian.c: the factor L of the correlations of all points, L L' = R, and what follows from it. */
#include "tuner/search/strategy/gaussian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/cholesky.h"

enum { MOST = GAUSSIAN_MOST_POINTS };

/* The numbers that the fit searches, as natural logarithms: a length scale for each axis, and the noise's share of the
 * variance. */
struct scales {
  double log_length[GAUSSIAN_MOST_AXES], log_noise;
};

struct gaussian {
  int axes, count;
  bool is_category[GAUSSIAN_MOST_AXES];
  double number_weight[GAUSSIAN_MOST_AXES], category_weight[GAUSSIAN_MOST_AXES]; /* 1 / length scale^2, or 0 */
  double noise;
  struct scales scales;
  double mean, variance;
  bool is_settled;         /* mean, variance and `solved` belong to the points */
  bool is_pulled;          /* `pulled` belongs to the points */
  long generation;         /* number of the factor; adding points does not change it */
  double *at;              /* rows of `axes` coordinates */
  double *value, *solved;  /* solved: L^-1 (value - mean) */
  double pulled[MOST];     /* R^-1 (value - mean) */
  double *lower, *inverse; /* rows of MOST numbers; inverse: room for the ascent */
  double *gradient_of;     /* rows of MOST numbers: room for the ascent */
};

halotune_status gaussian_make(int axes, const bool is_category[], struct gaussian **out) {
  struct gaussian *g = *out = calloc(1, sizeof *g);
  if (!g) return fail_memory();
  g->axes = axes;
  g->at = calloc((size_t)MOST * (size_t)(axes + 1), sizeof *g->at);
  g->value = calloc(MOST, sizeof *g->value);
  g->solved = calloc(MOST, sizeof *g->solved);
  g->lower = calloc((size_t)MOST * MOST, sizeof *g->lower);
  g->inverse = calloc((size_t)MOST * MOST, sizeof *g->inverse);
  g->gradient_of = calloc((size_t)MOST * MOST, sizeof *g->gradient_of);
  if (!g->at || !g->value || !g->solved || !g->lower || !g->inverse || !g->gradient_of) {
    gaussian_free(g);
    *out = NULL;
    return fail_memory();
  }
  memcpy(g->is_category, is_category, (size_t)axes * sizeof *is_category);
  const double usual_noise = 1e-3;
  for (int a = 0; a < axes; a++) g->scales.log_length[a] = 0.5 * log((double)axes + 1);
  g->scales.log_noise = log(usual_noise);
  return HALOTUNE_OK;
}

void gaussian_free(struct gaussian *g) {
  if (!g) return;
  free(g->at);
  free(g->value);
  free(g->solved);
  free(g->lower);
  free(g->inverse);
  free(g->gradient_of);
  free(g);
}

void gaussian_clear(struct gaussian *g) {
  g->count = 0;
  g->is_settled = g->is_pulled = false;
  g->generation++;
}

int gaussian_count(const struct gaussian *g) { return g->count; }

/* Two numbers that the processor handles at once, and what a comparison of them gives. */
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t lane_bits __attribute__((vector_size(16)));
enum { LANES = 2 };

static inline lanes lanes_at(const double *from) {
  lanes both;
  memcpy(&both, from, sizeof both);
  return both;
}

/* What the axes from `i` on add to the square of the distance. Each axis has one of the two weights, and 0 for the
 * other. A branch in its place makes this several times slower, because processors predict it badly. */
static inline lanes lanes_apart(const struct gaussian *g, const double *a, const double *b, int i) {
  const lanes difference = lanes_at(a + i) - lanes_at(b + i);
  const lane_bits differ = difference != 0;
  return lanes_at(g->number_weight + i) * difference * difference +
         (lanes)((lane_bits)lanes_at(g->category_weight + i) & differ);
}

/* The same for one axis. */
static inline double axis_apart(const struct gaussian *g, const double *a, const double *b, int i) {
  const double difference = a[i] - b[i];
  return g->number_weight[i] * difference * difference + (double)(difference != 0) * g->category_weight[i];
}

/* The square of the distance, in length scales. */
static double distance_of(const struct gaussian *g, const double *a, const double *b) {
  lanes even = {0}, odd = {0}; /* two sums, so that the processor need not wait for each addition */
  int i = 0;
  for (; i + 2 * LANES <= g->axes; i += 2 * LANES) {
    even += lanes_apart(g, a, b, i);
    odd += lanes_apart(g, a, b, i + LANES);
  }
  double sum = even[0] + even[1] + odd[0] + odd[1];
  for (; i < g->axes; i++) sum += axis_apart(g, a, b, i);
  return sum;
}

/* Add a multiple of what each axis adds to the square of the distance. */
static void add_apart(const struct gaussian *g, const double *a, const double *b, double factor, double *sums) {
  int i = 0;
  for (; i + LANES <= g->axes; i += LANES) {
    const lanes sum = lanes_at(sums + i) + factor * lanes_apart(g, a, b, i);
    memcpy(sums + i, &sum, sizeof sum);
  }
  for (; i < g->axes; i++) sums[i] += factor * axis_apart(g, a, b, i);
}

/* The correlation at a distance, given by its square. */
static double matern(double square) {
  const double s = sqrt(5 * square);
  return (1 + s + s * s / 3) * exp(-s);
}

/* Its derivative by that square. */
static double matern_slope(double square) {
  const double s = sqrt(5 * square);
  return -5.0 / 6 * (1 + s) * exp(-s);
}

static const double *at_of(const struct gaussian *g, int number) { return g->at + (size_t)number * (size_t)g->axes; }

static double *row_of(double *matrix, int number) { return matrix + (size_t)number * MOST; }

/* Add row `number` to the factor. Returns false if the matrix is singular. */
static bool factor_row(struct gaussian *g, int number) {
  static const double least = 1e-10;
  double *row = row_of(g->lower, number);
  for (int j = 0; j < number; j++) row[j] = matern(distance_of(g, at_of(g, number), at_of(g, j)));
  row[number] = 1 + g->noise;
  return cholesky_row(g->lower, MOST, number, least);
}

/* Mean and variance that make the values of the first `count` points most likely. */
static void settle_scale(struct gaussian *g, int count) {
  double ones[MOST] = {0};
  for (int i = 0; i < count; i++) {
    ones[i] = 1;
    g->solved[i] = g->value[i];
  }
  cholesky_solve_lower(g->lower, MOST, 0, count, ones);
  cholesky_solve_lower(g->lower, MOST, 0, count, g->solved);
  g->mean = dot_product(ones, g->solved, count) / dot_product(ones, ones, count);
  for (int i = 0; i < count; i++) g->solved[i] -= g->mean * ones[i];
  g->variance = dot_product(g->solved, g->solved, count) / count;
}

static void take_scales(struct gaussian *g, const struct scales *scales) {
  for (int i = 0; i < g->axes; i++) {
    const double weight = exp(-2 * scales->log_length[i]);
    g->number_weight[i] = g->is_category[i] ? 0 : weight;
    g->category_weight[i] = g->is_category[i] ? weight : 0;
  }
  g->noise = exp(scales->log_noise);
}

/* What is assumed of the scales before there are points: their logarithms are normally distributed. A length equal to
 * the root of the number of axes makes a typical correlation independent of that number. */
static const double length_deviation = 1.0, noise_deviation = 2.0, noise_mean = -6.0;
static double length_mean(const struct gaussian *g) { return 0.5 * log((double)g->axes + 1); }

static double prior_of(const struct gaussian *g, const struct scales *scales, struct scales *slope) {
  double sum = 0;
  for (int i = 0; i < g->axes; i++) {
    const double off = (scales->log_length[i] - length_mean(g)) / length_deviation;
    sum -= off * off / 2;
    slope->log_length[i] = -off / length_deviation;
  }
  const double off = (scales->log_noise - noise_mean) / noise_deviation;
  slope->log_noise = -off / noise_deviation;
  return sum - off * off / 2;
}

/* R^-1 of the factor, and R^-1 (value - mean). */
static void invert_factor(struct gaussian *g, int count, double *pulled) {
  double *by_row = g->gradient_of;
  /* Row j of by_row is column j of L^-1, so that sums run along rows. */
  for (int j = 0; j < count; j++) {
    double *column = row_of(by_row, j);
    memset(column, 0, (size_t)count * sizeof *column);
    column[j] = 1 / row_of(g->lower, j)[j];
    for (int i = j + 1; i < count; i++) {
      const double *row = row_of(g->lower, i);
      column[i] = -dot_product(row + j, column + j, i - j) / row[i];
    }
  }
  for (int i = 0; i < count; i++) {
    pulled[i] = dot_product(row_of(by_row, i) + i, g->solved + i, count - i);
    for (int j = 0; j <= i; j++)
      row_of(g->inverse, i)[j] = dot_product(row_of(by_row, i) + i, row_of(by_row, j) + i, count - i);
  }
}

/* The logarithm of how likely the first `count` values are, plus the prior's, and its slope. Returns -INFINITY if the
 * matrix is singular. */
static double likelihood(struct gaussian *g, int count, const struct scales *scales, struct scales *slope) {
  double pulled[MOST] = {0}, log_determinant = 0;
  take_scales(g, scales);
  for (int i = 0; i < count; i++) {
    if (!factor_row(g, i)) return -INFINITY;
    log_determinant += log(row_of(g->lower, i)[i]);
  }
  settle_scale(g, count);
  if (!(g->variance > 0)) return -INFINITY;
  const double value = prior_of(g, scales, slope) - 0.5 * count * log(g->variance) - log_determinant;
  invert_factor(g, count, pulled);
  for (int i = 0; i < count; i++) {
    const double *inverse = row_of(g->inverse, i);
    slope->log_noise += 0.5 * g->noise * (pulled[i] * pulled[i] / g->variance - inverse[i]);
    for (int j = 0; j < i; j++) {
      const double *a = at_of(g, i), *b = at_of(g, j);
      const double pull = pulled[i] * pulled[j] / g->variance - inverse[j];
      add_apart(g, a, b, -2 * pull * matern_slope(distance_of(g, a, b)), slope->log_length);
    }
  }
  return value;
}

/* Make one step of the ascent. Each scale has its own step, which grows while the sign of its slope stays (M.
 * Riedmiller, H. Braun, A direct adaptive method for faster backpropagation learning: the RPROP algorithm, 1993). */
static double ascend_scale(double slope, double *last_slope, double *step) {
  static const double faster = 1.2, slower = 0.5, longest = 0.8, shortest = 1e-3;
  const double product = slope * *last_slope;
  if (product > 0) *step = fmin(*step * faster, longest);
  if (product < 0) *step = fmax(*step * slower, shortest);
  *last_slope = product < 0 ? 0 : slope;
  if (*last_slope == 0) return 0;
  return slope > 0 ? *step : -*step;
}

static double clamp(double value, double low, double high) { return fmin(fmax(value, low), high); }

static bool values_differ(const struct gaussian *g, int count) {
  for (int i = 1; i < count; i++) {
    if (g->value[i] != g->value[0]) return true;
  }
  return false;
}

/* The factor of all points. Returns false if the matrix is singular. */
static bool factor_points(struct gaussian *g) {
  g->generation++;
  g->is_settled = g->is_pulled = false;
  for (int i = 0; i < g->count; i++) {
    if (!factor_row(g, i)) return false;
  }
  return true;
}

bool gaussian_fit(struct gaussian *g, int most, int steps) {
  enum { LEAST_POINTS = 3 };
  const int count = g->count < most ? g->count : most;
  struct scales at = g->scales, best = at, slope = {.log_noise = 0}, last = slope, step = slope;
  double best_value = -INFINITY;
  if (count < LEAST_POINTS || !values_differ(g, count)) return false;
  for (int i = 0; i < g->axes; i++) step.log_length[i] = 0.2;
  step.log_noise = 0.4;
  for (int turn = 0; turn <= steps; turn++) {
    const double value = likelihood(g, count, &at, &slope);
    if (!isfinite(value)) break;
    if (value > best_value) best = at;
    best_value = fmax(best_value, value);
    for (int i = 0; i < g->axes; i++) {
      at.log_length[i] += ascend_scale(slope.log_length[i], &last.log_length[i], &step.log_length[i]);
      at.log_length[i] = clamp(at.log_length[i], log(0.05), log(100));
    }
    at.log_noise =
        clamp(at.log_noise + ascend_scale(slope.log_noise, &last.log_noise, &step.log_noise), log(1e-6), log(0.5));
  }
  const struct scales before = g->scales;
  g->scales = best;
  take_scales(g, &g->scales);
  if (isfinite(best_value) && factor_points(g)) return true;
  g->scales = before;
  take_scales(g, &g->scales);
  if (!factor_points(g)) gaussian_clear(g);
  return false;
}

bool gaussian_add(struct gaussian *g, const double at[], double value) {
  if (g->count == MOST) return false;
  if (g->count == 0) take_scales(g, &g->scales);
  memcpy(g->at + (size_t)g->count * (size_t)g->axes, at, (size_t)g->axes * sizeof *at);
  if (!factor_row(g, g->count)) return false;
  g->value[g->count++] = value;
  g->is_settled = g->is_pulled = false;
  return true;
}

void gaussian_change(struct gaussian *g, int number, double value) {
  g->value[number] = value;
  g->is_settled = g->is_pulled = false;
}

void gaussian_predict(struct gaussian *g, struct gaussian_place *place, double *mean, double *deviation) {
  if (!g->is_settled) settle_scale(g, g->count);
  g->is_settled = true;
  if (place->generation != g->generation) {
    place->generation = g->generation;
    place->solved_count = 0;
    place->explained = 0;
  }
  const int known = place->solved_count;
  for (int i = known; i < g->count; i++) place->solved[i] = matern(distance_of(g, at_of(g, i), place->at));
  cholesky_solve_lower(g->lower, MOST, known, g->count, place->solved);
  for (int i = known; i < g->count; i++) place->explained += place->solved[i] * place->solved[i];
  place->solved_count = g->count;
  *mean = g->mean + dot_product(place->solved, g->solved, g->count);
  *deviation = sqrt(g->variance * fmax(1 - place->explained, 0));
}

/* Solve L' pulled = solved. */
static void pull_points(struct gaussian *g) {
  memcpy(g->pulled, g->solved, (size_t)g->count * sizeof *g->pulled);
  cholesky_solve_upper(g->lower, MOST, g->count, g->pulled);
}

double gaussian_mean(struct gaussian *g, const double at[]) {
  if (!g->is_settled) settle_scale(g, g->count);
  if (!g->is_settled || !g->is_pulled) pull_points(g);
  g->is_settled = g->is_pulled = true;
  double mean = g->mean;
  for (int i = 0; i < g->count; i++) mean += g->pulled[i] * matern(distance_of(g, at_of(g, i), at));
  return mean;
}
