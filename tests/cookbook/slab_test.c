/* slab_test.c: the slab of docs/cookbook.md on one rank that is its own neighbour, so that the grid is periodic in z;
 * three steps, against the CPU. */
#include "slab.c"

#include "tests/cookbook/field.h"

int main(void) {
  enum { NX = 24, NY = 12, NZ = 10, PLANE = NX * NY, COUNT = PLANE * NZ };
  static const long long grid[3] = {NX, NY, NZ};
  static float state[COUNT], next[COUNT];
  struct slab slab = {.below = 0, .above = 0};
  halotune_ctx *ctx;
  make_context_current();
  fill(state, COUNT);
  memcpy(state, state + (NZ - 2) * PLANE, PLANE * sizeof *state);
  memcpy(state + (NZ - 1) * PLANE, state + PLANE, PLANE * sizeof *state);
  CUdeviceptr u = upload(state, COUNT), v = upload(state, COUNT);
  halotune(halotune_open(NULL, 0, &ctx));
  const halotune_config config = look_up(ctx, grid);
  halotune(slab_open(&slab, ctx, &config, weights));
  for (int step = 0; step < 3; step++) {
    halotune(slab_step(&slab, u, v, MPI_COMM_WORLD));
    const CUdeviceptr old = u;
    u = v, v = old;
    star7(state, next, grid);
    memcpy(next, next + (NZ - 2) * PLANE, PLANE * sizeof *next);
    memcpy(next + (NZ - 1) * PLANE, next + PLANE, PLANE * sizeof *next);
    memcpy(state, next, sizeof state);
  }
  return compare_field(u, state, COUNT);
}
