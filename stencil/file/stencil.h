/* stencil.h: a stencil as its file describes it. docs/stencil-format.md describes the file for users. */
#ifndef STENCIL_FILE_STENCIL_H
#define STENCIL_FILE_STENCIL_H

#include <stdbool.h>

#include "base/identity/identity.h"
#include "base/memory/arena.h"
#include "base/text/text.h"
#include "stencil/expression/expr.h"
#include "stencil/expression/parse.h"

enum { MAX_FIELDS = 16, MAX_COEFFICIENTS = 1024, MAX_GRIDS = 64 };

enum stencil_kind { STENCIL_STENCIL, STENCIL_SCAN };

/* What a tap beyond the grid reads, or whether a point with such a tap is computed at all. */
enum boundary {
  BOUNDARY_SKIP,              /* such a point is not written */
  BOUNDARY_PERIODIC,          /* point n is point 0 */
  BOUNDARY_PERIODIC_ENDPOINT, /* point n-1 is point 0; the images are points n-1-r..n-2 and 1..r */
  BOUNDARY_CLAMP,             /* it reads the nearest point of the grid */
  BOUNDARY_ZERO,              /* it reads 0 */
  BOUNDARY_KEEP,              /* such a point gets the input's value that the output becomes in the next step */
  BOUNDARY_MIRROR,            /* point -1 is point 0: the mirror is the face of the last cell */
  BOUNDARY_MIRROR_NODE,       /* point -1 is point 1: the mirror is the last point */
  BOUNDARY_ODD_MIRROR,        /* as BOUNDARY_MIRROR, and the value changes its sign */
  BOUNDARY_ODD_MIRROR_NODE,
  BOUNDARY_VALUE, /* it reads a number or a coefficient, which stands in the file in place of a word */
  BOUNDARY_COUNT
};

enum edge_side { SIDE_LOW, SIDE_HIGH, SIDES };

/* The rule at one end of an axis. */
struct edge {
  enum boundary rule;
  int coefficient; /* for BOUNDARY_VALUE: the number of the coefficient, or -1 for a number */
  double number;   /* the number if the value is one; else 0 */
};

enum dtype { DTYPE_F32, DTYPE_F64, DTYPE_COUNT };

/* The type of an input's elements. Most inputs have the element type of the outputs. A mask has whole numbers from 0
 * to 255. */
enum input_type { INPUT_OF_DTYPE, INPUT_U8, INPUT_TYPE_COUNT };
enum { MOST_U8 = 255 };

struct grid {
  long n[MAX_DIMS]; /* points in x, y, z; 1 along axes that the stencil does not have */
};

/* The most points that a grid may have along one axis, and in all. */
#define GRID_MOST_AXIS_POINTS (1L << 31)
#define GRID_MOST_POINTS (1L << 40)

struct coefficient {
  const char *name;
  struct formula value; /* the default value; it may use nx, ny, nz, pi and earlier coefficients */
};

/* A formula that gives a field's values. It may use x, y, z (from 0 to 1 over the grid, see coordinates in
 * docs/stencil-format.md), nx, ny, nz, pi, steps and the coefficients. */
struct exact {
  bool is_output;
  int field;
  struct formula value;
};

/* The range of an input's test values: low < high, or both 0 where the file does not give a range. */
struct value_range {
  double low, high;
};

/* After a time step, this output (or input) becomes input `to` of the next step. */
struct iterate {
  bool from_output;
  int from, to;
};

/* An output that may lie in the memory of an input. Only this output reads or keeps the input, at the computed point
 * alone. */
struct in_place {
  int output, input;
};

/* Names that formulas and updates may use besides those that the file declares. The index of an EXPR_VARIABLE is one of
 * these. */
enum variable {
  VARIABLE_NX,
  VARIABLE_NY,
  VARIABLE_NZ,
  VARIABLE_PI,
  VARIABLE_X,
  VARIABLE_Y,
  VARIABLE_Z,
  VARIABLE_INDEX_X, /* for an update: the number of the point along x, from 0; it is also called x */
  VARIABLE_INDEX_Y,
  VARIABLE_INDEX_Z,
  VARIABLE_STEPS, /* for `exact`: how often the update is applied, 0 for inputs */
  VARIABLE_COUNT
};
extern const char *const variable_names[VARIABLE_COUNT];

enum { DEFAULT_MARGIN = -1 };

/* Owns all that it points to; end with stencil_free. It does not change after it was read, so any number of threads may
 * use it. */
struct stencil {
  const char *name, *about, *origin; /* origin: where the scheme comes from (the field `source`) */
  enum stencil_kind kind;
  int dims;
  int axis; /* for a scan: 0, 1, 2 for x, y, z */
  const char *inputs[MAX_FIELDS], *outputs[MAX_FIELDS];
  int input_count, output_count;
  enum input_type input_types[MAX_FIELDS];
  /* The axes along which an input has points, where these are not all: it has the same values at all points along the
   * other axes, and no memory for them. Bit 0 is x. 0: all axes */
  unsigned input_axes[MAX_FIELDS];
  struct coefficient *coefficients;
  int coefficient_count;
  struct update update;      /* empty for a scan */
  bool uses_index[MAX_DIMS]; /* whether the update uses the number of the point along each axis */
  struct edge boundary[MAX_DIMS][SIDES];
  struct edge input_boundary[MAX_FIELDS][MAX_DIMS][SIDES]; /* the axis's rule if the file gives the input no other */
  /* For each output, the points that are left out at the ends of an axis; DEFAULT_MARGIN where the file does not say */
  int margins[MAX_FIELDS][MAX_DIMS][SIDES];
  struct iterate iterate[MAX_FIELDS];
  int iterate_count;
  struct in_place in_place[MAX_FIELDS];
  int in_place_count;
  bool dtypes[DTYPE_COUNT];
  struct grid grids[MAX_GRIDS];
  int grid_count;
  double tolerance; /* allowed error in units of the expected rounding; 0 where the file gives none */
  struct exact exact[2 * MAX_FIELDS];
  int exact_count;
  struct value_range values[MAX_FIELDS]; /* one for each input */
  bool has_basic_fields; /* the file uses only fields and forms that every version of the language has */
  struct exprs exprs;    /* the nodes of all formulas and of the update */
  struct arena arena;
};

/* Read a stencil file.
 *   path  a YAML file of at most MAX_STENCIL_BYTES
 *   out   receives the stencil, which the caller frees with stencil_free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and a caret; HALOTUNE_NOT_FOUND, HALOTUNE_IO or
 * HALOTUNE_MEMORY. */
halotune_status stencil_read(const char *path, struct stencil **out);

/* Like stencil_read, for a text in memory, with the same limit. The stencil does not need `source` afterwards. */
halotune_status stencil_parse(const struct source *source, struct stencil **out);

/* Fails with HALOTUNE_PARSE if a text of a stencil or a template is longer than a file of it may be. A parse takes some
 * fifty times as much memory as its text.
 *   name  stands in the message */
halotune_status stencil_length_check(const char *name, size_t length);

void stencil_free(struct stencil *stencil);

enum { MAX_STENCIL_BYTES = 1 << 20 };

/* Names as files and users spell them: "f32", "periodic", "scan". */
extern const char *const dtype_names[DTYPE_COUNT];
extern const char *const input_type_names[INPUT_TYPE_COUNT]; /* NULL for the type of the outputs, which has no name */
extern const char *const boundary_names[BOUNDARY_COUNT];     /* NULL for a value, which has no name */
extern const char *const kind_names[];
extern const char axis_names[MAX_DIMS + 1]; /* "xyz" */

size_t dtype_bytes(enum dtype dtype);

/* Append a rule as the file spells it: a word, a number or the name of a coefficient. */
void edge_write(struct text *text, const struct stencil *stencil, const struct edge *edge);

/* Append the rules of both ends of an axis: one word if they are equal, else two with `between` between them. */
void edges_write(struct text *text, const struct stencil *stencil, const struct edge edges[SIDES], const char *between);

/* Append all rules and margins as one line for people: "x mirror, y periodic; hu: x odd_mirror". */
void boundary_write(struct text *text, const struct stencil *stencil);

bool edge_equal(const struct edge *a, const struct edge *b);

/* Whether points with taps beyond this end of the axis are not computed. */
bool edge_leaves_out(const struct edge *edge);

/* Whether a point beyond this end reads a point near the other end of the axis. */
bool edge_is_periodic(const struct edge *edge);

/* Whether a point beyond this end reads its mirror image. */
bool edge_mirrors(const struct edge *edge);

/* Whether another output copies values of an input to points that it keeps. The other output may be stored first, so
 * this one must not lie in the memory of the input.
 *   by  receives the other output; undefined if there is none */
bool stencil_is_kept_by_another(const struct stencil *stencil, int input, int output, int *by);

/* The input in whose memory an output may lie; -1 for none, and for an array that a launch carries. */
int stencil_in_place(const struct stencil *stencil, int output);

/* Whether an input has points along this axis of the stencil. */
bool input_lies_along(const struct stencil *stencil, int input, int axis);

/* Whether an input lies along some axes only, so that its place in memory is not that of other fields. */
bool input_is_thin(const struct stencil *stencil, int input);

/* Whether an input lies along all axes and has the element type of the outputs. Kernels load other inputs at the points
 * that they compute, for each tap again, and never keep them in shared memory. */
bool input_is_whole(const struct stencil *stencil, int input);

/* Append the axes of an input as the file spells them: "x" or "[x, z]". */
void input_axes_write(struct text *text, const struct stencil *stencil, int input);

/* Compute the coefficients' default values for a grid.
 *   values  receives coefficient_count numbers
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT where a default is not finite on this grid; or HALOTUNE_MEMORY. */
halotune_status stencil_coefficients(const struct stencil *stencil, const struct grid *grid, double *values);

/* Like stencil_coefficients, with some values given. Defaults that use a given coefficient use the given value.
 *   given  coefficient_count finite numbers, NaN for a default; NULL: all are defaults */
halotune_status stencil_coefficients_with(const struct stencil *stencil, const struct grid *grid, const double *given,
                                          double *values);

/* The points that an axis needs so that mirror images lie in the grid as far as the longest taps of any input reach; 1
 * without mirrors. */
long stencil_least_points(const struct stencil *stencil, int axis);

/* Check that the stencil can have this grid: at most GRID_MOST_POINTS points, at least two points along each axis that
 * is periodic_endpoint, and mirror images that lie in the grid. The caller has checked that each n is from 1 to
 * GRID_MOST_AXIS_POINTS.
 *   axis  receives the axis that is wrong, or -1 if the product is wrong; may be NULL
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status stencil_check_grid(const struct stencil *stencil, const struct grid *grid, int *axis);

/* Whether an `exact` formula is for a field after so many applications of the update: 1, or any if it uses `steps`. */
bool stencil_exact_is_for(const struct stencil *stencil, const struct exact *exact, long steps);

/* Compute the value of an `exact` formula at one point.
 *   coefficients  from stencil_coefficients
 *   steps         applications of the update
 *   point         indices from 0; the grid and the boundary rules turn them into coordinates */
halotune_status stencil_exact(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                              const double *coefficients, long steps, const long point[MAX_DIMS], double *value);

#endif
