/* domain.h: how the fields of one launch lie in memory, and which points the launch computes. */
#ifndef STENCIL_LAUNCH_DOMAIN_H
#define STENCIL_LAUNCH_DOMAIN_H

#include "stencil/analysis/analysis.h"

/* All fields of a launch share it. Points and strides count elements. */
struct domain {
  struct grid grid;                   /* extents, including ghost layers */
  long row, plane;                    /* distance between neighbours in y and in z; at least nx and row*ny */
  long low[MAX_DIMS], high[MAX_DIMS]; /* the box to compute: low <= point < high */
};

/* The numbers of a domain, with the names that kernels give them, in the order in which they are passed. */
#define DOMAIN_LIST(X) \
  X(nx, grid.n[0])     \
  X(ny, grid.n[1])     \
  X(nz, grid.n[2])     \
  X(row, row) X(plane, plane) X(x0, low[0]) X(x1, high[0]) X(y0, low[1]) X(y1, high[1]) X(z0, low[2]) X(z1, high[2])

#define DOMAIN_AS_ENUMERATOR(name, member) DOMAIN_##name,
enum domain_number { DOMAIN_LIST(DOMAIN_AS_ENUMERATOR) DOMAIN_NUMBERS };
#undef DOMAIN_AS_ENUMERATOR

extern const char *const domain_number_names[DOMAIN_NUMBERS];
void domain_numbers(const struct domain *domain, long numbers[DOMAIN_NUMBERS]);

/* Make the domain of a grid without gaps between rows and planes. Its box has all points that the boundary rules allow
 * to compute, and may be empty. */
struct domain domain_dense(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid);

/* The number of elements of a field that lies along all axes. */
long domain_elements(const struct domain *domain);

/* Find the point of an element of a field that lies along all axes. */
static inline void domain_point(const struct domain *domain, long element, long point[MAX_DIMS]) {
  point[0] = element % domain->row;
  point[1] = element % domain->plane / domain->row;
  point[2] = element / domain->plane;
}

/* How a field lies in memory. */
struct input_layout {
  long strides[MAX_DIMS]; /* elements between neighbours; 0 along axes that the input does not have */
  long elements;          /* elements of the whole array; its last row and plane count in full */
  size_t element_bytes;
};

/* How many points an input has along each axis of a grid: 1 along axes that it does not have. */
void input_layout_points(const struct input_layout *layout, const struct grid *grid, long points[MAX_DIMS]);

/* The element of a point. Coordinates along axes that the input does not have do not count. */
static inline long input_layout_index(const struct input_layout *layout, long x, long y, long z) {
  return x * layout->strides[0] + y * layout->strides[1] + z * layout->strides[2];
}

/* The layout of outputs, and of inputs that are whole. */
struct input_layout domain_layout(const struct domain *domain, enum dtype dtype);

/* Find how an input lies in memory. An input along some axes only is as dense as the fields of the domain are: rows
 * along x are `row` elements apart. */
struct input_layout input_layout_of(const struct stencil *stencil, int input, enum dtype dtype,
                                    const struct domain *domain);

#endif
