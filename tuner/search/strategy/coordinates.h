/* coordinates.h: variants of all templates as points of one space, so that one template tells of others. */
#ifndef SEARCH_STRATEGY_COORDINATES_H
#define SEARCH_STRATEGY_COORDINATES_H

#include "tuner/search/strategy/gaussian.h"
#include "tuner/search/variants/search_space.h"

/* Parameters of the same name share an axis. A parameter of numbers goes from 0 to 1: by its logarithm where all
 * values are positive, else by its place among them. If it has more than two values, it has a second axis on which
 * each value is a category: some numbers, such as multiples of 32, are fast for reasons that their neighbours do not
 * share. A parameter of words is a category. The template is one more category. On the axis of a parameter that a
 * template lacks, its variants are in the middle, or a category of their own. */
struct coordinates {
  int axes;
  bool is_category[GAUSSIAN_MOST_AXES];
  double (*of)[MAX_PARAMETERS][MAX_VALUES]; /* the coordinate of each value of each template */
  int (*axis)[MAX_PARAMETERS];              /* the axis of each parameter of each template; -1: none */
  int twin[GAUSSIAN_MOST_AXES]; /* for an axis of numbers, the axis on which the same values are categories; -1: none */
  double absent[GAUSSIAN_MOST_AXES];
};

/* Find the axes of a space. A parameter with one value has an axis only if an earlier template's parameter of its name
 * has. A parameter has none either if all axes are in use.
 *   out  ended with coordinates_free, also after a failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status coordinates_make(const struct search_space *space, struct coordinates *out);
void coordinates_free(struct coordinates *coordinates);

/* The coordinates of a variant.
 *   out  room for `axes` numbers */
void coordinates_write(const struct coordinates *coordinates, const struct search_space *space,
                       const struct proposal *proposal, double out[]);

#endif
