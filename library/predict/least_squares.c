/* least_squares.c: normal equations, solved by Cholesky's decomposition. They have a dozen unknowns of one size. */
#include "library/predict/least_squares.h"

#include <math.h>
#include <string.h>

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
    for (int k = 0; k <= i; k++) {
      double sum = sums->matrix[i][k] + (i == k ? pull * sums->weight : 0);
      for (int m = 0; m < k; m++) sum -= lower[i][m] * lower[k][m];
      if (i == k && !(sum > 0)) return false;
      lower[i][k] = i == k ? sqrt(sum) : sum / lower[k][k];
    }
  }
  for (int i = 0; i < n; i++) {
    double sum = sums->right[i] + pull * sums->weight * usual[i];
    for (int k = 0; k < i; k++) sum -= lower[i][k] * x[k];
    x[i] = sum / lower[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= lower[k][i] * x[k];
    x[i] /= lower[i][i];
    if (!isfinite(x[i])) return false;
  }
  memcpy(out, x, (size_t)n * sizeof *out);
  return true;
}
