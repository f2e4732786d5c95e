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
