/* analysis.h: what can be known of a stencil from its text alone. */
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

/* One point that an update reads; `input` counts as in the stencil. */
struct tap {
  int input;
  int offset[MAX_DIMS];
};

/* The weight of a tap in an output of a linear stencil, as text in the coefficients, such as "c1" or "-2*a". */
struct weight {
  int output;
  struct tap tap;
  const char *text;
  double value; /* for the default coefficients on the stencil's first grid */
};

/* Owns what it points to; end with analysis_free. */
struct analysis {
  struct tap *taps; /* each once; by input, then z, y, x */
  int tap_count;
  int offset_count;                                /* distinct offsets over all inputs */
  int radius_low[MAX_DIMS], radius_high[MAX_DIMS]; /* reach towards smaller and larger indices, both >= 0 */
  int radius[MAX_DIMS];                            /* the larger of both */
  int max_radius;
  enum shape shape;
  int pencil_axis;        /* of SHAPE_PENCIL and of a scan; else -1 */
  bool is_linear;         /* in all inputs together, with no constant term */
  struct weight *weights; /* of a linear stencil, by output, then as the taps */
  int weight_count;
  struct split split;         /* empty for a scan */
  int flops_per_point;        /* operators and functions as written; fma counts two, a sign none */
  int unique_flops_per_point; /* each repeated expression once; what only coefficients enter is free */
  int instructions_per_point; /* of those, with every multiplication that feeds one addition fused into an fma */
  int read_bytes_per_point[DTYPE_COUNT];
  int bytes_per_point[DTYPE_COUNT]; /* compulsory: each input read once, each output written once */
  bool can_iterate;
  /* The same bytes of a stencil that iterates, each of whose outputs is an input of the next step, as 2 D_u + D_k: D_u
   * those of the unknown fields, which a step reads and writes, D_k those of what it only reads; both 0 for others. */
  int unknown_bytes_per_point[DTYPE_COUNT], known_bytes_per_point[DTYPE_COUNT];
  char *canonical; /* the text that `hash` is the hash of */
  struct hash hash;
  struct arena arena;
};

/* Analyse a stencil.
 *   out  receives the analysis, the caller's to analysis_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status analysis_make(const struct stencil *stencil, struct analysis **out);

void analysis_free(struct analysis *analysis);

/* flops per byte: of compulsory traffic, and of what is read alone. */
double analysis_intensity(const struct analysis *analysis, enum dtype dtype);
double analysis_read_intensity(const struct analysis *analysis, enum dtype dtype);

/* The points that a sweep computes: on `skip` axes those whose taps stay inside, else all. Where none are left, low is
 * not below high on some axis. */
void analysis_computed(const struct analysis *analysis, const struct stencil *stencil, const struct grid *grid,
                       long low[MAX_DIMS], long high[MAX_DIMS]);

/* Whether an input is read beyond the point itself. */
bool is_staged(const struct analysis *analysis, int input);

#endif
