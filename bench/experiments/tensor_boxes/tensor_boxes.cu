// tensor_boxes.cu: are the tensor cores faster than multiply-adds for box stencils in double precision? Checks and times the kernels
// of boxes.cuh.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -o tensor_boxes tensor_boxes.cu
//     ./tensor_boxes cpu     # without a GPU: the same functions on small grids, with a model of the matrix instructions; 3 s
//     ./tensor_boxes         # on a GPU with 7 GB of free memory: 10 s on an H200
//
// docs/kernels.md has the result ("Boxes in double precision on tensor cores").
#include "boxes.cuh"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static void check(cudaError_t error, int line) {
  if (error != cudaSuccess) printf("line %d: %s\n", line, cudaGetErrorString(error)), exit(1);
}
#define CHECK(call) check(call, __LINE__)

enum { ROUNDS = 11 };
constexpr double TENSOR_PEAK = 33.5e12, SINGLE_PEAK = 16.7e12; // multiply-adds a second of an H200, by its data sheet
enum way { FMA, TENSOR };

template <class B, way WAY>
__global__ void __launch_bounds__(B::threads(WAY == TENSOR), B::resident(WAY == TENSOR)) march(grid g, int steps) {
  extern __shared__ __align__(16) double ring[];
  double *padded = ring + B::PLANES * B::PLANE;
  const place begin = B::block_place(blockIdx.x, blockIdx.y, blockIdx.z * steps);
  if (WAY == TENSOR) spread_weights<B>(padded, threadIdx.x, blockDim.x);
  copy_planes<B>(g, begin, ring, 0, planes_needed<B>(0), threadIdx.x, blockDim.x);
  for (int step = 0; step < steps; step++) {
    const place at = B::advance(begin, step);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads(); // the planes of this step have come, and all warps have left the planes that are overwritten now
    if (step + 1 < steps) copy_planes<B>(g, begin, ring, planes_needed<B>(step), planes_needed<B>(step + 1), threadIdx.x, blockDim.x);
    if constexpr (WAY == TENSOR) tensor_step<B, 1>(g, at, ring, padded, step, threadIdx.x / 32, threadIdx.x % 32);
    else fma_step<B>(g, at, ring, step, threadIdx.x);
  }
}

// The same for one block on the CPU. Shared memory begins as NaN.
template <class B, way WAY> void march_on_cpu(grid g, place begin, int steps) {
  std::vector<double> ring(B::PLANES * B::PLANE + B::PADDED, NAN);
  double *padded = ring.data() + B::PLANES * B::PLANE;
  spread_weights<B>(padded, 0, 1);
  copy_planes<B>(g, begin, ring.data(), 0, planes_needed<B>(0), 0, 1);
  for (int step = 0; step < steps; step++) {
    const place at = B::advance(begin, step);
    if (step + 1 < steps) copy_planes<B>(g, begin, ring.data(), planes_needed<B>(step), planes_needed<B>(step + 1), 0, 1);
    for (int i = 0; i < (WAY == TENSOR ? B::threads(true) / 32 : B::threads(false)); i++)
      if (WAY == TENSOR) tensor_step<B, 32>(g, at, ring.data(), padded, step, i, 0);
      else fma_step<B>(g, at, ring.data(), step, i);
  }
}

// Launch a march on the GPU, or compute it on the CPU. SLICES: parts of the march that other blocks compute.
template <class B, way WAY, int SLICES> void run_march(grid g, bool on_cpu) {
  const int steps = (B::DIMS == 3 ? g.nz / B::STEP_Z : g.ny / B::TILE_Y) / SLICES, bytes = B::shared_bytes(WAY == TENSOR);
  const dim3 blocks(g.nx / B::TILE_X, B::DIMS == 3 ? g.ny / B::TILE_Y : 1, SLICES);
  if (on_cpu) {
    for (unsigned i = 0; i < blocks.x * blocks.y * blocks.z; i++)
      march_on_cpu<B, WAY>(g, B::block_place(i % blocks.x, i / blocks.x % blocks.y, i / (blocks.x * blocks.y) * steps), steps);
    return;
  }
  CHECK(cudaFuncSetAttribute(march<B, WAY>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaFuncSetAttribute(march<B, WAY>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  march<B, WAY><<<blocks, B::threads(WAY == TENSOR), bytes>>>(g, steps);
  CHECK(cudaGetLastError());
}

// One thread a point, inputs from the caches. On the CPU it is the reference.
template <int R, int RZ> BOTH void plain_point(grid g, int x, int y, int z) {
  if (x < R || x >= g.nx - R || y < R || y >= g.ny - R || z < RZ || z >= g.nz - RZ) return;
  double sum = 0;
  for (int dz = -RZ, tap = 0; dz <= RZ; dz++)
    for (int dy = -R; dy <= R; dy++)
      for (int dx = -R; dx <= R; dx++, tap++)
        sum += g.in[((size_t)(z + dz) * g.ny + y + dy) * g.nx + x + dx] * weight(tap);
  g.out[((size_t)z * g.ny + y) * g.nx + x] = sum;
}

template <int R, int RZ> __global__ void plain(grid g) {
  plain_point<R, RZ>(g, blockIdx.x * 32 + threadIdx.x, blockIdx.y * 8 + threadIdx.y, blockIdx.z);
}

template <int R, int RZ> void run_plain(grid g, bool on_cpu) {
  for (int i = 0; on_cpu && i < g.nx * g.ny * g.nz; i++) plain_point<R, RZ>(g, i % g.nx, i / g.nx % g.ny, i / (g.nx * g.ny));
  if (!on_cpu) plain<R, RZ><<<dim3(g.nx / 32, g.ny / 8, g.nz), dim3(32, 8)>>>(g);
}

static void run_copy(grid g, bool) {
  CHECK(cudaMemcpyAsync(g.out, g.in, (size_t)g.nx * g.ny * g.nz * 8, cudaMemcpyDeviceToDevice));
}

// Inputs and weights: numbers between -1 and 1 by a hash.
BOTH double random_at(size_t i) {
  unsigned long long h = (i + 1) * 0x9e3779b97f4a7c15ull;
  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ull;
  return (double)(h >> 11) / (1ull << 52) - 1;
}

__global__ void fill(double *in, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    in[i] = random_at(i);
}

// A result may differ by the rounding of another order of additions. A point that is not written keeps its poison, a NaN.
BOTH bool same(double got, double want) { return std::isnan(want) ? std::isnan(got) : fabs(got - want) <= 1e-14; }

__global__ void count_wrong(const double *got, const double *want, size_t count, unsigned long long *wrong) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    if (!same(got[i], want[i])) atomicAdd(wrong, 1ull);
}

struct version { // a kernel to check and to time
  std::string name;
  void (*run)(grid g, bool on_cpu);
  const void *kernel;
  double useful, peak; // share of the multiply-adds that are useful; multiply-adds a second of the pipe
  std::vector<float> ms;
};

struct stencil {
  const char *name;
  int r, rz, taps;
  std::vector<version> versions; // the first is the plain one
};

template <class B, way WAY, int SLICES> version march_version() {
  char name[80];
  snprintf(name, sizeof name, "%s, tile %dx%dx%d", WAY == FMA ? "multiply-adds" : "tensor cores", B::TILE_X, B::TILE_Y, B::STEP_Z);
  if (WAY == TENSOR) snprintf(name + strlen(name), sizeof name - strlen(name), ", %d rows of cells", B::CELLS);
  return {name, run_march<B, WAY, SLICES>, (const void *)march<B, WAY>, WAY == TENSOR ? (double)B::TAPS / B::INPUTS : 1,
          WAY == TENSOR ? TENSOR_PEAK : SINGLE_PEAK, {}};
}

template <int SLICES, class B, class... MORE> stencil make_stencil(const char *name) {
  constexpr int R = B::R, RZ = B::RZ;
  return {name, R, RZ, B::TAPS,
          {{"plain", run_plain<R, RZ>, (const void *)plain<R, RZ>, 1, SINGLE_PEAK, {}}, march_version<B, FMA, SLICES>(),
           march_version<B, TENSOR, SLICES>(), march_version<MORE, TENSOR, SLICES>()...}};
}

static float elapsed_ms(const version &v, grid g) {
  static cudaEvent_t begin, end;
  float ms;
  if (!begin) CHECK(cudaEventCreate(&begin)), CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  v.run(g, false);
  CHECK(cudaEventRecord(end)), CHECK(cudaEventSynchronize(end)), CHECK(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

// Compare all versions with the plain one, on a small grid whose march is longer than the ring.
static bool check_on_cpu(const stencil &s) {
  grid g = s.rz ? grid{64, 64, 48} : grid{256, 4096, 1};
  const size_t count = (size_t)g.nx * g.ny * g.nz;
  std::vector<double> in(count), want(count, NAN);
  for (size_t i = 0; i < count; i++) in[i] = random_at(i);
  g.in = in.data(), g.out = want.data();
  s.versions[0].run(g, true);
  bool all_right = true;
  for (const version &v : s.versions) {
    std::vector<double> out(count, NAN);
    size_t wrong = 0;
    g.out = out.data();
    v.run(g, true);
    for (size_t i = 0; i < count; i++) wrong += !same(out[i], want[i]);
    printf("%s, %s: %zu of %zu points wrong\n", s.name, v.name.c_str(), wrong, count);
    all_right = all_right && !wrong;
  }
  return all_right;
}

// Check all versions on the whole grid, then time those that are right in turn.
static bool measure(const stencil &s) {
  grid g = s.rz ? grid{512, 512, 512} : grid{16384, 16384, 1};
  const size_t count = (size_t)g.nx * g.ny * g.nz;
  const double points = (double)(g.nx - 2 * s.r) * (g.ny - 2 * s.r) * (g.nz - 2 * s.rz);
  double *in, *out, *want;
  unsigned long long *wrong, wrong_points;
  CHECK(cudaMalloc(&in, count * 8)), CHECK(cudaMalloc(&out, count * 8)), CHECK(cudaMalloc(&want, count * 8));
  CHECK(cudaMalloc(&wrong, 8));
  CHECK(cudaMemcpyToSymbol(device_weights, host_weights, sizeof host_weights));
  fill<<<1024, 256>>>(in, count);
  g.in = in, g.out = want;
  CHECK(cudaMemset(want, 0xff, count * 8));
  s.versions[0].run(g, false);
  g.out = out;
  std::vector<version> right;
  for (const version &v : s.versions) {
    CHECK(cudaMemset(out, 0xff, count * 8)), CHECK(cudaMemset(wrong, 0, 8));
    v.run(g, false);
    count_wrong<<<1024, 256>>>(out, want, count, wrong);
    CHECK(cudaMemcpy(&wrong_points, wrong, 8, cudaMemcpyDeviceToHost));
    if (wrong_points) printf("WRONG: %s, %s: %llu of %zu points\n", s.name, v.name.c_str(), wrong_points, count);
    else right.push_back(v);
  }
  const bool all_right = right.size() == s.versions.size();
  right.push_back({"copy of the field", run_copy, (const void *)fill, 1, INFINITY, {}});
  for (int round = 0; round < ROUNDS; round++)
    for (version &v : right) v.ms.push_back(elapsed_ms(v, g));
  printf("\n%s, %dx%dx%d, %d taps\n", s.name, g.nx, g.ny, g.nz, s.taps);
  printf("| version | ms, median | min to max | GStencil/s | useful | of the peak | registers | spilled bytes |\n");
  printf("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (version &v : right) {
    std::sort(v.ms.begin(), v.ms.end());
    const double rate = points / (v.ms[ROUNDS / 2] * 1e-3);
    cudaFuncAttributes facts;
    CHECK(cudaFuncGetAttributes(&facts, v.kernel));
    printf("| %s | %.3f | %.3f to %.3f | %.1f | %.3f | %.2f | %d | %zu |\n", v.name.c_str(), v.ms[ROUNDS / 2], v.ms[0],
           v.ms[ROUNDS - 1], rate * 1e-9, v.useful, rate * s.taps / v.useful / v.peak, facts.numRegs, facts.localSizeBytes);
  }
  for (double *field : {in, out, want}) CHECK(cudaFree(field));
  CHECK(cudaFree(wrong));
  return all_right;
}

int main(int argc, char **argv) {
  const bool on_cpu = argc > 1 && !strcmp(argv[1], "cpu");
  const stencil all[] = {
      make_stencil<16, box<2, 3, 64, 32, 1, 2, 4, 4>, box<2, 3, 64, 64, 1, 2, 4, 4>>("box2d_r3"),
      make_stencil<16, box<2, 4, 64, 32, 1, 4, 2, 4>, box<2, 4, 64, 64, 1, 4, 2, 4>>("box2d_r4"),
      make_stencil<1, box<3, 2, 32, 32, 2, 2, 2, 4>, box<3, 2, 32, 64, 2, 2, 2, 4>>("box3d_r2"),
      make_stencil<1, box<3, 3, 32, 32, 4, 2, 2, 4>, box<3, 3, 32, 64, 2, 2, 2, 4>>("box3d_r3"),
      make_stencil<1, box<3, 4, 32, 32, 4, 2, 2, 4>, box<3, 4, 32, 32, 4, 2, 2, 8>>("box3d_r4"),
  };
  bool all_right = true;
  for (const stencil &s : all) {
    for (int i = 0; i < s.taps; i++) host_weights[i] = (1 + random_at(i + 7777777) / 2) / s.taps; // all different
    all_right = (on_cpu ? check_on_cpu(s) : measure(s)) && all_right;
  }
  printf(all_right ? "all results are right\n" : "WRONG results\n");
  return !all_right;
}
