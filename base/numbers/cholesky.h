/* cholesky.h: equations whose matrix A is symmetric and positive definite, solved by its factor L, for which A = L L'.
 *
 * Matrices are rows of `stride` numbers, of which only the lower half is read and written. */
#ifndef BASE_CHOLESKY_H
#define BASE_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* The sum of the products of two lists. Four sums, so that the processor need not wait for each addition. */
static inline double dot_product(const double *a, const double *b, int count) {
  double sums[4] = {0};
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int k = 0; k < 4; k++) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < count; i++) sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Replace a row of A by the row of L, after the rows before it were replaced.
 *   least  the matrix counts as singular if the square of an element of L's diagonal is not more than this
 * Returns false if the matrix is singular, or not positive definite. */
bool cholesky_row(double *matrix, size_t stride, int row, double least);

/* Replace all rows of A. Returns what cholesky_row does. */
bool cholesky_factor(double *matrix, size_t stride, int count, double least);

/* Replace b by L^-1 b. Its first `known` elements are already replaced: 0, or more if rows were added to L since. */
void cholesky_solve_lower(const double *lower, size_t stride, int known, int count, double *b);

/* Replace b by L'^-1 b. After cholesky_solve_lower, this gives A^-1 b. */
void cholesky_solve_upper(const double *lower, size_t stride, int count, double *b);

#endif
