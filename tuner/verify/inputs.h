/* inputs.h: test fields that depend only on a seed, not on the number of threads. They are never constant and have no
 * zeros. */
#ifndef TUNER_VERIFY_INPUTS_H
#define TUNER_VERIFY_INPUTS_H

#include "base/system/ending.h"
#include "tuner/verify/box.h"

enum input_kind {
  INPUT_SMOOTH, /* a sum of plane waves, periodic where the axis is, with different wave numbers along each axis */
  INPUT_RANDOM, /* uniform from -1 to 1 */
  INPUT_WIDE,   /* of both signs, with sizes from 2^-30 to 2^30; each power of two is equally likely */
  INPUT_KIND_COUNT
};
extern const char *const input_kind_names[INPUT_KIND_COUNT];

struct inputs {
  enum input_kind kind;
  uint64_t seed;
  enum dtype dtype; /* values are rounded to it, so that a kernel and the reference start from the same numbers */
  int threads;      /* 0: one for each CPU */
  /* the update is not linear; inputs are then from 1/4 to 1, where most functions are defined and no power overflows */
  bool is_nonlinear;
  bool asks_signs; /* see analysis.h; inputs are then from -1 to 1, so that each side of a comparison is computed */
};

/* How the values of one field are drawn. */
struct input_rule {
  uint64_t key;
  long period[MAX_DIMS];    /* the values of an axis repeat after so many points: 1 along axes that an input lacks */
  struct value_range range; /* both 0: the kind's own values */
  bool is_u8;               /* whole numbers: at least `low`, less than `high` */
};

/* The rule of one field; see inputs_fill. */
struct input_rule input_rule(const struct inputs *inputs, int field, const struct stencil *stencil,
                             const struct grid *grid);

/* The value of INPUT_RANDOM at a point of the grid, rounded to the type. */
double input_value(const struct input_rule *rule, const struct grid *grid, enum dtype dtype, long x, long y, long z);

/* Fill one field of a stencil. An input with `values` in the stencil's file gets values in that range, distributed by
 * their kind. Other inputs of a nonlinear update get values from 1/4 to 1, or from -1 to 1 if it asks for signs. All
 * others are at most 1 in size, except INPUT_WIDE.
 *   field   distinguishes the fields of a seed, for example by the number of the input
 *   ending  asked before every few thousand points
 *   values  receives the dense array. On an axis that is periodic_endpoint the last point repeats the first
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED when the ending came; HALOTUNE_MEMORY. */
halotune_status inputs_fill(const struct inputs *inputs, int field, const struct stencil *stencil,
                            const struct grid *grid, const struct ending *ending, double *values);

/* The points of a box that each step writes in all outputs of a group of fields that exchange places. The fields share
 * the other points.
 *   group  its leader, see iterate_leaders */
struct box inputs_shared_box(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                             const struct grid *grid, int group);

/* Prepare fields for several steps. Fields that exchange places in `iterate` get equal values at the points that no
 * step computes: those of the first such input. Nothing ever writes these points, so a buffer must have the same values
 * there whichever field it holds.
 *   box              what is computed; see box_computed
 *   inputs, outputs  dense arrays by the stencil's numbers; fields that do not exchange places do not change */
void inputs_share_skipped(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                          const struct grid *grid, double *const inputs[], double *const outputs[]);

#endif
