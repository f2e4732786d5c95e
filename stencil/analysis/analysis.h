/* analysis.h: facts about a stencil that follow from its text: taps, reach, shape, weights, operations,
 * identity. */
#ifndef STENCIL_ANALYSIS_ANALYSIS_H
#define STENCIL_ANALYSIS_ANALYSIS_H

#include "stencil/analysis/split.h"

enum shape {
  SHAPE_POINTWISE, /* only the point itself */
  SHAPE_PENCIL,    /* points along one axis */
  SHAPE_STAR,      /* points along several axes */
  SHAPE_BOX,       /* every point of a box with more than one axis */
  SHAPE_GENERAL,   /* anything else */
};
extern const char *const shape_names[];

/* One point that an update reads. `input` is the input's number in the stencil. */
struct tap {
  int input;
  int offset[MAX_DIMS];
};

/* The weight of a tap in an output of a linear stencil. Its text is a formula in the coefficients, such as "c1" or
 * "-2*a". */
struct weight {
  int output;
  struct tap tap;
  const char *text;
  double value; /* for the default coefficients on the stencil's first grid */
};

/* Owns what it points to; end with analysis_free. */
struct analysis {
  struct tap *taps; /* each tap once; sorted by input, then z, y, x */
  int tap_count;
  unsigned whole_inputs;                           /* one bit for each input: see input_is_whole */
  unsigned neighbour_inputs;                       /* likewise: read at other points than the computed point */
  int offset_count;                                /* distinct offsets over all inputs */
  int radius_low[MAX_DIMS], radius_high[MAX_DIMS]; /* reach towards smaller and larger indices, both >= 0 */
  int radius[MAX_DIMS];                            /* the larger of the two */
  int max_radius;
  enum shape shape;
  int pencil_axis; /* for SHAPE_PENCIL and scans; else -1 */
  bool is_linear;  /* linear in all inputs together, with no constant term */
  bool asks_signs; /* it compares fields, and is defined where they are negative: tests need values of both signs */
  struct weight *weights; /* only of a linear stencil; sorted by output, then in the order of the taps */
  int weight_count;
  struct split split;         /* empty for a scan */
  int flops_per_point;        /* operators and functions as written; fma counts as two, a sign as none */
  int unique_flops_per_point; /* repeated expressions count once; expressions of coefficients alone do not count */
  /* as unique_flops_per_point, but a multiplication that feeds one addition counts as one fma with it */
  int instructions_per_point;
  /* the same where a march groups weights that repeat: see split.h */
  int grouped_instructions_per_point;
  int read_bytes_per_point[DTYPE_COUNT];
  int bytes_per_point[DTYPE_COUNT]; /* compulsory traffic: each input is read once, each output is written once */
  bool can_iterate;
  /* bytes_per_point as 2 D_u + D_k, for a stencil each of whose outputs becomes an input of the next step. D_u counts
   * the unknown fields, which a step reads and writes; D_k counts the fields that it only reads. Both are 0 for other
   * stencils. */
  int unknown_bytes_per_point[DTYPE_COUNT], known_bytes_per_point[DTYPE_COUNT];
  struct identity hash; /* of the canonical form (canonical.c) */
  struct arena arena;
};

/* Analyse a stencil.
 *   out  receives the analysis, which the caller frees with analysis_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status analysis_make(const struct stencil *stencil, struct analysis **out);

/* Analyse a chain of updates as one: its taps are those of all updates, so that its reach is the farthest of any. It
 * has neither weights nor a split, and as many instructions as its longest update.
 *   stencil  the stencil of the first update; the others have the same fields (see stages_check)
 *   parts    the analyses of the updates
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status analysis_of_chain(const struct stencil *stencil, const struct analysis *const parts[], int count,
                                  struct analysis **out);

void analysis_free(struct analysis *analysis);

/* Floating-point operations per byte: of the compulsory traffic, and of the bytes that are read. The latter is NaN if
 * no byte a point is read, because all inputs lie along some axes only. */
double analysis_intensity(const struct analysis *analysis, enum dtype dtype);
double analysis_read_intensity(const struct analysis *analysis, enum dtype dtype);

/* The number of points that an output leaves out at one end of an axis. The file may give it; else these are the
 * points whose taps lie beyond an end with `skip` or `keep`. */
int margin_of(const struct stencil *stencil, const struct analysis *analysis, int output, int axis,
              enum edge_side side);

/* The points of an output that a sweep writes: low <= point < high. At ends with `skip` these are the points that it
 * does not leave out. If there are none, low is not below high on some axis. */
void analysis_written(const struct analysis *analysis, const struct stencil *stencil, const struct grid *grid,
                      int output, long low[MAX_DIMS], long high[MAX_DIMS]);

/* The smallest box with the points of all outputs that a sweep writes. */
void analysis_computed(const struct analysis *analysis, const struct stencil *stencil, const struct grid *grid,
                       long low[MAX_DIMS], long high[MAX_DIMS]);

/* What a sweep does with an output at a point of the sweep's box. */
enum point_state {
  POINT_COMPUTED,
  POINT_KEPT, /* the output gets the value of the input that it becomes */
  POINT_LEFT, /* the output is not written */
};
enum point_state analysis_point_state(const struct analysis *analysis, const struct stencil *stencil,
                                      const struct grid *grid, int output, const long point[MAX_DIMS]);

/* Whether some points of the box have another state than POINT_COMPUTED. */
bool analysis_has_masks(const struct analysis *analysis, const struct stencil *stencil);

/* The input that an output becomes in the next step; -1 for none. */
int analysis_kept_input(const struct stencil *stencil, int output);

/* Whether a point beyond the grid has the same image for all inputs. */
bool analysis_shares_images(const struct stencil *stencil);

/* Whether some tap of a computed point reads anything but 0 beyond the grid. */
bool analysis_fills_ends(const struct analysis *analysis, const struct stencil *stencil);

/* Whether some tap beyond an end reads a point at the other end of the grid. Only taps of computed points count. */
bool analysis_has_far_ends(const struct analysis *analysis, const struct stencil *stencil);

/* Whether taps beyond the grid read values that each time step has to find again: an image that is not itself a
 * computed point, or a number other than 0. */
bool analysis_has_ghosts(const struct analysis *analysis, const struct stencil *stencil);

/* Whether every tap lies on an axis through the point. */
bool analysis_taps_on_axes(const struct analysis *analysis);

/* Whether taps of some input beyond an end of the axis read mirror images. */
bool analysis_mirrors(const struct analysis *analysis, const struct stencil *stencil, int axis);

/* Whether each group of neighbours beyond the grid in x is a group of the grid in the same order, or no point of the
 * grid. The groups divide the row. */
bool analysis_has_whole_images(const struct analysis *analysis, const struct stencil *stencil);

/* Whether an output leaves out other points than those whose taps reach beyond the grid. */
bool analysis_has_own_margins(const struct analysis *analysis, const struct stencil *stencil);

/* Whether each axis has one of the rules skip, periodic, periodic_endpoint, clamp and zero, for both ends, all inputs
 * and all outputs. */
bool analysis_is_plain(const struct analysis *analysis, const struct stencil *stencil);

/* Whether read_point needs the point's coordinates, and not only a place in memory: for the number of the point along
 * some axis, an input that lies along some axes, or a neighbour in a mask. */
bool analysis_uses_axes(const struct analysis *analysis, const struct stencil *stencil);

/* Find the tap that this node reads. Returns its position among the analysis' taps; -1 for none. */
int find_tap(const struct analysis *analysis, const struct expr *node);

/* Whether the stencil reads a whole input (see input_is_whole) at other points than the computed point. */
bool is_staged(const struct analysis *analysis, int input);

#endif
