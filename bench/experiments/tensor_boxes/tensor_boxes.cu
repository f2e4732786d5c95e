// tensor_boxes.cu: are the tensor cores faster than multiply-adds for box stencils in double precision? Checks and times the kernels
// of boxes.cuh.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -o tensor_boxes tensor_boxes.cu
//     ./tensor_boxes cpu     # without a GPU: the same functions on small grids, with a model of the matrix instructions
//     ./tensor_boxes         # on a GPU with 10 GB of memory: 40 s on an H200
//
// docs/kernels.md has the result ("Boxes in double precision on tensor cores").
#include "boxes.cuh"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void check(cudaError_t error, int line) {
  if (error != cudaSuccess) printf("line %d: %s\n", line, cudaGetErrorString(error)), exit(1);
}
#define CHECK(call) check(call, __LINE__)

enum { ROUNDS = 11, SAMPLES = 2000 };
enum way { FMA, TENSOR };

template <class B, way WAY>
__global__ void __launch_bounds__(WAY == TENSOR ? B::TENSOR_THREADS : B::FMA_THREADS, B::resident(WAY == TENSOR))
    march(grid g, int steps) {
  extern __shared__ __align__(16) double ring[];
  double *padded = ring + B::PLANES * B::PLANE;
  const place at = B::block_place(blockIdx.x, blockIdx.y, blockIdx.z, steps);
  if (WAY == TENSOR) spread_weights<B>(padded, threadIdx.x, blockDim.x);
  copy_planes<B>(g, at, ring, 0, planes_needed<B>(0), threadIdx.x, blockDim.x);
  for (int step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads(); // the planes of this step have come, and all warps have left the planes that are overwritten now
    if (step + 1 < steps)
      copy_planes<B>(g, at, ring, planes_needed<B>(step), planes_needed<B>(step + 1), threadIdx.x, blockDim.x);
    if constexpr (WAY == TENSOR)
      tensor_step<B, 1>(g, at, ring, padded, step, threadIdx.x / 32, threadIdx.x % 32);
    else
      fma_step<B>(g, at, ring, step, threadIdx.x);
  }
}

// The same on the CPU, block by block. Shared memory begins as NaN.
template <class B, way WAY> void march_on_cpu(grid g, int bx, int by, int slice, int steps) {
  std::vector<double> ring(B::PLANES * B::PLANE + B::PADDED, NAN);
  double *padded = ring.data() + B::PLANES * B::PLANE;
  const place at = B::block_place(bx, by, slice, steps);
  spread_weights<B>(padded, 0, 1);
  copy_planes<B>(g, at, ring.data(), 0, planes_needed<B>(0), 0, 1);
  for (int step = 0; step < steps; step++) {
    if (step + 1 < steps) copy_planes<B>(g, at, ring.data(), planes_needed<B>(step), planes_needed<B>(step + 1), 0, 1);
    if (WAY == TENSOR)
      for (int w = 0; w < B::TENSOR_THREADS / 32; w++) tensor_step<B, 32>(g, at, ring.data(), padded, step, w, 0);
    else
      for (int t = 0; t < B::FMA_THREADS; t++) fma_step<B>(g, at, ring.data(), step, t);
  }
}

// One thread a point, inputs from the caches. Also the reference.
template <int R, int RZ> BOTH double plain_point(grid g, int x, int y, int z) {
  double sum = 0;
  int tap = 0;
  for (int dz = -RZ; dz <= RZ; dz++)
    for (int dy = -R; dy <= R; dy++)
      for (int dx = -R; dx <= R; dx++)
        sum += g.in[((size_t)(z + dz) * g.ny + y + dy) * g.nx + x + dx] * weight(tap++);
  return sum;
}

template <int R, int RZ> __global__ void plain(grid g) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (x < R || x >= g.nx - R || y < R || y >= g.ny - R || z < RZ || z >= g.nz - RZ) return;
  g.out[((size_t)z * g.ny + y) * g.nx + x] = plain_point<R, RZ>(g, x, y, z);
}

// Inputs between -1 and 1 by a hash of their place. Weights are all different, between 0.5 and 1.5 over the number of taps.
BOTH double random_at(size_t i) {
  unsigned long long h = (i + 1) * 0x9e3779b97f4a7c15ull;
  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9ull;
  return (double)(h >> 11) / (1ull << 52) - 1;
}

__global__ void fill(double *in, size_t count) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    in[i] = random_at(i);
}

// A result may differ from the reference by the rounding of another order. A point that is not written keeps its poison.
BOTH bool same(double got, double want) { return std::isnan(want) ? std::isnan(got) : fabs(got - want) <= 1e-14; }

__global__ void count_wrong(const double *got, const double *want, size_t count, unsigned long long *wrong) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
    if (!same(got[i], want[i])) atomicAdd(wrong, 1ull);
}

// Multiply-adds from registers: each matrix instruction, then single numbers, then two of a matrix for each single one.
enum { SINGLE = 3, MIXED = 4, PEAKS = 5 };
constexpr double peak_turn(int mode) { return mode == MIXED ? 12288 : 8192; } // multiply-adds of a warp

template <int MODE> __global__ void peak(double *out, int turns) {
  double d[8][1][4] = {}, single[8] = {}, a[1][4], b[1][2];
  for (int i = 0; i < 4; i++) a[0][i] = 1e-3 * (threadIdx.x + i), b[0][i / 2] = 1e-3 * threadIdx.x;
  for (int turn = 0; turn < turns; turn++)
#pragma unroll
    for (int s = 0; s < 8; s++) {
      if constexpr (MODE < SINGLE) multiply<(shape)MODE>(d[s], a, b);
      if constexpr (MODE == MIXED) multiply<M16N8K8>(d[s], a, b);
      for (int i = 0; MODE >= SINGLE && i < (MODE == MIXED ? 16 : 32); i++) single[i % 8] += a[0][i % 4] * b[0][i / 4 % 2];
    }
  double sum = 0;
  for (int s = 0; s < 8; s++)
    for (int i = 0; i < 4; i++) sum += d[s][0][i] + single[s];
  if (sum == 12345) out[0] = sum;
}

struct version { // a kernel to check and to time
  char name[64];
  void (*launch)(grid g, int slices);
  void (*on_cpu)(grid g, int slices);
  const void *kernel;
  int slices;     // parts of the march that other blocks compute
  bool on_tensor; // which peak counts
  double useful;  // share of useful multiply-adds
  std::vector<float> ms;
};

template <class B> int march_length(grid g) { return B::DIMS == 3 ? g.nz / B::STEP_Z : g.ny / B::TILE_Y; }
template <class B> dim3 march_blocks(grid g, int slices) {
  return dim3(g.nx / B::TILE_X, B::DIMS == 3 ? g.ny / B::TILE_Y : 1, slices);
}

template <class B, way WAY> void launch_march(grid g, int slices) {
  const int bytes = B::shared_bytes(WAY == TENSOR), threads = WAY == TENSOR ? B::TENSOR_THREADS : B::FMA_THREADS;
  CHECK(cudaFuncSetAttribute(march<B, WAY>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaFuncSetAttribute(march<B, WAY>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  march<B, WAY><<<march_blocks<B>(g, slices), threads, bytes>>>(g, march_length<B>(g) / slices);
}

template <class B, way WAY> void all_on_cpu(grid g, int slices) {
  const dim3 blocks = march_blocks<B>(g, slices);
  for (unsigned z = 0; z < blocks.z; z++)
    for (unsigned y = 0; y < blocks.y; y++)
      for (unsigned x = 0; x < blocks.x; x++) march_on_cpu<B, WAY>(g, x, y, z, march_length<B>(g) / slices);
}

template <int R, int RZ> void launch_plain(grid g, int) {
  plain<R, RZ><<<dim3((g.nx + 31) / 32, (g.ny + 7) / 8, g.nz), dim3(32, 8)>>>(g);
}

template <class B, way WAY> version march_version(int slices) {
  static const char *const shapes[] = {"m8n8k4", "m16n8k4", "m16n8k8"};
  version v = {"", launch_march<B, WAY>, all_on_cpu<B, WAY>, (const void *)march<B, WAY>, slices, WAY == TENSOR, 1, {}};
  if (WAY == TENSOR) v.useful = (double)B::TAPS / B::INPUTS;
  int length = snprintf(v.name, sizeof v.name, "%s %dx%dx%d", WAY == TENSOR ? "tensor" : "multiply-adds", B::TILE_X,
                        B::TILE_Y, B::STEP_Z);
  if (WAY == TENSOR) snprintf(v.name + length, sizeof v.name - length, " %s %d cells", shapes[B::SHAPE], B::CELLS);
  return v;
}

struct stencil {
  const char *name;
  int r, rz, taps;
  double (*reference)(grid g, int x, int y, int z);
  std::vector<version> versions;
};

template <int DIMS, int R> stencil make_stencil(const char *name) {
  constexpr int RZ = DIMS == 3 ? R : 0, W = 2 * R + 1;
  const version plain_version = {"plain", launch_plain<R, RZ>, nullptr, (const void *)plain<R, RZ>, 1, false, 1, {}};
  return {name, R, RZ, W * W * (2 * RZ + 1), plain_point<R, RZ>, {plain_version}};
}

static std::vector<stencil> all_stencils() {
  std::vector<stencil> all;
  {
    stencil s = make_stencil<2, 3>("box2d_r3");
    s.versions.push_back(march_version<box<2, 3, 128, 32, 1, 2, 4, 4, M16N8K8>, FMA>(16));
    s.versions.push_back(march_version<box<2, 3, 64, 64, 1, 2, 4, 4, M16N8K8>, FMA>(16));
    s.versions.push_back(march_version<box<2, 3, 128, 32, 1, 2, 4, 4, M16N8K8>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 3, 128, 32, 1, 2, 4, 4, M16N8K4>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 3, 64, 64, 1, 2, 4, 4, M16N8K8>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 3, 64, 64, 1, 2, 4, 8, M16N8K8>, TENSOR>(16));
    all.push_back(s);
  }
  {
    stencil s = make_stencil<2, 4>("box2d_r4");
    s.versions.push_back(march_version<box<2, 4, 128, 32, 1, 4, 2, 4, M16N8K8>, FMA>(16));
    s.versions.push_back(march_version<box<2, 4, 64, 64, 1, 4, 2, 4, M16N8K8>, FMA>(16));
    s.versions.push_back(march_version<box<2, 4, 128, 32, 1, 4, 2, 4, M16N8K8>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 4, 128, 32, 1, 4, 2, 4, M16N8K4>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 4, 128, 32, 1, 4, 2, 4, M8N8K4>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 4, 64, 64, 1, 4, 2, 4, M16N8K8>, TENSOR>(16));
    s.versions.push_back(march_version<box<2, 4, 64, 64, 1, 4, 2, 8, M16N8K8>, TENSOR>(16));
    all.push_back(s);
  }
  {
    stencil s = make_stencil<3, 2>("box3d_r2");
    s.versions.push_back(march_version<box<3, 2, 32, 32, 4, 2, 2, 4, M16N8K8>, FMA>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 32, 2, 2, 2, 4, M16N8K8>, FMA>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 32, 4, 2, 2, 4, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 32, 4, 2, 2, 8, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 32, 2, 2, 2, 4, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 32, 2, 2, 2, 4, M16N8K4>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 64, 2, 2, 2, 4, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 2, 32, 64, 2, 2, 2, 8, M16N8K8>, TENSOR>(2));
    all.push_back(s);
  }
  {
    stencil s = make_stencil<3, 3>("box3d_r3");
    s.versions.push_back(march_version<box<3, 3, 32, 32, 4, 2, 2, 4, M16N8K8>, FMA>(1));
    s.versions.push_back(march_version<box<3, 3, 32, 32, 4, 2, 2, 4, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 3, 32, 32, 4, 2, 2, 8, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 3, 32, 32, 4, 2, 2, 4, M16N8K4>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 3, 32, 64, 2, 2, 2, 4, M16N8K8>, TENSOR>(2));
    s.versions.push_back(march_version<box<3, 3, 32, 64, 2, 2, 2, 8, M16N8K8>, TENSOR>(2));
    all.push_back(s);
  }
  {
    stencil s = make_stencil<3, 4>("box3d_r4");
    s.versions.push_back(march_version<box<3, 4, 32, 32, 4, 2, 2, 4, M16N8K8>, FMA>(1));
    s.versions.push_back(march_version<box<3, 4, 32, 32, 4, 2, 2, 4, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 4, 32, 32, 4, 2, 2, 8, M16N8K8>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 4, 32, 32, 4, 2, 2, 4, M16N8K4>, TENSOR>(1));
    s.versions.push_back(march_version<box<3, 4, 32, 32, 4, 2, 2, 4, M8N8K4>, TENSOR>(1));
    all.push_back(s);
  }
  return all;
}

// Compare all versions but the plain one with the reference, on a small grid whose march is longer than the ring.
static bool check_on_cpu(stencil s) {
  const grid shape = s.rz ? grid{64, 64, 48, nullptr, nullptr} : grid{256, 512, 1, nullptr, nullptr};
  const size_t count = (size_t)shape.nx * shape.ny * shape.nz;
  std::vector<double> in(count), want(count, NAN), out(count);
  for (size_t i = 0; i < count; i++) in[i] = random_at(i);
  grid g = {shape.nx, shape.ny, shape.nz, in.data(), out.data()};
  for (int z = s.rz; z < g.nz - s.rz; z++)
    for (int y = s.r; y < g.ny - s.r; y++)
      for (int x = s.r; x < g.nx - s.r; x++) want[((size_t)z * g.ny + y) * g.nx + x] = s.reference(g, x, y, z);
  bool all_right = true;
  for (version &v : s.versions) {
    if (!v.on_cpu) continue;
    std::fill(out.begin(), out.end(), NAN);
    v.on_cpu(g, 2);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) wrong += !same(out[i], want[i]);
    printf("%-9s %-40s %zu of %zu points wrong\n", s.name, v.name, wrong, count);
    fflush(stdout);
    all_right = all_right && !wrong;
  }
  return all_right;
}

template <int MODE> double measure_peak(double *scratch) { // multiply-adds a second
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin)), CHECK(cudaEventCreate(&end));
  const int blocks = 132 * 4, threads = 128, turns = 20000;
  float best = INFINITY;
  for (int round = 0; round < 3; round++) {
    float ms;
    CHECK(cudaEventRecord(begin));
    peak<MODE><<<blocks, threads>>>(scratch, turns);
    CHECK(cudaEventRecord(end)), CHECK(cudaEventSynchronize(end)), CHECK(cudaEventElapsedTime(&ms, begin, end));
    best = std::min(best, ms);
  }
  return peak_turn(MODE) * turns * blocks * (threads / 32) / (best * 1e-3);
}

static float launch_ms(const version &v, grid g) {
  cudaEvent_t begin, end;
  float ms;
  CHECK(cudaEventCreate(&begin)), CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  v.launch(g, v.slices);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end)), CHECK(cudaEventSynchronize(end)), CHECK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(cudaEventDestroy(begin)), CHECK(cudaEventDestroy(end));
  return ms;
}

// The plain kernel's result, compared with the CPU's at random points.
static void check_reference(const stencil &s, grid g, const double *want) {
  const size_t count = (size_t)g.nx * g.ny * g.nz;
  std::vector<double> in(count);
  CHECK(cudaMemcpy(in.data(), g.in, count * 8, cudaMemcpyDeviceToHost));
  grid host = {g.nx, g.ny, g.nz, in.data(), nullptr};
  for (int i = 0; i < SAMPLES; i++) {
    const int x = s.r + rand() % (g.nx - 2 * s.r), y = s.r + rand() % (g.ny - 2 * s.r), z = s.rz + rand() % (g.nz - 2 * s.rz);
    double got;
    CHECK(cudaMemcpy(&got, want + ((size_t)z * g.ny + y) * g.nx + x, 8, cudaMemcpyDeviceToHost));
    if (!same(got, s.reference(host, x, y, z))) printf("the plain kernel is wrong at %d,%d,%d\n", x, y, z), exit(1);
  }
}

static bool measure(stencil s, double tensor_peak, double fma_peak) {
  grid g = s.rz ? grid{512, 512, 512, nullptr, nullptr} : grid{16384, 16384, 1, nullptr, nullptr};
  const size_t count = (size_t)g.nx * g.ny * g.nz;
  const double points = (double)(g.nx - 2 * s.r) * (g.ny - 2 * s.r) * (g.nz - 2 * s.rz);
  double *in, *out, *want;
  unsigned long long *wrong, wrong_points;
  bool all_right = true;
  CHECK(cudaMalloc(&in, count * 8)), CHECK(cudaMalloc(&out, count * 8)), CHECK(cudaMalloc(&want, count * 8));
  CHECK(cudaMalloc(&wrong, 8));
  CHECK(cudaMemcpyToSymbol(device_weights, host_weights, sizeof host_weights));
  fill<<<1024, 256>>>(in, count);
  g.in = in;
  CHECK(cudaMemset(want, 0xff, count * 8));
  g.out = want;
  s.versions[0].launch(g, 1);
  check_reference(s, g, want);
  g.out = out;
  std::vector<version> right;
  for (version &v : s.versions) {
    CHECK(cudaMemset(out, 0xff, count * 8)), CHECK(cudaMemset(wrong, 0, 8));
    launch_ms(v, g);
    count_wrong<<<1024, 256>>>(out, want, count, wrong);
    CHECK(cudaMemcpy(&wrong_points, wrong, 8, cudaMemcpyDeviceToHost));
    if (wrong_points) printf("%s %s: %llu of %zu points wrong\n", s.name, v.name, wrong_points, count), all_right = false;
    else right.push_back(v);
  }
  std::vector<float> copy_ms;
  for (int round = 0; round < ROUNDS; round++) {
    for (version &v : right) v.ms.push_back(launch_ms(v, g));
    const version copy = {"", [](grid c, int) { CHECK(cudaMemcpyAsync(c.out, c.in, (size_t)c.nx * c.ny * c.nz * 8, cudaMemcpyDeviceToDevice)); }, nullptr, nullptr, 1, false, 1, {}};
    copy_ms.push_back(launch_ms(copy, g));
  }
  std::sort(copy_ms.begin(), copy_ms.end());
  printf("\n%s, %dx%dx%d, %d taps; a copy of the field takes %.3f ms\n", s.name, g.nx, g.ny, g.nz, s.taps, copy_ms[ROUNDS / 2]);
  printf("| version | ms, median | min to max | GStencil/s | useful | of the pipe's peak | registers | spilled bytes |\n");
  printf("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (version &v : right) {
    std::sort(v.ms.begin(), v.ms.end());
    const double rate = points / (v.ms[ROUNDS / 2] * 1e-3);
    cudaFuncAttributes facts;
    CHECK(cudaFuncGetAttributes(&facts, v.kernel));
    printf("| %s | %.3f | %.3f to %.3f | %.1f | %.2f | %.2f | %d | %zu |\n", v.name, v.ms[ROUNDS / 2], v.ms[0],
           v.ms[ROUNDS - 1], rate * 1e-9, v.useful, rate * s.taps / v.useful / (v.on_tensor ? tensor_peak : fma_peak),
           facts.numRegs, facts.localSizeBytes);
  }
  fflush(stdout);
  for (double *field : {in, out, want}) CHECK(cudaFree(field));
  CHECK(cudaFree(wrong));
  return all_right;
}

int main(int argc, char **argv) {
  const bool on_cpu = argc > 1 && !strcmp(argv[1], "cpu");
  bool all_right = true;
  double rates[PEAKS] = {};
  if (!on_cpu) {
    cudaDeviceProp device;
    double *scratch;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaMalloc(&scratch, 8));
    const double measured[] = {measure_peak<M8N8K4>(scratch), measure_peak<M16N8K4>(scratch),
                               measure_peak<M16N8K8>(scratch), measure_peak<SINGLE>(scratch),
                               measure_peak<MIXED>(scratch)};
    memcpy(rates, measured, sizeof rates);
    printf("%s. T multiply-adds a second from registers:", device.name);
    const char *const names[] = {"m8n8k4", "m16n8k4", "m16n8k8", "single numbers", "both at once, sum"};
    for (int i = 0; i < PEAKS; i++) printf(" %s %.1f%s", names[i], rates[i] * 1e-12, i + 1 < PEAKS ? "," : "\n");
    CHECK(cudaFree(scratch));
  }
  for (const stencil &s : all_stencils()) {
    if (argc > 2 && strcmp(s.name, argv[2])) continue;
    for (int i = 0; i < s.taps; i++) host_weights[i] = (1 + random_at(i + 7777777) / 2) / s.taps;
    all_right = (on_cpu ? check_on_cpu(s) : measure(s, rates[M16N8K8], rates[SINGLE])) && all_right;
  }
  printf(all_right ? "all results are right\n" : "WRONG results\n");
  return !all_right;
}
