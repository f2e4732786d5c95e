/* least_squares.h: the coefficients of a linear model that fit observations best. */
#ifndef LIBRARY_PREDICT_LEAST_SQUARES_H
#define LIBRARY_PREDICT_LEAST_SQUARES_H

#include <stdbool.h>

enum { LEAST_SQUARES_MOST = 16 };

/* Sums over observations. Start with {.count = number of coefficients}. */
struct least_squares {
  int count;
  double matrix[LEAST_SQUARES_MOST][LEAST_SQUARES_MOST], right[LEAST_SQUARES_MOST], weight;
};

/* Add an observation: value = sum of coefficients times features, with a weight. */
void least_squares_add(struct least_squares *sums, const double *features, double value, double weight);

/* Find the coefficients.
 *   usual  values that coefficients keep where observations tell nothing about them
 *   pull   how strongly they are kept, as a share of the observations: 0.001 keeps what is hardly determined
 * Returns false if there is no solution; then `out` is `usual`. */
bool least_squares_solve(const struct least_squares *sums, const double *usual, double pull, double *out);

#endif
