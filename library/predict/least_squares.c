/* least_squares.c: normal equations. They have a dozen unknowns of one size. */
#include "library/predict/least_squares.h"

#include <math.h>
#include <string.h>

#include "base/numbers/cholesky.h"

void least_squares_add(struct least_squares *sums, const double *features, double value, double weight) {
  for (int i = 0; i < sums->count; i++) {
    for (int k = 0; k <= i; k++) sums->matrix[i][k] += weight * features[i] * features[k];
    sums->right[i] += weight * features[i] * value;
  }
  sums->weight += weight;
}

bool least_squares_solve(const struct least_squares *sums, const double *usual, double pull, double *out) {
  const int n = sums->count;
  double lower[LEAST_SQUARES_MOST][LEAST_SQUARES_MOST] = {{0}}, x[LEAST_SQUARES_MOST] = {0};
  memcpy(out, usual, (size_t)n * sizeof *out);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k <= i; k++) lower[i][k] = sums->matrix[i][k];
    lower[i][i] += pull * sums->weight;
    x[i] = sums->right[i] + pull * sums->weight * usual[i];
  }
  if (!cholesky_factor(lower[0], LEAST_SQUARES_MOST, n, 0)) return false;
  cholesky_solve_lower(lower[0], LEAST_SQUARES_MOST, 0, n, x);
  cholesky_solve_upper(lower[0], LEAST_SQUARES_MOST, n, x);
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return false;
  }
  memcpy(out, x, (size_t)n * sizeof *out);
  return true;
}
