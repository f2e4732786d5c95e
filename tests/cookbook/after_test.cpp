// after_test.cpp: the solver of docs/cookbook.md with its new kernel, five steps, against the CPU.
#include "tests/cookbook/field.h"

void advance(float *&u, float *&v, int n, float k, int steps, CUstream stream);

int main() {
  const long long grid[3] = {16, 16, 16};
  const size_t count = 16 * 16 * 16;
  static float state[count], next[count];
  make_context_current();
  fill(state, count);
  CUdeviceptr pointers[2] = {upload(state, count), upload(state, count)};
  float *u = reinterpret_cast<float *>(pointers[0]), *v = reinterpret_cast<float *>(pointers[1]);
  advance(u, v, 16, 0.1F, 5, nullptr);
  for (int step = 0; step < 5; step++) {
    star7(state, next, grid);
    memcpy(state, next, sizeof state);
  }
  return compare_field(reinterpret_cast<CUdeviceptr>(u), state, count);
}
