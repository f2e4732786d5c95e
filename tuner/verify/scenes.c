/* scenes.c: chooses grids, domains, inputs and orders. */
#include "tuner/verify/scenes.h"

#include <stdio.h>
#include <stdlib.h>

#include "stencil/file/grid_text.h"

enum { WIDEST_VECTOR = 4, PLANES_BEHIND = 3 };

/* Grids for each number of dimensions. */
static const struct grid regular[] = {{{1920, 1, 1}}, {{96, 80, 1}}, {{48, 40, 36}}};
static const struct grid primes[] = {{{1009, 1, 1}}, {{89, 71, 1}}, {{61, 43, 23}}};
static const struct grid wide[] = {{{0, 0, 0}}, {{37, 11, 1}}, {{20, 299, 12}}}; /* one dimension has no strides */
static const struct grid small[] = {{{7, 1, 1}}, {{7, 5, 1}}, {{7, 5, 3}}};

static long at_least(long number, long least) { return number > least ? number : least; }

/* A grid with as many points along each axis as mirror images need. */
static struct grid with_images(const struct stencil *stencil, const struct grid *grid) {
  struct grid enough = *grid;
  for (int axis = 0; axis < stencil->dims; axis++)
    enough.n[axis] = at_least(enough.n[axis], stencil_least_points(stencil, axis));
  return enough;
}

/* Pad rows to a multiple of the widest vector plus one vector, and planes by one row. */
static void pad_rows(const struct stencil *stencil, struct domain *domain) {
  domain->row = (domain->grid.n[0] + WIDEST_VECTOR - 1) / WIDEST_VECTOR * WIDEST_VECTOR + WIDEST_VECTOR;
  domain->plane = domain->row * (domain->grid.n[1] + (stencil->dims > 1));
}

/* Choose a grid with long lines along the axis of a pencil or scan, else along x. For a scan it has few lines, so that
 * several parts of a line are processed at the same time. */
static struct grid long_lines(const struct stencil *stencil, const struct analysis *analysis) {
  bool scan = stencil->kind == STENCIL_SCAN;
  const long length = 613, across[MAX_DIMS] = {scan ? 13 : 9, scan ? 4 : 5, scan ? 3 : 4};
  struct grid grid = {{1, 1, 1}};
  for (int axis = 0; axis < stencil->dims && axis < MAX_DIMS; axis++) grid.n[axis] = across[axis];
  grid = with_images(stencil, &grid);
  grid.n[analysis->pencil_axis < 0 ? 0 : analysis->pencil_axis] = stencil->dims == 1 ? 10 * length : length;
  return grid;
}

/* Choose strides so long that the index of the last elements does not fit into 32 bits. */
static void use_long_strides(const struct stencil *stencil, struct domain *domain) {
  const long long_stride = (1L << 28) + 64;
  domain->row = stencil->dims == 2 ? long_stride : 40;
  domain->plane = stencil->dims == 2 ? long_stride * domain->grid.n[1] : long_stride;
}

/* Leave out ghost layers. Along x the box begins inside a vector whose taps are all in the grid. If the box has several
 * planes, the grid has more planes after them, with their taps. A block that computes planes outside the box then fails
 * without leaving the grid. */
static void leave_ghosts(const struct stencil *stencil, const struct analysis *analysis, struct domain *domain) {
  domain->low[0] += WIDEST_VECTOR;
  for (int axis = 0; axis < stencil->dims; axis++) {
    domain->low[axis] += analysis->radius_low[axis] > 0 ? analysis->radius_low[axis] : 1;
    domain->high[axis] -= analysis->radius_high[axis] + 1;
    if (axis == 2 && domain->high[axis] - domain->low[axis] > PLANES_BEHIND) domain->high[axis] -= PLANES_BEHIND;
    if (domain->high[axis] < domain->low[axis]) domain->high[axis] = domain->low[axis];
  }
}

static void name_scene(struct staged_scene *staged, int dims, const char *what) {
  const struct scene_request *request = &staged->scene.request;
  char grid[GRID_TEXT_BYTES];
  grid_write(&request->domain.grid, dims, grid);
  const size_t length = (size_t)snprintf(staged->name, sizeof staged->name, "%s%s", grid, what);
  if (request->steps > 1 && request->launch_steps > 1) {
    snprintf(staged->name + length, sizeof staged->name - length, ", %d steps by %d", request->steps,
             request->launch_steps);
    return;
  }
  if (request->steps > 1) snprintf(staged->name + length, sizeof staged->name - length, ", %d steps", request->steps);
}

/* The first scene of a domain runs in all orders, the others in one order each. */
static void choose_orders(struct staged_scene *staged, int number, bool all, uint64_t seed) {
  const struct check_order orders[MAX_ORDERS] = {{EMULATION_ASCENDING, EMULATION_ASCENDING, 0},
                                                 {EMULATION_DESCENDING, EMULATION_DESCENDING, 0},
                                                 {EMULATION_RANDOM, EMULATION_ASCENDING, seed}};
  staged->order_count = all ? MAX_ORDERS : 1;
  for (int i = 0; i < staged->order_count; i++) staged->orders[i] = orders[all ? i : number % MAX_ORDERS];
}

struct plan {
  const struct scenes_request *request;
  struct scenes *scenes;
};

static halotune_status add_scene(const struct plan *plan, const struct domain *domain, int domain_number, int launches,
                                 bool all_orders, const char *what) {
  const struct scenes_request *r = plan->request;
  const int number = plan->scenes->count, launch_steps = r->launch_steps > 1 ? r->launch_steps : 1;
  struct staged_scene *staged = &plan->scenes->list[number];
  struct scene_request request = {.stencil = r->stencil,
                                  .analysis = r->analysis,
                                  .dtype = r->dtype,
                                  .domain = *domain,
                                  .coefficients = plan->scenes->coefficients,
                                  .input = (enum input_kind)((number + 1) % INPUT_KIND_COUNT),
                                  .seed = r->seed + (uint64_t)number,
                                  .steps = launches * launch_steps,
                                  .launch_steps = launch_steps,
                                  .threads = r->threads,
                                  .ending = r->ending};
  halotune_status status = scene_make(&request, &staged->scene);
  if (status != HALOTUNE_OK) return status;
  staged->domain = domain_number;
  choose_orders(staged, number, all_orders, r->seed);
  name_scene(staged, r->stencil->dims, what);
  plan->scenes->count++;
  return HALOTUNE_OK;
}

/* Add a domain with one launch and, if the stencil can be iterated, with two launches. */
static halotune_status add_domain(const struct plan *plan, const struct domain *domain, const char *what) {
  int number = plan->scenes->domain_count++;
  halotune_status status = add_scene(plan, domain, number, 1, true, what);
  if (status != HALOTUNE_OK || !plan->request->analysis->can_iterate) return status;
  status = add_scene(plan, domain, number, 2, false, what);
  /* A nonlinear update may be defined for the inputs, but not for the values after one step. Values may overflow after
   * many steps. */
  const bool may_fail = !plan->request->analysis->is_linear || plan->request->launch_steps > 1;
  return status == HALOTUNE_ARGUMENT && may_fail ? HALOTUNE_OK : status;
}

static halotune_status add_defaults(const struct plan *plan) {
  const struct scenes_request *r = plan->request;
  int dims = r->stencil->dims;
  struct domain dense = domain_dense(r->stencil, r->analysis, &regular[dims - 1]);
  struct domain prime = domain_dense(r->stencil, r->analysis, &primes[dims - 1]);
  const struct grid least = with_images(r->stencil, &small[dims - 1]);
  struct domain tiny = domain_dense(r->stencil, r->analysis, &least);
  pad_rows(r->stencil, &prime);
  pad_rows(r->stencil, &tiny);
  struct domain boxed = prime;
  leave_ghosts(r->stencil, r->analysis, &boxed);
  halotune_status status = add_domain(plan, &dense, "");
  if (status == HALOTUNE_OK) status = add_domain(plan, &prime, " padded");
  if (status == HALOTUNE_OK) status = add_domain(plan, &tiny, " padded");
  if (status == HALOTUNE_OK) {
    status = add_scene(plan, &boxed, plan->scenes->domain_count++, 1, false, " padded, a box of it");
  }
  bool scan = r->stencil->kind == STENCIL_SCAN;
  struct grid length = long_lines(r->stencil, r->analysis);
  struct domain lines = domain_dense(r->stencil, r->analysis, &length);
  pad_rows(r->stencil, &lines);
  if (scan) leave_ghosts(r->stencil, r->analysis, &lines);
  if (status == HALOTUNE_OK) {
    status = add_scene(plan, &lines, plan->scenes->domain_count++, 1, scan, scan ? " padded, a box of it" : " padded");
  }
  if (status != HALOTUNE_OK || dims == 1) return status;
  const struct grid apart = with_images(r->stencil, &wide[dims - 1]);
  struct domain stretched = domain_dense(r->stencil, r->analysis, &apart);
  use_long_strides(r->stencil, &stretched);
  return add_scene(plan, &stretched, plan->scenes->domain_count++, 1, false, " with strides beyond 32 bits");
}

halotune_status scenes_make(const struct scenes_request *request, struct scenes *out) {
  const struct stencil *stencil = request->stencil;
  struct plan plan = {request, out};
  *out = (struct scenes){.count = 0};
  const struct grid *grid = request->grid ? request->grid : &regular[stencil->dims - 1];
  out->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *out->coefficients);
  halotune_status status = out->coefficients ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = scene_coefficients(stencil, grid, request->dtype, out->coefficients);
  if (status == HALOTUNE_OK && request->grid) {
    struct domain domain = domain_dense(stencil, request->analysis, request->grid);
    status = add_domain(&plan, &domain, "");
  } else if (status == HALOTUNE_OK) {
    status = add_defaults(&plan);
  }
  if (status != HALOTUNE_OK) scenes_free(out);
  return status;
}

void scenes_free(struct scenes *scenes) {
  for (int i = 0; i < scenes->count; i++) scene_free(&scenes->list[i].scene);
  free(scenes->coefficients);
  *scenes = (struct scenes){.count = 0};
}

halotune_status scene_sets_find(struct scene_sets *sets, int launch_steps, struct scene_set **out) {
  struct scenes_request request = sets->request;
  request.launch_steps = launch_steps;
  for (*out = sets->first; *out; *out = (*out)->next) {
    if ((*out)->launch_steps == launch_steps) return HALOTUNE_OK;
  }
  struct scene_set *set = calloc(1, sizeof *set);
  if (!set) return fail_memory();
  halotune_status status = scenes_make(&request, &set->scenes);
  if (status != HALOTUNE_OK) {
    free(set);
    return status;
  }
  set->launch_steps = launch_steps;
  set->next = sets->first;
  sets->first = *out = set;
  return HALOTUNE_OK;
}

void scene_sets_free(struct scene_sets *sets) {
  while (sets->first) {
    struct scene_set *next = sets->first->next;
    scenes_free(&sets->first->scenes);
    free(sets->first);
    sets->first = next;
  }
}
