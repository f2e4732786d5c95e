/* domain.c: extents, strides and the box to compute, for fields without gaps. */
#include "stencil/launch/domain.h"

#define AS_NAME(name, member) #name,
const char *const domain_number_names[DOMAIN_NUMBERS] = {DOMAIN_LIST(AS_NAME)};

void domain_numbers(const struct domain *domain, long numbers[DOMAIN_NUMBERS]) {
#define AS_STORE(name, member) numbers[DOMAIN_##name] = domain->member;
  DOMAIN_LIST(AS_STORE)
}

struct domain domain_dense(const struct stencil *stencil, const struct analysis *analysis, const struct grid *grid) {
  struct domain domain = {.grid = *grid, .row = grid->n[0], .plane = grid->n[0] * grid->n[1]};
  analysis_computed(analysis, stencil, grid, domain.low, domain.high);
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain.high[axis] < domain.low[axis]) domain.high[axis] = domain.low[axis];
  }
  return domain;
}

long domain_elements(const struct domain *domain) { return domain->plane * domain->grid.n[2]; }

void input_layout_points(const struct input_layout *layout, const struct grid *grid, long points[MAX_DIMS]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) points[axis] = layout->strides[axis] > 0 ? grid->n[axis] : 1;
}

struct input_layout domain_layout(const struct domain *domain, enum dtype dtype) {
  return (struct input_layout){{1, domain->row, domain->plane}, domain_elements(domain), dtype_bytes(dtype)};
}

struct input_layout input_layout_of(const struct stencil *stencil, int input, enum dtype dtype,
                                    const struct domain *domain) {
  const long lengths[MAX_DIMS] = {domain->row, domain->grid.n[1], domain->grid.n[2]};
  struct input_layout layout = domain_layout(domain, dtype);
  if (stencil->input_types[input] == INPUT_U8) layout.element_bytes = 1;
  if (!input_is_thin(stencil, input)) return layout;
  layout.elements = 1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const bool lies = input_lies_along(stencil, input, axis);
    layout.strides[axis] = lies ? layout.elements : 0;
    if (lies) layout.elements *= lengths[axis];
  }
  return layout;
}
