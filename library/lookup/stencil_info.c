/* stencil_info.c: halotune_stencil_info and halotune_stencil_coefficients tell what a stencil's file says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library/lookup/find_stencil.h"
#include "library/lookup/forked.h"

/* Find a stencil by its name or hash, and parse it. */
static halotune_status find_stencil(struct halotune_ctx *ctx, const char *name, int *at,
                                    const struct parsed_stencil **out) {
  halotune_status status = context_require_stencil(ctx, name, at);
  return status == HALOTUNE_OK ? context_stencil(ctx, *at, out) : status;
}

halotune_status halotune_stencil_info(halotune_ctx *ctx, const char *stencil, halotune_stencil_facts *out) {
  const struct parsed_stencil *parsed = NULL;
  int at = -1;
  if (!ctx || !stencil || !out) return fail(HALOTUNE_ARGUMENT, "halotune_stencil_info: an argument is NULL");
  halotune_status status = forked_check(ctx->generation);
  ctx = context_newest(ctx);
  if (status == HALOTUNE_OK) status = find_stencil(ctx, stencil, &at, &parsed);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *file = parsed->stencil;
  const struct known_stencil *known = &ctx->catalog.stencils[at];
  *out = (halotune_stencil_facts){.name = known->name,
                                  .hash = known->hash,
                                  .text = known->text,
                                  .dims = file->dims,
                                  .input_count = file->input_count,
                                  .output_count = file->output_count,
                                  .coefficient_count = file->coefficient_count,
                                  .inputs = file->inputs,
                                  .outputs = file->outputs,
                                  .coefficients = parsed->coefficients};
  memcpy(out->reach_low, parsed->analysis->radius_low, sizeof out->reach_low);
  memcpy(out->reach_high, parsed->analysis->radius_high, sizeof out->reach_high);
  return HALOTUNE_OK;
}

static halotune_status check_given(const struct stencil *stencil, const double *given) {
  for (int i = 0; i < stencil->coefficient_count && given; i++) {
    if (isinf(given[i]))
      return fail(HALOTUNE_ARGUMENT, "coefficient %s is %g; it must be finite", stencil->coefficients[i].name,
                  given[i]);
  }
  return HALOTUNE_OK;
}

halotune_status halotune_stencil_coefficients(halotune_ctx *ctx, const char *stencil, const long long grid[3],
                                              const double *given, double *values) {
  const struct parsed_stencil *parsed = NULL;
  struct grid points;
  int at = -1;
  if (!ctx || !stencil || !grid || !values)
    return fail(HALOTUNE_ARGUMENT, "halotune_stencil_coefficients: an argument is NULL");
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (grid[axis] < 0 || grid[axis] > GRID_MOST_AXIS_POINTS)
      return fail(HALOTUNE_ARGUMENT,
                  "halotune_stencil_coefficients: the grid has %lld points in %c; it must have 1 to %ld", grid[axis],
                  axis_names[axis], GRID_MOST_AXIS_POINTS);
    points.n[axis] = grid[axis] ? (long)grid[axis] : 1;
  }
  halotune_status status = forked_check(ctx->generation);
  ctx = context_newest(ctx);
  if (status == HALOTUNE_OK) status = find_stencil(ctx, stencil, &at, &parsed);
  if (status == HALOTUNE_OK) status = check_given(parsed->stencil, given);
  if (status != HALOTUNE_OK) return status;
  const size_t bytes = (size_t)parsed->stencil->coefficient_count * sizeof *values;
  double *computed = malloc(bytes + 1);
  if (!computed) return fail_memory();
  status = stencil_coefficients_with(parsed->stencil, &points, given, computed);
  if (status == HALOTUNE_OK) memcpy(values, computed, bytes);
  free(computed);
  return status;
}
