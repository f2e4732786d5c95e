/* cholesky.c: row by row, so that a factor can grow with its matrix and all sums run along rows. */
#include "base/numbers/cholesky.h"

#include <math.h>

bool cholesky_row(double *matrix, size_t stride, int row, double least) {
  double *its = matrix + (size_t)row * stride;
  for (int i = 0; i < row; i++) {
    const double *other = matrix + (size_t)i * stride;
    its[i] = (its[i] - dot_product(its, other, i)) / other[i];
  }
  const double rest = its[row] - dot_product(its, its, row);
  if (!(rest > least)) return false; /* also true for NaN */
  its[row] = sqrt(rest);
  return true;
}

bool cholesky_factor(double *matrix, size_t stride, int count, double least) {
  for (int row = 0; row < count; row++) {
    if (!cholesky_row(matrix, stride, row, least)) return false;
  }
  return true;
}

void cholesky_solve_lower(const double *lower, size_t stride, int known, int count, double *b) {
  for (int i = known; i < count; i++) {
    const double *row = lower + (size_t)i * stride;
    b[i] = (b[i] - dot_product(row, b, i)) / row[i];
  }
}

void cholesky_solve_upper(const double *lower, size_t stride, int count, double *b) {
  for (int i = count - 1; i >= 0; i--) {
    const double *row = lower + (size_t)i * stride;
    b[i] /= row[i];
    for (int k = 0; k < i; k++) b[k] -= row[k] * b[i];
  }
}
