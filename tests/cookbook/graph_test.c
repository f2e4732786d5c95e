/* graph_test.c: the graph of docs/cookbook.md: two launches before the capture, then a graph of four, twice. */
#include "tests/cookbook/field.h"

halotune_status make_graph(halotune_kernel *kernel, CUstream stream, void *u, void *v, int pairs, CUgraphExec *out);

int main(void) {
  enum { COUNT = 16 * 16 * 16 };
  static const long long grid[3] = {16, 16, 16};
  static float state[COUNT], next[COUNT];
  halotune_ctx *ctx;
  halotune_kernel *kernel;
  CUstream stream;
  CUgraphExec graph;
  make_context_current();
  fill(state, COUNT);
  const CUdeviceptr u = upload(state, COUNT), v = upload(state, COUNT);
  cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  halotune(halotune_open(NULL, 0, &ctx));
  const halotune_config config = look_up(ctx, grid);
  halotune(halotune_kernel_create(ctx, &config, weights, NULL, &kernel));
  halotune(make_graph(kernel, stream, (void *)u, (void *)v, 2, &graph));
  for (int i = 0; i < 2; i++) cuda(cuGraphLaunch(graph, stream));
  cuda(cuStreamSynchronize(stream));
  for (int step = 0; step < 2 + 2 * 4; step++) {
    star7(state, next, grid);
    memcpy(state, next, sizeof state);
  }
  return compare_field(u, state, COUNT);
}
