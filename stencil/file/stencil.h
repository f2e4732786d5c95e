/* stencil.h: a stencil as its file describes it. docs/stencil-format.md is the users' view of the same. */
#ifndef STENCIL_FILE_STENCIL_H
#define STENCIL_FILE_STENCIL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "stencil/expression/expr.h"
#include "stencil/expression/parse.h"

enum { MAX_FIELDS = 16, MAX_COEFFICIENTS = 1024, MAX_GRIDS = 64 };

enum stencil_kind { STENCIL_STENCIL, STENCIL_SCAN };

/* What a tap beyond the grid reads, or whether a point that has such a tap is computed at all. */
enum boundary {
  BOUNDARY_SKIP,              /* the point is not written */
  BOUNDARY_PERIODIC,          /* point n is point 0 */
  BOUNDARY_PERIODIC_ENDPOINT, /* point n-1 is point 0: the images are points n-1-r..n-2 and 1..r */
  BOUNDARY_CLAMP,             /* the nearest point of the grid */
  BOUNDARY_ZERO,              /* 0 */
};

enum dtype { DTYPE_F32, DTYPE_F64, DTYPE_COUNT };

struct grid {
  long n[MAX_DIMS]; /* points in x, y, z; 1 along the axes that the stencil does not have */
};

/* How many points a grid may have along one axis, and together. */
#define GRID_MOST_AXIS_POINTS (1L << 31)
#define GRID_MOST_POINTS (1L << 40)

struct coefficient {
  const char *name;
  struct formula value; /* the default, of nx, ny, nz, pi and earlier coefficients */
};

/* A formula for a field in x, y, z (from 0 to 1 over the grid, see coordinates in docs/stencil-format.md), nx, ny, nz, pi
 * and the coefficients. */
struct exact {
  bool is_output;
  int field;
  struct formula value;
};

/* What an input holds where it is made to test with: low < high, or both 0 where the file does not say. */
struct value_range {
  double low, high;
};

/* From one time step to the next: this output, or input, becomes this input. */
struct iterate {
  bool from_output;
  int from, to;
};

/* Names that formulas may use beside the coefficients; what EXPR_VARIABLE's index counts. */
enum variable {
  VARIABLE_NX,
  VARIABLE_NY,
  VARIABLE_NZ,
  VARIABLE_PI,
  VARIABLE_X,
  VARIABLE_Y,
  VARIABLE_Z,
  VARIABLE_COUNT
};
extern const char *const variable_names[VARIABLE_COUNT];

/* Owns all that it points to; end with stencil_free. Not changed once it is read, so any number of threads may read it. */
struct stencil {
  const char *name, *about, *origin; /* origin: where the scheme comes from, the field `source` */
  enum stencil_kind kind;
  int dims;
  int axis; /* of a scan: 0, 1, 2 for x, y, z */
  const char *inputs[MAX_FIELDS], *outputs[MAX_FIELDS];
  int input_count, output_count;
  struct coefficient *coefficients;
  int coefficient_count;
  struct update update; /* empty for a scan */
  enum boundary boundary[MAX_DIMS];
  struct iterate iterate[MAX_FIELDS];
  int iterate_count;
  bool dtypes[DTYPE_COUNT];
  struct grid grids[MAX_GRIDS];
  int grid_count;
  double tolerance; /* allowed error in units of the expected rounding; 0 where the file gives none */
  struct exact exact[2 * MAX_FIELDS];
  int exact_count;
  struct value_range values[MAX_FIELDS]; /* of the inputs */
  struct exprs exprs;                    /* the nodes of all formulas and of the update */
  struct arena arena;
};

/* Read a stencil file.
 *   path  a YAML file of at most MAX_STENCIL_BYTES
 *   out   receives the stencil, the caller's to stencil_free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with file, line, column and a caret; HALOTUNE_NOT_FOUND, HALOTUNE_IO or
 * HALOTUNE_MEMORY. */
halotune_status stencil_read(const char *path, struct stencil **out);

/* The same for a text in memory; `source` is not needed afterwards. */
halotune_status stencil_parse(const struct source *source, struct stencil **out);

void stencil_free(struct stencil *stencil);

enum { MAX_STENCIL_BYTES = 1 << 20 };

/* Names as files and users spell them: "f32", "periodic", "scan". */
extern const char *const dtype_names[DTYPE_COUNT];
extern const char *const boundary_names[];
extern const char *const kind_names[];
extern const char axis_names[MAX_DIMS + 1]; /* "xyz" */

size_t dtype_bytes(enum dtype dtype);

/* The values of the coefficients for a grid: each one's default.
 *   values  receives coefficient_count numbers
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT where a default is not finite on this grid; or HALOTUNE_MEMORY. */
halotune_status stencil_coefficients(const struct stencil *stencil, const struct grid *grid, double *values);

/* Whether the stencil can have this grid: GRID_MOST_POINTS, and at least two points along an axis that is
 * periodic_endpoint. Each n is known to be from 1 to GRID_MOST_AXIS_POINTS.
 *   axis  receives the axis that is wrong, -1 for all together; may be NULL
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status stencil_check_grid(const struct stencil *stencil, const struct grid *grid, int *axis);

/* The value of an `exact` formula at one point.
 *   coefficients  as stencil_coefficients gave them
 *   point         indices from 0; coordinates follow from them, the grid and the boundary rules */
halotune_status stencil_exact(const struct stencil *stencil, const struct exact *exact, const struct grid *grid,
                              const double *coefficients, const long point[MAX_DIMS], double *value);

#endif
