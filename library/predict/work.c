/* work.c: the sizes of a problem. */
#include "library/predict/work.h"

struct predict_work predict_work_of(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                    const struct domain *domain) {
  const int axis = stencil->dims - 1;
  struct predict_work work = {.row_bytes = (double)domain->row * (double)dtype_bytes(dtype),
                              .depth = 1 + analysis->radius_low[axis] + analysis->radius_high[axis],
                              .bytes = analysis->bytes_per_point[dtype],
                              .operations = analysis->instructions_per_point,
                              .least_operations = analysis->grouped_instructions_per_point,
                              .dtype = dtype};
  for (int i = 0; i < MAX_DIMS; i++) {
    work.points[i] = (double)(domain->high[i] - domain->low[i]);
    work.bytes *= (double)domain->grid.n[i];
    work.operations *= work.points[i];
    work.least_operations *= work.points[i];
  }
  return work;
}
