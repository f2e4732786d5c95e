/* split.h: an update taken apart for a march through planes.
 *
 * A form is a sum of weighted taps, such as the laplacian in an update. When the march loads a plane, it adds the
 * plane's values to the forms of all planes whose taps reach it. So it keeps sums for the incomplete planes instead of
 * the planes themselves. The rest of the update reads the forms, and inputs at the computed point. Every update can be
 * taken apart like this. An update that needs too many forms is left whole. */
#ifndef STENCIL_ANALYSIS_SPLIT_H
#define STENCIL_ANALYSIS_SPLIT_H

#include "stencil/file/stencil.h"

enum { MAX_FORMS = 8 };

/* A tap of a form. */
struct form_weight {
  int tap;    /* number of the tap in the analysis */
  int factor; /* a node of the split's expressions */
  int number; /* weights that read alike have the same number: the same names of coefficients, and equal numbers */
};

/* A point of the plane that comes in, at an offset from the computed point. In two dimensions y is 0. */
struct plane_point {
  int input, x, y;
};

/* Points whose weights for every plane that receives them are equal, or the same multiple of those of the first point.
 * Their values are added first, and each weight of the first point multiplies the sum. A point that gains nothing by
 * this is a group of its own. */
struct point_group {
  struct plane_point *points; /* sorted by input, then x, then y */
  int point_count;
  double *scales; /* of each point: its weights over those of the first point; not 1 only if all weights are numbers */
  int *weights;   /* [plane - first_plane]: the number of the weight; -1 where the plane has none */
};

struct form {
  int root; /* the node of the update that this form computes */
  int first_weight, weight_count;
  int first_plane, last_plane; /* planes of its taps, relative to the output's plane */
  int kept_until;              /* the form is read when this plane was loaded; at least last_plane */
  struct point_group *groups;
  int group_count;
  /* [plane - first_plane]: the first plane with the same weights, counted from first_plane, if the sum of such planes
   * is computed once and added to all of them; else -1 */
  int *shared_with;
};

/* Owns its expressions; analysis_free frees them. */
struct split {
  int form_count; /* 0: the update is left whole */
  int axis;       /* the axis along which a kernel marches: y in two dimensions, else z */
  struct form forms[MAX_FORMS];
  struct form_weight *weights; /* the weights of all forms, in the order of the forms */
  int weight_count;
  int weight_numbers;    /* distinct numbers of weights */
  double *weight_values; /* by number; NAN for a weight with coefficients */
  int delay[MAX_FIELDS]; /* for each output, planes that are loaded after its own plane before it is complete */
  /* [output][input]: the rest of the update reads this whole input at the computed point */
  bool reads_beside[MAX_FIELDS][MAX_FIELDS];
  bool *reads_taps; /* [output*taps + tap]: the rest reads this tap of an input that is not whole */
  bool reads_index[MAX_FIELDS][MAX_DIMS]; /* [output][axis]: it uses the number of the point along this axis */
  /* sums that a thread keeps for each point between planes, over all forms */
  int partial_sums;
  /* Operations for each point that add_plane takes with groups, where neighbours in x share sums of columns. A fused
   * multiply-add is one. Without groups it takes weight_count. */
  int grouped_operations;
  struct exprs exprs; /* the stencil's nodes, followed by the factors */
};

/* Find the form that computes a node of the update. Returns -1 for none. */
int split_form(const struct split *split, int node);

/* The number of points of a group, from `first` on, that have the input and the x of this point. */
int group_column(const struct point_group *group, int first);

/* The first column of a group that has the same offsets in y, with scales in the same proportion, as the column at
 * `first`. Neighbours in x compute the same sum for both columns. Returns the number of its first point. */
int group_column_like(const struct point_group *group, int first);

#endif
